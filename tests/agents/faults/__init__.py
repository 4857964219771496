"""What agents do wrong, one function a fault; the first line of each says what is wrong."""
from . import endings, framing, order, sizes, values  # noqa: F401  (each fills the table)
from .agent import main

__all__ = ["main"]
