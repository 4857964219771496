"""Run and watch AI agents from Python. `watchbill.acp` scripts agents of the Agent Client Protocol."""

__version__ = "0.1.0"
