"""Which entries of a folder may be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    except FileNotFoundError:
        raise SourceError("no such folder", path) from None
    except NotADirectoryError:
        raise SourceError("is a file; a folder is needed", path) from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path) from None


NO_PAGES = frozenset({"_build", "_includes", "_layouts", "_site", "_static", "_templates", "node_modules"})
"""Names of folders of templates, of pages that a generator made, and of packages."""


@dataclass
class Listing:
    """The entries of a folder that may be read: files and folders, but no pipes, sockets, devices or symbolic links.

    A link can point anywhere, for example to a file of passwords or the environment of the process, and a
    document that is read may be sent to a service.

    Attributes
    ----------
    follow_links
        Whether links are followed. A link to a folder that has already been read is left out.
    links, special
        The number of links, and of pipes, sockets and devices, that were left out.
    skipped
        The names of the folders that were left out, of :data:`NO_PAGES`.
    """

    follow_links: bool = False
    links: int = 0
    special: int = 0
    skipped: set[str] = field(default_factory=set)
    _entered: set[tuple[int, int]] = field(default_factory=set)

    def entries(self, path: Path) -> list[Path]:
        """Return the entries of a folder that may be read and are not hidden, sorted by name.

        Raises
        ------
        SourceError
            If it is not a folder or cannot be read.
        """
        there = entries(path)
        self._enter(path)
        return [entry for entry in there if self._may_be_read(entry)]

    def require(self, path: Path, names: Sequence[str], form: str) -> None:
        """Raise SourceError for the first of these files that a folder lacks; ``form`` says what it should have."""
        there = {entry.name for entry in self.entries(path)}
        for name in names:
            if name not in there:
                raise SourceError(f"the folder has no {name}; {form}{self.hint()}", path)

    def files(self, path: Path) -> Iterator[Path]:
        """Yield the files of a folder, sorted, then those of each subfolder."""
        # A stack instead of recursion, because folders may be nested more deeply than the recursion limit.
        waiting = [path]
        while waiting:
            folders = []
            for entry in self.entries(waiting.pop()):
                if not entry.is_dir():
                    yield entry
                elif entry.name in NO_PAGES:
                    self.skipped.add(entry.name)
                # A link may point to a folder that was already read, or that is being read.
                elif not entry.is_symlink() or self._enter(entry):
                    folders.append(entry)
            waiting += reversed(folders)

    def notes(self) -> Iterator[str]:
        """Yield notes on what was left out."""
        if self.links:
            named = counted(self.links, "symbolic link")
            yield f"{named} left out (--follow-links or follow_links=true includes them)"
        if self.skipped:
            yield f"folders of templates, builds and packages left out: {', '.join(sorted(self.skipped))}"
        if self.special:
            named = counted(self.special, "special file")
            yield f"{named} left out (named pipes, sockets, devices)"

    def hint(self) -> str:
        """Return what was left out, as the end of a message about something missing; empty if nothing was."""
        return "".join(f"; {note}" for note in self.notes())

    def _enter(self, folder: Path) -> bool:
        """Remember a folder; return whether it is new."""
        status = folder.stat()
        identity = (status.st_dev, status.st_ino)
        new = identity not in self._entered
        self._entered.add(identity)
        return new

    def _may_be_read(self, entry: Path) -> bool:
        """Return whether an entry may be read; count it if not."""
        # A broken link points to nothing.
        if entry.is_symlink() and not (self.follow_links and entry.exists()):
            self.links += 1
            return False
        if not entry.is_file() and not entry.is_dir():
            self.special += 1
            return False
        return True
