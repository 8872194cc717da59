"""``embassay cache``: inspect or empty the vector cache."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from rich.console import Console

from embassay.core.errors import InputError
from embassay.core.formatting import DASH, written_bytes
from embassay.core.store.files import VECTORS, clear, default_folder, exists, size_of
from embassay.core.store.paths import output_path
from embassay.reports.tables import Cell, Table
from embassay.reports.terminal import print_line, print_table, stdout
from embassay.run.cache.cache import Holding, VectorCache

HEADINGS = ("encoder", "fingerprint", "dimension", "vectors", "size", "last used")


def carry_out(what: str, folder: Path | None) -> None:
    """Carry out ``info`` or ``clear``.

    Raises
    ------
    InputError
        If the folder is a file.
    """
    folder = default_folder() if folder is None else output_path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; the cache must be a folder: set one with --cache or EMBASSAY_CACHE")
    console = stdout()
    if what == "clear":
        freed = clear(folder)
        print_line(console, f"{folder}: {written_bytes(freed)} freed" if freed else f"{folder}: nothing to remove")
    elif exists(folder):
        _show(folder, console)
    else:
        # To open the cache would make one.
        print_line(console, f"{folder}: no cache there yet")


def _show(folder: Path, console: Console) -> None:
    """Print the size and limit of the cache, and its encoders, the most recently used one first."""
    cache = VectorCache(folder)
    holdings = cache.info()
    print_line(console, f"folder   {folder}")
    print_line(console, f"on disk  {written_bytes(size_of(folder / VECTORS))}")
    print_line(console, f"limit    {written_bytes(cache.limit)}")
    print_line(console, f"vectors  {sum(holding.vectors for holding in holdings):,}\n")
    rows = [tuple(map(Cell, _row(holding))) for holding in holdings]
    print_table(Table("", HEADINGS, tuple(rows)), console)


def _row(holding: Holding) -> tuple[str, ...]:
    """Return the line of an encoder; dashes for what is not known."""
    used = DASH
    if holding.used:
        used = f"{datetime.fromtimestamp(holding.used).astimezone():%Y-%m-%d %H:%M}"
    size = written_bytes(holding.bytes)
    return holding.name or DASH, holding.fingerprint or DASH, str(holding.dim), f"{holding.vectors:,}", size, used
