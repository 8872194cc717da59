"""How far a long step is, on standard error: a bar on a terminal; elsewhere a line now and then, as a log needs it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from embassay.core.errors import say
from embassay.core.formatting import duration

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

START = 10.0
"""Seconds until the first line where there is no terminal; shorter steps print nothing."""
INTERVAL = 60.0
"""Seconds between two further lines."""


class Progress(Protocol):
    """Shows how far a run is."""

    def encoding(self, label: str, texts: int) -> AbstractContextManager[Callable[[int], None]]:
        """Show how many of this many texts an encoder has encoded; the callable adds to them."""
        ...

    def working(self, label: str) -> AbstractContextManager[None]:
        """Show that work goes on whose amount is not known."""
        ...


class Quiet:
    """Shows nothing."""

    @contextmanager
    def encoding(self, label: str, texts: int) -> Iterator[Callable[[int], None]]:
        """Ignore everything."""
        yield lambda done: None

    @contextmanager
    def working(self, label: str) -> Iterator[None]:
        """Ignore everything."""
        yield


class Bar:
    """Shows a label, what is done of what, the rate and the time left."""

    @contextmanager
    def encoding(self, label: str, texts: int) -> Iterator[Callable[[int], None]]:
        """Show how many of this many texts an encoder has encoded; the callable adds to them."""
        if not texts:
            yield lambda done: None
            return
        # A model is loaded for the first text, which may take longer than encoding all of them.
        with _Step(label, "texts", texts, rate="loading").shown() as step:
            yield lambda done: step.update(step.done + done, texts)

    @contextmanager
    def counting(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        """Show a count up to a total, without a rate; the callable adds to the count."""
        with _Step(label, "", total).shown() as step:
            yield lambda done: step.update(step.done + done, total)

    @contextmanager
    def training(self, label: str) -> Iterator[Callable[[int, int], None]]:
        """Show a training; the callable takes the number of sentences read and the total, both over all epochs."""
        with _Step(label, "sentences").shown() as step:
            yield step.update

    @contextmanager
    def working(self, label: str) -> Iterator[None]:
        """Show that work goes on whose amount is not known."""
        with _Step(label).shown():
            yield


@dataclass
class _Step:
    """A step of work.

    Attributes
    ----------
    noun
        What is counted, if its rate is shown.
    total
        None while it is not known.
    rate
        What is shown in the place of the rate before the first result.
    """

    label: str
    noun: str = ""
    total: int | None = None
    done: int = 0
    rate: str = ""
    show: Callable[[], None] = lambda: None

    def update(self, done: int, total: int) -> None:
        """Set what is done."""
        self.done, self.total = done, total
        self.show()

    @contextmanager
    def shown(self) -> Iterator[_Step]:
        """Show the step until it ends."""
        with self._on_terminal() if sys.stderr.isatty() else self._in_log():
            yield self

    @contextmanager
    def _on_terminal(self) -> Iterator[None]:
        with _bar() as progress:
            task = progress.add_task(self.label, total=self.total, rate=self.rate)

            def show() -> None:
                progress.update(task, completed=self.done, total=self.total)
                speed = progress.tasks[task].speed
                if speed and self.noun:
                    self.rate = f"{speed:,.0f} {self.noun}/s"
                progress.update(task, rate=self.rate)

            self.show = show
            yield

    @contextmanager
    def _in_log(self) -> Iterator[None]:
        began = time.monotonic()
        finished = threading.Event()

        # In a thread, because a step may wait long for its first result, for example while a model is loaded.
        def report() -> None:
            pause = START
            while not finished.wait(pause):
                pause = INTERVAL
                seconds = time.monotonic() - began
                amount, left = "still running", ""
                if self.total:
                    amount = f"{self.done:,} of {self.total:,} {self.noun}".rstrip()
                    if self.done:
                        left = f", about {duration(seconds / self.done * (self.total - self.done))} left"
                say(f"{self.label}: {amount} after {duration(seconds)}{left}")

        reporter = threading.Thread(target=report, daemon=True)
        reporter.start()
        try:
            yield
        finally:
            finished.set()
            reporter.join()
        seconds = time.monotonic() - began
        if seconds > START:
            say(f"{self.label}: finished after {duration(seconds)}")


def _bar() -> RichProgress:
    """Return a bar on standard error that is removed at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
