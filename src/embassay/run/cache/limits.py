"""How large the vector cache may be."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from embassay.core.errors import InputError

VARIABLE = "EMBASSAY_CACHE_LIMIT"
USUAL = 20 * 10**9
"""The limit in bytes where ``EMBASSAY_CACHE_LIMIT`` sets none and the disk has room: 20 GB."""


def limit(folder: Path, current: int) -> int | None:
    """Return how many bytes the cache in a folder may take, of which it has ``current``; None for no limit.

    Without ``EMBASSAY_CACHE_LIMIT`` it is 20 GB, or half of what the disk has free (with what the cache has) where
    that is less.

    Raises
    ------
    InputError
        If ``EMBASSAY_CACHE_LIMIT`` is not a size.
    OSError
        If there is no such folder.
    """
    setting = os.environ.get(VARIABLE, "")
    if setting:
        # 0 sets no limit.
        return size(setting) or None
    return min(USUAL, (shutil.disk_usage(folder).free + current) // 2)


def size(text: str) -> int:
    """Return the bytes of a size such as ``5GiB`` (1024³), ``500 MB`` (1000²) or ``0``.

    Raises
    ------
    InputError
        If the text is not a size.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip().lower())
    if not match:
        raise InputError(f"{VARIABLE}: {text!r} is not a size; write for example 5GiB or 500MB, or 0 for no limit")
    number, prefix, is_binary = match.groups()
    base = 1024 if is_binary else 1000
    return int(float(number) * base ** " kmgt".index(prefix or " "))
