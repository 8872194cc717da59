"""``embassay cache``: inspect or empty the vector cache."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from embassay.core.errors import InputError
from embassay.core.formatting import written_bytes
from embassay.core.store.files import VECTORS, clear, default_folder, exists, size_of
from embassay.core.store.paths import output_path
from embassay.reports.terminal import stdout
from embassay.run.cache.cache import Holding, VectorCache


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
    if what == "clear":
        _clear(folder)
    elif exists(folder):
        _show(folder)
    else:
        # To open the cache would make one.
        _print(f"{folder}: no cache there yet")


def _clear(folder: Path) -> None:
    """Remove the whole cache."""
    freed = clear(folder)
    if freed:
        _print(f"{folder}: {written_bytes(freed)} freed")
    else:
        _print(f"{folder}: no cache there; nothing to remove")


def _show(folder: Path) -> None:
    """Print the size and limit of the cache, and its encoders."""
    with VectorCache(folder) as cache:
        holdings = cache.info()
    _print(f"folder   {folder}")
    _print(f"on disk  {written_bytes(size_of(folder / VECTORS))}")
    _print(f"limit    {written_bytes(cache.limit)}")
    _print(f"vectors  {sum(holding.vectors for holding in holdings):,}")
    if holdings:
        stdout().print()
        stdout().print(_table(holdings))


def _table(holdings: list[Holding]) -> Table:
    """Return a table of the encoders, the most recently used one first."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("encoder", no_wrap=True)
    table.add_column("fingerprint", no_wrap=True)
    table.add_column("dimension", justify="right", no_wrap=True)
    table.add_column("vectors", justify="right", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("last used", no_wrap=True)
    for holding in holdings:
        table.add_row(*map(Text, _row(holding)))
    return table


def _row(holding: Holding) -> list[str]:
    """Return the line of an encoder; dashes for what is not known."""
    used = "–"
    if holding.used:
        used = f"{datetime.fromtimestamp(holding.used).astimezone():%Y-%m-%d %H:%M}"
    name = holding.name or "–"
    fingerprint = holding.fingerprint or "–"
    return [name, fingerprint, str(holding.dim), f"{holding.vectors:,}", written_bytes(holding.bytes), used]


def _print(message: str) -> None:
    """Print a message without markup: a folder's name may have square brackets."""
    console: Console = stdout()
    console.print(Text(message), soft_wrap=True)
