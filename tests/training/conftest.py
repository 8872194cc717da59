"""The fixtures that tests of training and adaptation share."""

from training.fixtures import base, stopped, tiny

__all__ = ["base", "stopped", "tiny"]
