"""How far a long step is, on standard error: a bar on a terminal; elsewhere a line now and then, as a log needs it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from embassay.core.errors import say

INTERVAL = 60.0
"""Seconds between two lines where there is no terminal; shorter steps print nothing."""


@contextmanager
def progress(label: str, total: int = 0) -> Iterator[Callable[[int, int], None]]:
    """Show how far a step is; the callable takes what is done, and the total. Without it a bar only moves."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import MofNCompleteColumn, Progress

        columns = (*Progress.get_default_columns(), MofNCompleteColumn())
        # The bar is removed at the end.
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=total or None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    last = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > INTERVAL:
            last = time.monotonic()
            say(f"{label}: {done:,} of {total:,}")

    yield update


@contextmanager
def counting(label: str, total: int = 0, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Show how many texts, or other things, are done; the callable takes how many more are."""
    done = 0
    with nullcontext() if quiet else progress(label, total) as update:

        def advance(more: int) -> None:
            nonlocal done
            done += more
            if update:
                update(done, total)

        yield advance
