"""Paths as users write them, and the files behind them: checked before anything is opened."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path

from embassay.errors import InputError, OutputError, SourceError

SHOWN = 120
"""Characters of an unusable path that a message repeats."""
ABSENT = (errno.ENOENT, errno.ENOTDIR)
SPECIAL = (
    (stat.S_ISFIFO, "a named pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""What is neither a file nor a folder. Opening one may block forever, or never come to an end."""


def source_path(path: Path | str) -> Path:
    """Return the path of something to read, with ``~`` expanded. There need be nothing at that place.

    Raises
    ------
    SourceError
        If the path cannot name a file on this system: it is too long, holds NUL, or names the home of no known user.
    """
    return _usable(path, SourceError)


def output_path(path: Path | str) -> Path:
    """Return the path of something to write, with ``~`` expanded.

    Raises
    ------
    OutputError
        If the path cannot name a file on this system.
    """
    return _usable(path, lambda problem, place: OutputError(f"{place}: {problem}"))


def special_kind(mode: int) -> str:
    """Return what a file of this mode is called when it is neither a regular file nor a folder, else an empty text."""
    return next((name for is_kind, name in SPECIAL if is_kind(mode)), "")


def check_readable(path: Path) -> None:
    """Check that something is at a path, and that opening it does not block.

    Raises
    ------
    SourceError
        For nothing at all, for a place that must not be looked at, and for a named pipe, a socket or a device.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from None
    if kind := special_kind(mode):
        raise SourceError(f"{kind}, where a regular file is needed; write its content to a file first", path)


def open_file(path: Path) -> BufferedReader:
    """Open a regular file for reading.

    Raises
    ------
    SourceError
        If it is not there, is no regular file, or must not be read.
    """
    check_readable(path)
    try:
        return path.open("rb")
    except OSError as error:
        raise unreadable(error, path) from None


def unreadable(error: OSError | ValueError, path: Path) -> SourceError:
    """Return the error of a file that the system cannot open or read."""
    if isinstance(error, FileNotFoundError):
        return SourceError("no such file", path)
    return SourceError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path)


def _usable(path: Path | str, error_of: Callable[[str, Path | str], InputError]) -> Path:
    shown = repr(str(path)[:SHOWN])
    if "\0" in str(path):
        raise error_of("a path cannot hold the character NUL", shown)
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise error_of("a path cannot hold this character: half of a surrogate pair", shown) from None
    try:
        expanded = Path(path).expanduser()
    except RuntimeError:
        user = str(path).split("/", 1)[0]
        raise error_of(f"no user {user[1:]!r} is known; write ./{user} for a file of that name", path) from None
    try:
        expanded.stat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise error_of(f"the path is too long ({len(str(expanded)):,} characters)", shown) from None
        if error.errno not in ABSENT:
            raise error_of(f"cannot be used: {error.strerror}", path) from None
    return expanded
