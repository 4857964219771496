"""Run and watch AI agents from Python. `watchbill.acp` scripts agents of the Agent Client Protocol, `watchbill.history`
keeps conversations."""

__version__ = "0.1.0"
