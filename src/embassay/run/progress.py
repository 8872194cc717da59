"""How far a long step is, on standard error: a bar on a terminal; elsewhere a line now and then, as a log needs it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from embassay.core.errors import say
from embassay.core.formatting import duration

INTERVAL = 60.0
"""Seconds between two lines where there is no terminal; shorter steps print nothing."""


class Progress:
    """Shows nothing."""

    @contextmanager
    def encoding(self, label: str, texts: int) -> Iterator[Callable[[int], None]]:
        """Show how many of this many texts an encoder has encoded; the callable adds to them."""
        yield lambda done: None

    @contextmanager
    def working(self, label: str) -> Iterator[None]:
        """Show that work goes on whose amount is not known."""
        yield


class Bar(Progress):
    """Shows a label, what is done of what, and the time left."""

    @contextmanager
    def encoding(self, label: str, texts: int) -> Iterator[Callable[[int], None]]:
        """Show how many of this many texts, or of other things, are done; the callable adds to them."""
        done = 0
        with self.training(label, texts) as update:

            def advance(more: int) -> None:
                nonlocal done
                done += more
                update(done, texts)

            yield advance

    @contextmanager
    def training(self, label: str, total: int = 0) -> Iterator[Callable[[int, int], None]]:
        """Show a training; the callable takes the number of sentences read and the total, both over all epochs."""
        with _on_terminal(label, total) if sys.stderr.isatty() else _in_log(label) as update:
            yield update

    @contextmanager
    def working(self, label: str) -> Iterator[None]:
        """Show that work goes on whose amount is not known."""
        with self.training(label):
            yield


@contextmanager
def _on_terminal(label: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """Show a bar that is removed at the end; without a total, one that only moves."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total or None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def _in_log(label: str) -> Iterator[Callable[[int, int], None]]:
    """Print a line now and then."""
    began = last = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > INTERVAL:
            last = now
            left = (now - began) / max(done, 1) * (total - done)
            say(f"{label}: {done:,} of {total:,} after {duration(now - began)}, about {duration(left)} left")

    yield update
