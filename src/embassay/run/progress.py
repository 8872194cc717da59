"""A bar on standard error while texts are encoded or learnt from; nothing where that is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


class Progress(Protocol):
    """Shows how far an encoder is."""

    def encoding(self, label: str, texts: int) -> AbstractContextManager[Callable[[int], None]]:
        """Open a bar for this many texts; the callable moves it on."""
        ...


class Quiet:
    """Shows nothing."""

    @contextmanager
    def encoding(self, label: str, texts: int) -> Iterator[Callable[[int], None]]:
        """Ignore everything."""
        yield lambda done: None


class Bar:
    """Shows encoder, texts done, texts per second and the time left."""

    @contextmanager
    def encoding(self, label: str, texts: int) -> Iterator[Callable[[int], None]]:
        """Open a bar for this many texts; the callable moves it on."""
        if not texts or not sys.stderr.isatty():
            yield lambda done: None
            return
        with _bar() as progress:
            task = progress.add_task(label, total=texts, rate="")

            def advance(done: int) -> None:
                progress.advance(task, done)
                progress.update(task, rate=_rate(progress.tasks[task].speed, "texts"))

            yield advance

    @contextmanager
    def counting(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        """Open a bar that counts up to a total, without a rate; the callable adds to the count."""
        if not sys.stderr.isatty():
            yield lambda done: None
            return
        with _bar() as progress:
            task = progress.add_task(label, total=total, rate="")
            yield lambda done: progress.advance(task, done)

    @contextmanager
    def training(self, label: str) -> Iterator[Callable[[int, int], None]]:
        """Open a bar; the callable takes the number of sentences read and the total, both over all epochs."""
        if not sys.stderr.isatty():
            yield lambda done, total: None
            return
        with _bar() as progress:
            task = progress.add_task(label, total=None, rate="")

            def advance(done: int, total: int) -> None:
                progress.update(task, completed=done, total=total, rate=_rate(progress.tasks[task].speed, "sentences"))

            yield advance


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


def _rate(speed: float | None, noun: str) -> str:
    """Write a speed; nothing before it can be measured."""
    if not speed:
        return ""
    return f"{speed:,.0f} {noun}/s"
