"""How far a long step is, on standard error: a bar on a terminal; elsewhere a line now and then, as a log needs it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from embassay.core.errors import say
from embassay.core.formatting import duration

START = 10.0
"""Seconds until the first line where there is no terminal; shorter steps print nothing."""
INTERVAL = 60.0
"""Seconds between two further lines."""


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
    """Shows a label, what is done of what, the rate and the time left."""

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
        with _on_terminal(label, total) if sys.stderr.isatty() else _in_log(label, total) as update:
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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    text, rate = TextColumn("{task.description}"), TextColumn("{task.fields[rate]}")
    columns = (text, BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        # A model is loaded for the first text, which may take longer than encoding all of them.
        task = progress.add_task(label, total=total or None, rate="loading" if total else "")

        def update(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)
            if speed := progress.tasks[task].speed:
                progress.update(task, rate=f"{speed:,.0f}/s")

        yield update


@contextmanager
def _in_log(label: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """Print a line now and then, and one at the end of a long step."""
    began = time.monotonic()
    finished = threading.Event()
    state = (0, total)

    def update(done: int, total: int) -> None:
        nonlocal state
        state = (done, total)

    # In a thread, because a step may wait long for its first result, for example while a model is loaded.
    def report() -> None:
        pause = START
        while not finished.wait(pause):
            pause = INTERVAL
            seconds = time.monotonic() - began
            done, total = state
            line = f"{label}: {done:,} of {total:,}" if total else f"{label}: still running"
            line += f" after {duration(seconds)}"
            if done:
                line += f", about {duration(seconds / done * (total - done))} left"
            say(line)

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield update
    finally:
        finished.set()
        reporter.join()
    seconds = time.monotonic() - began
    if seconds > START:
        say(f"{label}: finished after {duration(seconds)}")
