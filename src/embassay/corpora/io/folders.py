"""What may be read in a folder."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from embassay.errors import SourceError
from embassay.store.paths import special_kind


def entries(path: Path) -> list[Path]:
    """Return what lies in a folder and is not hidden, sorted by name.

    Raises
    ------
    SourceError
        For what is no folder, or cannot be read.
    """
    try:
        return sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
    except FileNotFoundError:
        raise SourceError("no such folder", path) from None
    except NotADirectoryError:
        raise SourceError("a file, where a folder is needed", path) from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path) from None


@dataclass
class Listing:
    """What may be read in a folder: files and folders, no named pipes, sockets and devices, and no symbolic links.

    A link can lead anywhere, to a file of passwords or to the environment of the process, and what is read as a
    document may be sent to a service.

    Attributes
    ----------
    follow_links
        Whether what links lead to is read; a link to a folder that has been read already is left out.
    links, special
        How many links, and how many pipes, sockets and devices, were left out.
    """

    follow_links: bool = False
    links: int = 0
    special: int = 0
    _entered: set[tuple[int, int]] = field(default_factory=set)

    def entries(self, path: Path) -> list[Path]:
        """Return what may be read in a folder and is not hidden, sorted by name.

        Raises
        ------
        SourceError
            For what is no folder, or cannot be read.
        """
        there = entries(path)
        self._enter(path)
        return [entry for entry in there if self._may_be_read(entry)]

    def require(self, path: Path, names: Sequence[str], form: str) -> None:
        """Raise SourceError for the first of these files that is not in a folder; ``form`` says what it should have."""
        there = {entry.name for entry in self.entries(path)}
        for name in names:
            if name not in there:
                raise SourceError(f"no {name} in it; {form}{self.hint()}", path)

    def files(self, path: Path) -> Iterator[Path]:
        """Yield the files of a folder, sorted, then those of each folder in it."""
        # A list of what is left to do, as folders may be nested more deeply than functions.
        waiting = [path]
        while waiting:
            folders = []
            for entry in self.entries(waiting.pop()):
                if not entry.is_dir():
                    yield entry
                # A link may lead to a folder that was read already, or that is being read.
                elif not entry.is_symlink() or self._enter(entry):
                    folders.append(entry)
            waiting += reversed(folders)

    def notes(self) -> Iterator[str]:
        """Say what was left out."""
        if self.links:
            named = f"{self.links:,} symbolic link{'s' * (self.links != 1)}"
            yield f"{named} left out (--follow-links or follow_links=true reads what links lead to)"
        if self.special:
            named = f"{self.special:,} special file{'s' * (self.special != 1)}"
            yield f"{named} left out (named pipes, sockets, devices)"

    def hint(self) -> str:
        """Return the end of a message about something that is missing: what was left out, empty for nothing."""
        return "".join(f"; {note}" for note in self.notes())

    def _enter(self, folder: Path) -> bool:
        """Remember a folder; say whether it is a new one."""
        status = folder.stat()
        identity = (status.st_dev, status.st_ino)
        new = identity not in self._entered
        self._entered.add(identity)
        return new

    def _may_be_read(self, entry: Path) -> bool:
        """Say whether an entry may be read, and count it where it may not."""
        try:
            mode = entry.lstat().st_mode
            if stat.S_ISLNK(mode):
                if not self.follow_links:
                    self.links += 1
                    return False
                mode = entry.stat().st_mode
        except OSError:
            # A link to nothing, or a file that was removed meanwhile.
            self.links += 1
            return False
        if special_kind(mode):
            self.special += 1
            return False
        return True
