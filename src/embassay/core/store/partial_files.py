"""Temporary names for files that are being written, and the removal of those that killed processes left behind.

The temporary name is ``.MACHINE.PROCESS.TOKEN.part``. It identifies the process, so a file of a process that is no
longer running on this machine is removed, and a file that another process is writing now is never touched.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from embassay.core.errors import OutputError

OLD = 24 * 3600
"""Age in seconds after which a partial file counts as left over, whichever machine wrote it."""
_PARTIAL_NAME = re.compile(r"\.([0-9a-f]{8})\.([0-9]{1,10})\.[0-9a-f]{8}\.part")
"""Machine, process and token."""


def partial_file(path: Path) -> Path:
    """Return a temporary path in the folder of ``path``; the first call for a folder removes its left-over files."""
    _remove_once(path.parent)
    return path.with_name(f".{_machine()}.{os.getpid()}.{secrets.token_hex(4)}.part")


def names_in(folder: Path) -> set[str]:
    """Return the names in a folder, except files that are being written; empty if there is no folder.

    Raises
    ------
    OutputError
        If it is not a folder, or cannot be read.
    """
    try:
        if not folder.exists():
            return set()
        return {path.name for path in folder.iterdir() if path.suffix != ".part"}
    except OSError as error:
        raise OutputError(f"{folder}: cannot be used as a folder: {error.strerror}") from None


def remove_left_overs(folder: Path) -> None:
    """Remove the files that killed processes left in a folder. The folder need not exist."""
    try:
        paths = list(folder.iterdir())
    except OSError:
        # Tidying up must not stop a run. If the folder cannot be used, writing to it gives the message.
        return
    for path in paths:
        parts = _PARTIAL_NAME.fullmatch(path.name)
        if not parts:
            continue
        # Another process may remove the file at the same time, or we may not be allowed to.
        with suppress(OSError):
            if _is_left_over(path, machine=parts[1], process=int(parts[2])):
                path.unlink()


def _is_left_over(path: Path, machine: str, process: int) -> bool:
    """Return whether the process that wrote a partial file has ended, or the file is older than ``OLD``."""
    if machine == _machine() and not _lives(process):
        return True
    # A process on another machine cannot be looked up, and a process number may have been reused: only age decides.
    return time.time() - path.lstat().st_mtime > OLD


def _lives(process: int) -> bool:
    """Return whether a process of this number may be running on this machine."""
    if os.name != "posix":
        # On Windows os.kill ends the process, whatever the signal.
        return True
    try:
        # Signal 0 does nothing but check that there is such a process.
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        # It is running, for another user.
        return True
    return True


@cache
def _machine() -> str:
    """Return 8 hexadecimal digits that stand for the name of this machine."""
    return hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]


@cache
def _remove_once(folder: Path) -> None:
    """Remove left-over files at the first call for a folder: ``cache`` makes later calls do nothing."""
    remove_left_overs(folder)
