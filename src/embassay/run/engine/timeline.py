"""Where the time of a run goes: at each moment exactly one part is running."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, get_args

Part = Literal["loading", "encoding", "scoring and statistics", "report"]
"""``loading``: reading the inputs, importing libraries and loading models. ``encoding``: all that encoders do with
texts. ``report``: writing the results and drawing the page."""


class TimeLine:
    """The seconds of each part of a run. It starts with loading.

    A part can interrupt another one: while a model is loaded for the first texts, no time of encoding passes. So the
    seconds of the parts add up to the time since the start: ``started`` by ``time.perf_counter``, or now.
    """

    def __init__(self, started: float | None = None) -> None:
        self._seconds: dict[Part, float] = dict.fromkeys(get_args(Part), 0.0)
        self._part: Part = "loading"
        self._since = time.perf_counter() if started is None else started

    @contextmanager
    def during(self, part: Part) -> Iterator[None]:
        """Count the time of a block to a part; after the block, the part before goes on."""
        before = self._part
        self._begin(part)
        try:
            yield
        finally:
            self._begin(before)

    def seconds(self) -> dict[Part, float]:
        """Return the seconds of each part up to now."""
        self._begin(self._part)
        return dict(self._seconds)

    def _begin(self, part: Part) -> None:
        now = time.perf_counter()
        self._seconds[self._part] += now - self._since
        self._part = part
        self._since = now
