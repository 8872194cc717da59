"""``embassay cache``: inspect, check or empty the vector cache."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from embassay.errors import InputError
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
    folder = output_path(folder) if folder else default_folder()
    if encoder is not None and what != "clear":
        raise InputError(f"--encoder is for 'embassay cache clear', not {what!r}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; the cache must be a folder: set one with --cache or EMBASSAY_CACHE")
    if what == "clear" and encoder is None:
        freed = clear(folder)
        _print(f"{folder}: {shown(freed)} freed" if freed else f"{folder}: no cache there; nothing to remove")
    elif not exists(folder):
        _print(f"{folder}: no cache there yet")
    elif what == "clear" and encoder:
        _forget(folder, encoder)
    else:
        {"info": _info, "verify": _verify}[what](folder)


def _info(folder: Path) -> None:
    with VectorCache(folder) as cache:
        found = cache.info()
    console = stdout()
    for name, value in _summary(found):
        console.print(Text(f"{name:<8} {value}"), soft_wrap=True)
    if found.encoders:
        console.print()
        console.print(_table(found))


def _verify(folder: Path) -> None:
    with VectorCache(folder, suspicious=True) as cache:
        found = cache.verify()
    if found.removed:
        _print(
            f"{found.vectors:,} vectors read, {found.removed:,} of them damaged and removed; "
            "they are encoded again when needed"
        )
    else:
        _print(f"{found.vectors:,} vectors read; none is damaged")


def _forget(folder: Path, encoder: str) -> None:
    with VectorCache(folder) as cache:
        removed, found = cache.clear(encoder), cache.info()
    _print(
        f"{removed:,} vectors removed; the file keeps its size, "
        f"and {shown(max(0, found.on_disk - found.live))} of it will be reused"
    )


def _summary(found: Info) -> list[tuple[str, str]]:
    limit = "none" if found.limit is None else shown(found.limit)
    return [
        ("folder", str(found.folder)),
        ("on disk", f"{shown(found.on_disk)}, of which {shown(min(found.live, found.on_disk))} in use"),
        ("limit", f"{limit} (change it with {VARIABLE})"),
        ("vectors", f"{found.vectors:,}"),
    ]


def _table(found: Info) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("encoder", "fingerprint", "dimension", "vectors", "size", "last used"):
        table.add_column(name, justify="right" if name in ("dimension", "vectors", "size") else "left", no_wrap=True)
    for holding in found.encoders:
        table.add_row(*map(Text, _row(holding)))
    return table


def _row(holding: Holding) -> list[str]:
    note, count, size = holding.note, f"{holding.vectors:,}", shown(holding.bytes)
    if not note:
        return ["unknown", "–", "–", count, size, "–"]
    used = datetime.fromtimestamp(note.used).astimezone().strftime("%Y-%m-%d %H:%M")
    return [note.name or "–", note.fingerprint, str(note.dim), count, size, used]


def _print(message: str) -> None:
    console: Console = stdout()
    console.print(Text(message), soft_wrap=True)
