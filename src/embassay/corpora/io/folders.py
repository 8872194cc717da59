"""The files of a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from embassay.core.store.paths import unreadable


def entries(path: Path) -> list[Path]:
    """Return the entries of a folder that are not hidden, sorted by name.

    Raises
    ------
    SourceError
        If it is not a folder or cannot be read.
    """
    try:
        return sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise unreadable(error, path) from None


def has_file(*names: str) -> Callable[[Path], bool]:
    """Return what says whether a folder has a file of one of these names."""
    return lambda path: any(entry.name in names for entry in entries(path))


def files_in(
    path: Path, *, follow_links: bool = False, exclude: Sequence[str] = (), aside: Collection[Path] = ()
) -> Iterator[Path]:
    """Yield the files of a folder, sorted, then those of each subfolder.

    Parameters
    ----------
    follow_links
        Whether symbolic links to folders are entered, each folder once. Otherwise the links themselves are yielded.
    exclude
        Patterns of names or of the ends of paths that are left out: ``drafts``, ``*.tmp``, ``api/*.md``.
    aside
        Files that are left out.
    """
    entered, real_aside = {os.path.realpath(path)}, set(map(os.path.realpath, aside))
    # A stack instead of recursion, because folders may be nested more deeply than the recursion limit.
    waiting = [path]
    while waiting:
        folders = []
        for entry in entries(waiting.pop()):
            real = os.path.realpath(entry)
            if real in real_aside or any(map(entry.match, exclude)):
                continue
            if not entry.is_dir() or (entry.is_symlink() and not follow_links):
                yield entry
            # A link may point to a folder that was already read, or that is being read.
            elif not entry.is_symlink() or real not in entered:
                entered.add(real)
                folders.append(entry)
        waiting += reversed(folders)
