"""The messages of the libraries that load models: hidden, and shortened where they become part of ours."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from embassay.core.errors import first_line_of


@contextmanager
def quiet(*loggers: str) -> Iterator[None]:
    """Hide the progress bars of transformers, and the messages of these loggers; errors are still raised."""
    from transformers.utils import logging as transformers_logging

    bar = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    try:
        with quiet_loggers(*loggers):
            yield
    finally:
        if bar:
            transformers_logging.enable_progress_bar()


@contextmanager
def quiet_loggers(*names: str) -> Iterator[None]:
    """Hide the messages that libraries log under these names."""
    levels = {logging.getLogger(name): logging.getLogger(name).level for name in names}
    for logger in levels:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def reason(error: Exception) -> str:
    """Return the first line of a library's error, or advice if the error is that the model needs its own code."""
    if "trust_remote_code" in str(error):
        return "the model brings its own code; if you trust it, add --trust-remote-code LABEL"
    return first_line_of(error)
