"""Answers of a service, kept on disk as soon as they come, so that none is asked or paid for twice.

A line of JSON each, under a hash of what was asked. Nothing of the key, the address's user or the prompt is in it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, fields
from io import FileIO
from pathlib import Path
from threading import Lock

from embassay.endpoint.chat import Answer
from embassay.errors import OutputError, SourceError

REQUEST = "request"
"""The field that holds the hash of what was asked."""
BEGINNING = f'{{"{REQUEST}"'.encode()
_TYPES = {field.name: type(field.default) for field in fields(Answer)} | {REQUEST: str}


class Journal:
    """Answers by the hash of what was asked: in a file, or where no path is given in memory only.

    Attributes
    ----------
    answers
        Those that are known.
    """

    def __init__(self, path: Path | None = None):
        """Name the file; it is neither read nor made yet."""
        self.path = path
        self.answers: dict[str, Answer] = {}
        self._file: FileIO | None = None
        self._lock = Lock()

    def read(self) -> None:
        """Read what the file has, without keeping others from it; none where there is no file.

        Raises
        ------
        SourceError
            If the file is no journal, with the line.
        """
        if self.path is not None and self.path.is_file():
            try:
                self._take(self.path.read_bytes())
            except OSError as error:
                raise SourceError(f"cannot be read: {error.strerror}", self.path) from None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the file alone and read it; a line that was cut short when a build was killed is taken off its end.

        A file that stays empty is removed.

        Raises
        ------
        OutputError
            If another build holds it, or it cannot be written to.
        SourceError
            If it is no journal, with the line.
        """
        if self.path is None:
            yield
            return
        with closing(self._opened(self.path)) as file:
            _lock(file, self.path)
            try:
                file.seek(0)
                file.truncate(self._take(file.readall()))
                self._file = file
                yield
            finally:
                with self._lock:
                    self._file = None
                    _remove_empty(file, self.path)

    def keep(self, request: str, answer: Answer) -> None:
        """Write an answer down; several threads may do so at once.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        line = json.dumps({REQUEST: request, **asdict(answer)}).encode() + b"\n"
        with self._lock:
            self.answers[request] = answer
            if self._file is not None and self.path is not None:
                _append(self._file, line, self.path)

    def _opened(self, path: Path) -> FileIO:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return FileIO(path, "a+")
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from None

    def _take(self, content: bytes) -> int:
        """Take in the answers of a journal's content and return the bytes that are whole lines of it."""
        lines, end = content.splitlines(keepends=True), 0
        for number, line in enumerate(lines, 1):
            try:
                request, answer = _parsed(line)
            except ValueError:
                # The last line may be damaged: the build was killed, or the machine went down, while it was written.
                if number < len(lines) or (number == 1 and line[: len(BEGINNING)] != BEGINNING[: len(line)]):
                    problem = "is no line of a journal of answers; take the line out, or move the file away"
                    raise SourceError(problem, str(self.path), number) from None
                break
            self.answers[request] = answer
            end += len(line)
        return end


def _parsed(line: bytes) -> tuple[str, Answer]:
    """Read a line.

    Raises
    ------
    ValueError
        If it is damaged or something else.
    """
    row = json.loads(line)
    if not line.endswith(b"\n") or not isinstance(row, dict) or {n: type(v) for n, v in row.items()} != _TYPES:
        raise ValueError("not a line of a journal")
    return row.pop(REQUEST), Answer(**row)


def _append(file: FileIO, line: bytes, path: Path) -> None:
    """Write a line to the disk; where that fails, take the beginning of it off again."""
    end = file.seek(0, os.SEEK_END)
    try:
        if file.write(line) != len(line):
            raise OSError(None, "the disk is full")
        os.fsync(file.fileno())
    except OSError as error:
        with suppress(OSError):
            file.truncate(end)
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from None


def _remove_empty(file: FileIO, path: Path) -> None:
    """Remove a file that nothing was written into; Windows closes it first."""
    if file.seek(0, os.SEEK_END):
        return
    if sys.platform == "win32":
        file.close()
    with suppress(OSError):
        path.unlink()


def _lock(file: FileIO, path: Path) -> None:
    """Keep other builds from a file until it is closed, where the system can."""
    if sys.platform == "win32":
        return
    import fcntl

    taken = OutputError(f"{path}: another build is writing it; wait for its end, or name another -o")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise taken from None
    except OSError:
        return
    if not _stands_at(file, path):
        raise taken


def _stands_at(file: FileIO, path: Path) -> bool:
    """Say whether a file is still the one at its path: another build may have removed it, empty, at its end."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False
