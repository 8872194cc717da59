"""A journal of a service's answers: each is written to disk on arrival, so that none is requested or paid for twice.

A line of JSON each, under a hash of the request. It holds neither the key, nor the address's user, nor the prompt.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from threading import Lock

from embassay.core.errors import OutputError, SourceError
from embassay.models.services.chat import ChatAnswer

REQUEST = "request"
"""The field that holds the hash of the request; it comes first, so that a line is recognised by its beginning."""
BEGINNING = f'{{"{REQUEST}'.encode()


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
        # Whether the last line of the file was cut short: the build was killed, or the disk was full.
        self._is_cut = False
        self._lock = Lock()

    def read(self) -> None:
        """Read the file, if there is one; a line that was cut short is left out.

        Raises
        ------
        SourceError
            If the file is no journal, with the line.
        """
        if self.path is None or not self.path.is_file():
            return
        content = self.path.read_bytes()
        self._is_cut = bool(content) and not content.endswith(b"\n")
        for number, line in enumerate(content.splitlines(), 1):
            try:
                row = json.loads(line)
                request = row.pop(REQUEST)
                self.answers[request] = ChatAnswer(**row)
            except (ValueError, TypeError, LookupError, AttributeError):
                if not line.startswith(BEGINNING):
                    problem = "is not a line of a journal of answers; delete the line, or move the file away"
                    raise SourceError(problem, self.path, number) from None

    def keep(self, request: str, answer: ChatAnswer) -> None:
        """Write an answer into the file; several threads may do so at once.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        line = json.dumps({REQUEST: request, **asdict(answer)}).encode() + b"\n"
        with self._lock:
            self.answers[request] = answer
            if self.path is None:
                return
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("ab") as file:
                    file.write(b"\n" + line if self._is_cut else line)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                self._is_cut = True
                raise OutputError(f"{self.path}: cannot be written: {error.strerror}") from None
            self._is_cut = False
