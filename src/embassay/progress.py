"""A bar on standard error while texts are encoded; nothing where that is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Bar:
    """Shows encoder, texts done, texts per second and the time left."""

    @contextmanager
    def encoding(self, label: str, texts: int) -> Iterator[Callable[[int], None]]:
        """Open a bar of so many texts; the callable moves it on."""
        if not sys.stderr.isatty():
            yield lambda done: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(label, total=texts, rate="")

            def advance(done: int) -> None:
                progress.advance(task, done)
                speed = progress.tasks[task].speed
                progress.update(task, rate=f"{speed:,.0f} texts/s" if speed else "")

            yield advance
