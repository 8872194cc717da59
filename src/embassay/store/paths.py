"""Paths as users write them, and the files behind them: checked before anything is opened."""

from __future__ import annotations

import errno
import os
import re
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
"""Neither files nor folders. Opening one may block forever, and reading one may never end."""


def source_path(path: Path | str) -> Path:
    """Return the path of something to read, with ``~`` expanded. Nothing needs to exist there.

    Raises
    ------
    SourceError
        If the path cannot name a file on this system: it is too long, holds NUL, or names the home of an unknown user;
        for a web address.
    """
    # Path("https://x") is written with one slash.
    if re.match("(https?|ftp|s3|gs):/", str(path)):
        raise SourceError("is a web address; download it first, and name the file or the folder", path)
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
    """Return the kind of a file that is neither a regular file nor a folder; an empty text for these."""
    for is_kind, name in SPECIAL:
        if is_kind(mode):
            return name
    return ""


def check_readable(path: Path) -> None:
    """Check that a path exists and that opening it does not block.

    Raises
    ------
    SourceError
        If there is nothing at the path, if its folder must not be read, or for a named pipe, a socket or a device.
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
        If it does not exist, is not a regular file, or must not be read.
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
    reason = getattr(error, "strerror", None) or error
    return SourceError(f"cannot be read: {reason}", path)


def _usable(path: Path | str, error_of: Callable[[str, Path | str], InputError]) -> Path:
    """Return a path with ``~`` expanded; raise an error if the system cannot use it.

    Parameters
    ----------
    error_of
        Makes the error from the problem and from the path as the message shows it.
    """
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
        # "~jane/file" -> "~jane"
        user = str(path).split("/", 1)[0]
        raise error_of(f"no user {user[1:]!r} is known; write ./{user} for a file of that name", path) from None
    # Only the system knows how long a path may be.
    try:
        expanded.stat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise error_of(f"the path is too long ({len(str(expanded)):,} characters)", shown) from None
        # A file to write need not exist yet.
        if error.errno not in ABSENT:
            raise error_of(f"cannot be used: {error.strerror}", path) from None
    return expanded
