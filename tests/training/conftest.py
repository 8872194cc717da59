"""The fixtures that tests of training and adaptation share."""

from training.fixtures import base, domain, stopped, tiny

__all__ = ["base", "domain", "stopped", "tiny"]
