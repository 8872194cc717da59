"""Which entries of a folder may be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.formatting import counted


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
        known = {FileNotFoundError: "no such folder", NotADirectoryError: "is a file; a folder is needed"}
        raise SourceError(known.get(type(error), f"cannot be read: {error.strerror}"), path) from None


def has_file(*names: str) -> Callable[[Path], bool]:
    """Return what says whether a folder has a file of one of these names."""
    return lambda path: any(entry.name in names for entry in entries(path))


LEFT_OUT = {
    "symbolic link": "--follow-links or follow_links=true includes them",
    "special file": "named pipes, sockets, devices",
}
"""What a note says of entries that are not read."""


@dataclass
class Listing:
    """The entries of a folder that may be read: files and folders, but no pipes, sockets, devices or symbolic links.

    A link can point anywhere, for example to a file of passwords or the environment of the process, and a
    document that is read may be sent to a service.

    Attributes
    ----------
    follow_links
        Whether links are followed. A link to a folder that has already been read is left out.
    exclude
        Patterns of names or of the ends of paths that are left out: ``drafts``, ``*.tmp``, ``api/*.md``.
    aside
        Files that are left out without a note.
    left_out
        The number of entries that were left out, by the keys of :data:`LEFT_OUT`.
    excluded
        The names that were left out by a pattern.
    """

    follow_links: bool = False
    exclude: Sequence[str] = ()
    aside: Sequence[Path] = ()
    left_out: Counter[str] = field(default_factory=Counter)
    excluded: set[str] = field(default_factory=set)

    def entries(self, path: Path) -> list[Path]:
        """Return the entries of a folder that may be read and are not hidden, sorted by name.

        Raises
        ------
        SourceError
            If it is not a folder or cannot be read.
        """
        return [entry for entry in entries(path) if self._may_be_read(entry)]

    def require(self, path: Path, names: Sequence[str], form: str) -> None:
        """Raise SourceError for the first of these files that a folder lacks; ``form`` says what it should have."""
        there = {entry.name for entry in self.entries(path)}
        for name in names:
            if name not in there:
                raise SourceError(f"the folder has no {name}; {form}{self.hint()}", path)

    def files(self, path: Path) -> Iterator[Path]:
        """Yield the files of a folder, sorted, then those of each subfolder."""
        entered = {path.resolve()}
        # A stack instead of recursion, because folders may be nested more deeply than the recursion limit.
        waiting = [path]
        while waiting:
            folders = []
            for entry in self.entries(waiting.pop()):
                if not entry.is_dir():
                    yield entry
                # A link may point to a folder that was already read, or that is being read.
                elif not entry.is_symlink() or entry.resolve() not in entered:
                    entered.add(entry.resolve())
                    folders.append(entry)
            waiting += reversed(folders)

    def notes(self) -> list[str]:
        """Return notes on what was left out."""
        notes = [f"{counted(number, kind)} left out ({LEFT_OUT[kind]})" for kind, number in self.left_out.items()]
        if self.excluded:
            notes.append(f"no pages, left out: {', '.join(sorted(self.excluded))}")
        return notes

    def hint(self) -> str:
        """Return what was left out, as the end of a message about something missing; empty if nothing was."""
        return "".join(f"; {note}" for note in self.notes())

    def _may_be_read(self, entry: Path) -> bool:
        """Return whether an entry may be read; count it if not."""
        if any(map(entry.match, self.exclude)):
            self.excluded.add(entry.name)
        # A broken link points to nothing.
        elif entry.is_symlink() and not (self.follow_links and entry.exists()):
            self.left_out["symbolic link"] += 1
        elif not (entry.is_file() or entry.is_dir()):
            self.left_out["special file"] += 1
        else:
            return entry.resolve() not in map(Path.resolve, self.aside)
        return False
