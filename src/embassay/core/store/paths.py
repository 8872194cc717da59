"""Paths as users write them, and the files behind them: checked before anything is opened."""

from __future__ import annotations

import re
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

from embassay.core.errors import InputError, SourceError, quoted


def source_path(path: Path | str) -> Path:
    """Return the path of something to read, with ``~`` expanded. Nothing needs to exist there.

    Raises
    ------
    InputError
        If the path cannot name a file on this system, such as one that is too long; for a web address.
    """
    # Path("https://x") is written with one slash.
    if re.match("(https?|ftp|s3|gs):/", str(path)):
        raise SourceError("is a web address; download it first, and name the file or the folder", path)
    return output_path(path)


def output_path(path: Path | str) -> Path:
    """Return the path of something to write, with ``~`` expanded.

    Raises
    ------
    InputError
        If the path cannot name a file on this system.
    """
    try:
        expanded = Path(path).expanduser()
        # Only the system knows what a path may hold, and how long it may be. A file to write need not exist yet.
        with suppress(FileNotFoundError, NotADirectoryError):
            expanded.stat()
    except (OSError, RuntimeError, ValueError) as error:
        # A path that is too long, NUL or half of a surrogate pair in it, the home of an unknown user.
        raise InputError(f"{quoted(str(path))}: cannot be used as a path: {reason_in(error)}") from None
    return expanded


def open_file(path: Path) -> BufferedReader:
    """Open a regular file for reading.

    Raises
    ------
    SourceError
        If it does not exist, is not a regular file, or must not be read.
    """
    try:
        path.stat()
        # Opening a named pipe or a device may block forever, and reading it may never end.
        if path.is_file() or path.is_dir():
            return path.open("rb")
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from None
    raise SourceError("is not a regular file; write its content to a file first", path)


def unreadable(error: OSError | ValueError, path: Path) -> SourceError:
    """Return the error of a file that the system cannot open or read."""
    if isinstance(error, FileNotFoundError):
        return SourceError("no such file", path)
    return SourceError(f"cannot be read: {reason_in(error)}", path)


def reason_in(error: Exception) -> str:
    """Return why a call of the system failed, without the path, which messages begin with."""
    return getattr(error, "strerror", None) or str(error)
