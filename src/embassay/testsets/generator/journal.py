"""A journal of a service's answers: each is written to disk on arrival, so that none is requested or paid for twice.

A line of JSON each, under a hash of the request. It holds neither the key, nor the address's user, nor the prompt.
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

from embassay.core.errors import OutputError, SourceError
from embassay.models.services.chat import ChatAnswer

REQUEST = "request"
"""The field that holds the hash of the request."""
BEGINNING = f'{{"{REQUEST}"'.encode()
_TYPES = {field.name: type(field.default) for field in fields(ChatAnswer)} | {REQUEST: str}


class Journal:
    """Answers by the hash of their request: in a file, or only in memory if no path is given.

    Attributes
    ----------
    path
        The file, or None.
    answers
        The answers that were read or kept so far.
    """

    def __init__(self, path: Path | None = None):
        """Name the file; it is neither read nor made yet."""
        self.path = path
        self.answers: dict[str, ChatAnswer] = {}
        self._file: FileIO | None = None
        self._lock = Lock()

    def read(self) -> None:
        """Read the file, if there is one, without a lock.

        Raises
        ------
        SourceError
            If the file is no journal, with the line.
        """
        if self.path is not None and self.path.is_file():
            try:
                content = self.path.read_bytes()
            except OSError as error:
                raise SourceError(f"cannot be read: {error.strerror}", self.path) from None
            self._add_lines(content)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the file and read it; an incomplete last line, of a build that was killed, is removed.

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
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            opened = FileIO(self.path, "a+")
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror}") from None
        with closing(opened) as file:
            _lock(file, self.path)
            try:
                file.seek(0)
                file.truncate(self._add_lines(file.readall()))
                self._file = file
                yield
            finally:
                with self._lock:
                    self._file = None
                    _remove_empty(file, self.path)

    def keep(self, request: str, answer: ChatAnswer) -> None:
        """Write an answer into the file; several threads may do so at once.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        # The request comes first: a file is recognised as a journal by its beginning.
        row = {REQUEST: request, **asdict(answer)}
        line = json.dumps(row).encode() + b"\n"
        with self._lock:
            self.answers[request] = answer
            if self._file is not None and self.path is not None:
                _append(self._file, line, self.path)

    def _add_lines(self, content: bytes) -> int:
        """Add the answers of a journal's content, and return the number of bytes in its complete lines."""
        lines = content.splitlines(keepends=True)
        end = 0
        for number, line in enumerate(lines, 1):
            try:
                request, answer = _parsed(line)
            except ValueError:
                # The last line may be incomplete: the build was killed, or the machine went down, while it was written.
                is_last = number == len(lines)
                is_other_file = number == 1 and line[: len(BEGINNING)] != BEGINNING[: len(line)]
                if is_last and not is_other_file:
                    break
                problem = "is not a line of a journal of answers; delete the line, or move the file away"
                raise SourceError(problem, str(self.path), number) from None
            self.answers[request] = answer
            end += len(line)
        return end


def _parsed(line: bytes) -> tuple[str, ChatAnswer]:
    """Return the hash of the request and the answer of a line.

    Raises
    ------
    ValueError
        If it is incomplete or something else.
    """
    row = json.loads(line)
    if not line.endswith(b"\n") or not isinstance(row, dict):
        raise ValueError("not a line of a journal")
    if {name: type(value) for name, value in row.items()} != _TYPES:
        raise ValueError("not a line of a journal")
    return row.pop(REQUEST), ChatAnswer(**row)


def _append(file: FileIO, line: bytes, path: Path) -> None:
    """Write a line to the disk; remove its beginning where that fails."""
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
    """Lock a file until it is closed, where the system can; raise OutputError if another build holds it."""
    if sys.platform == "win32":
        return
    import fcntl

    held_by_another = OutputError(f"{path}: another build is writing it; wait, or choose another name with -o")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise held_by_another from None
    except OSError:
        # Some network disks have no locks.
        return
    # Another build may have removed the file, empty, between its opening and its locking.
    try:
        is_at_path = os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        is_at_path = False
    if not is_at_path:
        raise held_by_another
