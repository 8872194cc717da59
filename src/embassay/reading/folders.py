"""What lies in a folder, and names that stand once each in a file."""

from __future__ import annotations

from pathlib import Path

from embassay.errors import SourceError


class Once:
    """Names that stand once each in a file, with the line of each."""

    def __init__(self, path: Path, field: str):
        """Start with none."""
        self.path, self.field, self.lines = path, field, dict[str, int]()

    def add(self, name: str, line: int) -> str:
        """Return the name, or raise SourceError where it stands on an earlier line."""
        if name in self.lines:
            raise SourceError(f"{name!r} stands on line {self.lines[name]} already", self.path, line, self.field)
        self.lines[name] = line
        return name


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
