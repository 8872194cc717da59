"""``embassay cache``: inspect, check or empty the vector cache."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from embassay.errors import InputError
from embassay.formatting import counted
from embassay.reports.terminal import stdout
from embassay.store.cache import VectorCache, default_folder
from embassay.store.disks import VARIABLE, shown
from embassay.store.files import clear, exists
from embassay.store.holdings import Holding, Info
from embassay.store.paths import output_path


def carry_out(what: str, folder: Path | None, encoder: str | None = None) -> None:
    """Carry out ``info``, ``verify`` or ``clear``.

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
    elif what == "verify":
        _verify(folder)
    else:
        _show(folder)


def _clear(folder: Path) -> None:
    """Remove the whole cache."""
    freed = clear(folder)
    if freed:
        _print(f"{folder}: {shown(freed)} freed")
    else:
        _print(f"{folder}: no cache there; nothing to remove")


def _clear_encoder(folder: Path, encoder: str) -> None:
    """Remove the vectors of one encoder."""
    with VectorCache(folder) as cache:
        removed = cache.clear(encoder)
        info = cache.info()
    # A sparse file may occupy less than its pages in use.
    reusable = max(0, info.on_disk - info.live)
    _print(f"{counted(removed, 'vector')} removed; the file keeps its size, and {shown(reusable)} of it will be reused")


def _verify(folder: Path) -> None:
    """Read every vector and remove those that are damaged."""
    # Suspicious: the file is checked even if it is as this program left it.
    with VectorCache(folder, suspicious=True) as cache:
        verified = cache.verify()
    if verified.removed:
        _print(
            f"{counted(verified.vectors, 'vector')} read, {verified.removed:,} of them damaged and removed; "
            "they are encoded again when needed"
        )
    else:
        _print(f"{counted(verified.vectors, 'vector')} read; none is damaged")


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
        limit = shown(info.limit)
    # A sparse file may occupy less than its pages in use.
    in_use = min(info.live, info.on_disk)
    return [
        ("folder", str(info.folder)),
        ("on disk", f"{shown(info.on_disk)}, of which {shown(in_use)} in use"),
        ("limit", f"{limit} (change it with {VARIABLE})"),
        ("vectors", f"{info.vectors:,}"),
    ]


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
    """Return the line of an encoder; dashes for what a damaged record no longer says."""
    count = f"{holding.vectors:,}"
    size = shown(holding.bytes)
    note = holding.note
    if note is None:
        return ["unknown", "–", "–", count, size, "–"]
    name = note.name or "–"
    used = datetime.fromtimestamp(note.used).astimezone()
    return [name, note.fingerprint, str(note.dim), count, size, f"{used:%Y-%m-%d %H:%M}"]


def _print(message: str) -> None:
    """Print a message without markup: a folder's name may have square brackets."""
    console: Console = stdout()
    console.print(Text(message), soft_wrap=True)
