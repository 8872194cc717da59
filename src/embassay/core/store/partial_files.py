"""Temporary names for files that are being written, and the removal of those that killed processes left behind."""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from embassay.core.errors import OutputError

OLD = 24 * 3600
"""Age in seconds after which a partial file counts as left over: nothing takes so long to write."""


def partial_file(path: Path) -> Path:
    """Return a temporary path in the folder of ``path``; the first call for a folder removes its left-over files."""
    remove_left_overs(path.parent)
    return path.with_name(f".{secrets.token_hex(8)}.part")


def names_in(folder: Path) -> set[str]:
    """Return the names in a folder, except files that are being written; empty if there is no folder.

    Raises
    ------
    OutputError
        If it is not a folder, or cannot be read.
    """
    try:
        return {path.name for path in folder.iterdir() if path.suffix != ".part"}
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise OutputError(f"{folder}: cannot be used as a folder: {error.strerror}") from None


@cache
def remove_left_overs(folder: Path) -> None:
    """Remove the files that killed processes left in a folder, once for each folder. It need not exist."""
    # Tidying up must not stop a run: another process may remove a file at the same time. If the folder cannot be used,
    # writing to it gives the message.
    with suppress(OSError):
        for path in folder.glob(f".{'?' * 16}.part"):
            if time.time() - path.stat().st_mtime > OLD:
                path.unlink()
