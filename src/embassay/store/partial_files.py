"""Files that are filled under another name first, and what killed processes have left of them.

The other name is ``.MACHINE.PROCESS.TOKEN.part``: a file that a process on this machine left when it was killed is
known by it, and one that another process is filling now is never touched.
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

OLD = 24 * 3600
"""Seconds after which no process is filling a file any more, wherever it runs."""
_OURS = re.compile(r"\.(?:([0-9a-f]{8})\.)?([0-9]{1,10})\.[0-9a-f]{8}\.part")
"""Version 0.1 named no machine."""


def partial_file(path: Path) -> Path:
    """Return the name under which a file is filled, beside its own; left-overs in its folder are removed once."""
    _remove_once(path.parent)
    return path.with_name(f".{_machine()}.{os.getpid()}.{secrets.token_hex(4)}.part")


def remove_left_overs(folder: Path) -> None:
    """Remove the files that processes were filling in a folder when they were killed; it need not exist."""
    try:
        paths = list(folder.iterdir())
    except OSError:
        return
    for path in paths:
        if parts := _OURS.fullmatch(path.name):
            # Another process may remove it at the same time, or it may not be ours to remove.
            with suppress(OSError):
                if _is_left(path, parts[1], int(parts[2])):
                    path.unlink()


def _is_left(path: Path, machine: str | None, process: int) -> bool:
    if machine in (None, _machine()) and not _lives(process):
        return True
    # Of another machine, or of a process whose number another one has by now: only time tells.
    return time.time() - path.lstat().st_mtime > OLD


def _lives(process: int) -> bool:
    if os.name != "posix":
        return True  # elsewhere os.kill ends a process, whatever the signal
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


@cache
def _machine() -> str:
    return hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]


@cache
def _remove_once(folder: Path) -> None:
    remove_left_overs(folder)
