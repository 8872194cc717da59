"""What a loader says of a source that it cannot read."""

from functools import partial

import pytest

from embassay.core.errors import SourceError


def failing(load):
    """Return a function that reads a source, which must fail, and returns the message without the source before it."""
    return partial(message_of, load)


def message_of(load, source, error=SourceError, **options):
    with pytest.raises(error) as found:
        load(str(source), "mine", **options)
    message = str(found.value)
    assert "\n" not in message
    return message.removeprefix(str(source))
