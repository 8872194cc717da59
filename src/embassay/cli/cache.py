"""``embassay cache``: inspect or empty the vector cache."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

from embassay.cli.parameters import FINE


def cache(what: Literal["info", "clear"], *, cache: Path | None = None) -> int:
    """Show the vector cache, or empty it (without asking).

    Parameters
    ----------
    what
        info: show size, limit and encoders; clear: remove everything.
    cache
        Folder of the vector cache.
    """
    from embassay.core.errors import InputError
    from embassay.core.formatting import counted, written_bytes
    from embassay.core.store.paths import output_path
    from embassay.reports.terminal import print_line, stdout
    from embassay.run.cache.cache import VectorCache
    from embassay.run.cache.folder import VECTORS, clear, default_folder, size_of

    folder = default_folder() if cache is None else output_path(cache)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; the cache must be a folder: set one with --cache or EMBASSAY_CACHE")
    console = stdout()
    if what == "clear":
        print_line(console, f"{folder}: {written_bytes(clear(folder))} freed")
        return FINE
    if not (folder / VECTORS).is_dir():
        # To open the cache would make one.
        print_line(console, f"{folder}: no cache there yet")
        return FINE
    vectors = VectorCache(folder)
    size = written_bytes(size_of(folder / VECTORS))
    print_line(console, f"{folder}: {size} of at most {written_bytes(vectors.limit)}")
    for holding in vectors.info():
        size = written_bytes(holding.bytes)
        used = f"{datetime.fromtimestamp(holding.used).astimezone():%Y-%m-%d %H:%M}" if holding.used else "unknown"
        named = f"{holding.name or 'unknown'} ({holding.fingerprint})"
        number = counted(holding.vectors, "vector")
        print_line(console, f"{named}: {number}, {size}, last used {used}", indent=4)
    return FINE
