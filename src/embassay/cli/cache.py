"""``embassay cache``: inspect or empty the vector cache."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from embassay.core.errors import InputError
from embassay.core.formatting import counted, written_bytes
from embassay.core.store.files import clear, exists
from embassay.core.store.paths import output_path
from embassay.reports.terminal import stdout
from embassay.run.cache.cache import Holding, Info, VectorCache, default_folder
from embassay.run.cache.disks import VARIABLE


def carry_out(what: str, folder: Path | None, encoder: str | None = None) -> None:
    """Carry out ``info`` or ``clear``.

    Raises
    ------
    InputError
        If an encoder is given for another command than ``clear``, or the folder is a file.
    UnknownNameError
        If the cache has no such encoder.
    """
    folder = default_folder() if folder is None else output_path(folder)
    if encoder is not None and what != "clear":
        raise InputError(f"--encoder is for 'embassay cache clear', not {what!r}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; the cache must be a folder: set one with --cache or EMBASSAY_CACHE")
    # Clearing everything removes the files without opening them, so it also works on a damaged cache. Everything else
    # opens the cache, which would make a new one in an empty folder.
    if what == "clear" and encoder is None:
        _clear(folder)
    elif not exists(folder):
        _print(f"{folder}: no cache there yet")
    elif encoder is not None:
        _clear_encoder(folder, encoder)
    else:
        _show(folder)


def _clear(folder: Path) -> None:
    """Remove the whole cache."""
    freed = clear(folder)
    if freed:
        _print(f"{folder}: {written_bytes(freed)} freed")
    else:
        _print(f"{folder}: no cache there; nothing to remove")


def _clear_encoder(folder: Path, encoder: str) -> None:
    """Remove the vectors of one encoder."""
    with VectorCache(folder) as cache:
        removed = cache.clear(encoder)
    _print(f"{counted(removed, 'vector')} removed")


def _show(folder: Path) -> None:
    """Print the size and limit of the cache, and its encoders."""
    with VectorCache(folder) as cache:
        info = cache.info()
    console = stdout()
    for name, value in _summary(info):
        console.print(Text(f"{name:<8} {value}"), soft_wrap=True)
    if info.encoders:
        console.print()
        console.print(_table(info))


def _summary(info: Info) -> list[tuple[str, str]]:
    """Return the names and values of the first lines of ``embassay cache info``."""
    limit = "none"
    if info.limit is not None:
        limit = written_bytes(info.limit)
    lines = [
        ("folder", str(info.folder)),
        ("on disk", written_bytes(info.on_disk)),
        ("limit", f"{limit} (change it with {VARIABLE})"),
        ("vectors", f"{info.vectors:,}"),
    ]
    if info.damaged:
        lines.append(("damaged", f"{counted(info.damaged, 'file')}; their texts are encoded again when needed"))
    return lines


def _table(info: Info) -> Table:
    """Return a table of the encoders, the most recently used one first."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("encoder", no_wrap=True)
    table.add_column("fingerprint", no_wrap=True)
    table.add_column("dimension", justify="right", no_wrap=True)
    table.add_column("vectors", justify="right", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("last used", no_wrap=True)
    for holding in info.encoders:
        table.add_row(*map(Text, _row(holding)))
    return table


def _row(holding: Holding) -> list[str]:
    """Return the line of an encoder; dashes for what damaged files no longer say."""
    count = f"{holding.vectors:,}"
    size = written_bytes(holding.bytes)
    dim = "–" if holding.dim is None else str(holding.dim)
    note = holding.note
    if note is None:
        return ["unknown", "–", dim, count, size, "–"]
    name = note.name or "–"
    used = datetime.fromtimestamp(holding.used).astimezone()
    return [name, note.fingerprint, dim, count, size, f"{used:%Y-%m-%d %H:%M}"]


def _print(message: str) -> None:
    """Print a message without markup: a folder's name may have square brackets."""
    console: Console = stdout()
    console.print(Text(message), soft_wrap=True)
