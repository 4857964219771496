"""What watchbill.acp raises."""

from __future__ import annotations


class AgentError(Exception):
    """What went wrong with an agent; the message says what was run, where it was looked for, in which folder, how it
    ended, and what it last wrote to its standard error."""


class AgentNotFound(AgentError):
    """The program is not there, or cannot be run."""


class HandshakeFailed(AgentError):
    """It runs, and is no agent that can be talked to. `reason`: "version", "refused", "timeout" or "not_acp"."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class AgentEnded(AgentError):
    """It has ended, or was ended. `returncode` is as in subprocess, None where that is not known."""

    def __init__(self, message: str, returncode: int | None) -> None:
        super().__init__(message)
        self.returncode = returncode


class SessionFailed(AgentError):
    """It did not open a session. `code` is that of its error, 0 where it did not answer in time."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class PromptFailed(AgentError):
    """It answered a prompt with an error."""


class PromptRefused(AgentError):
    """`ask` alone: the agent refused to go on. Nothing of that prompt will be in the session's next one."""


class Busy(AgentError, RuntimeError):
    """The session has a prompt that is not ended: one at a time."""
