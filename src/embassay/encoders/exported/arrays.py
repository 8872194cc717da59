"""The arrays of an ``.npz`` file. Uncompressed arrays are mapped into memory; nothing is unpickled."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from embassay.errors import SourceError

LOCAL_HEADER = 30
"""Length in bytes of a member's local header before its name (PKWARE's APPNOTE.TXT, section 4.3.7)."""
DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, struct.error)


def archive_arrays(path: Path) -> Mapping[str, Callable[[], np.ndarray]]:
    """Return a function for each array of the file, by name, that opens the array.

    An uncompressed array, as written by ``numpy.savez``, is mapped into memory; a compressed one is read completely.

    Raises
    ------
    SourceError
        If it is not an ``.npz`` file. The functions raise it for an array that is damaged or contains Python objects.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except DAMAGED as error:
        raise SourceError(f"not an .npz file: {error}", path) from None
    arrays = {}
    for member in members:
        if member.filename.endswith(".npy"):
            name = member.filename.removesuffix(".npy")
            arrays[name] = partial(_open, path, name, member)
    return arrays


def _open(path: Path, name: str, member: zipfile.ZipInfo) -> np.ndarray:
    """Return an array of an archive: mapped if it is not compressed, so that it takes no memory, else read."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(member) as file:
            shape, column_major, kind = _header(file)
            start = file.tell()
            if kind.hasobject:
                problem = "contains Python objects (a pickle), which are never loaded; save texts with dtype=str"
                raise SourceError(problem, path, None, name)
            # An empty array cannot be mapped.
            if member.compress_type != zipfile.ZIP_STORED or 0 in shape:
                file.seek(0)
                return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
        start += _offset(path, member)
        return np.memmap(path, kind, "r", start, shape, "F" if column_major else "C")
    except DAMAGED as error:
        raise SourceError(f"damaged: {error}", path, None, name) from None


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return (shape, whether the array is in column-major order, dtype) of an ``.npy`` file."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


def _offset(path: Path, member: zipfile.ZipInfo) -> int:
    """Return the position of a member's content.

    It follows from the member's local header, whose extra field may be longer than the one in the directory.
    """
    with path.open("rb") as file:
        file.seek(member.header_offset)
        header = file.read(LOCAL_HEADER)
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    return int(member.header_offset + LOCAL_HEADER + name_length + extra_length)
