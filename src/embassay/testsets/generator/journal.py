"""A journal of a service's answers: each is written to disk on arrival, so that none is requested or paid for twice.

A line of JSON each, under a hash of the request. It holds neither the key, nor the address's user, nor the prompt.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from embassay.core.errors import OutputError
from embassay.models.services.chat import ChatAnswer


class Journal:
    """Answers by the hash of their request: in a file, or only in memory if no path is given.

    Attributes
    ----------
    answers
        The answers that were read or kept so far.
    """

    def __init__(self, path: Path | None = None):
        """Name the file; it is neither read nor made yet."""
        self.path = path
        self.answers: dict[str, ChatAnswer] = {}

    def read(self) -> None:
        """Read the file, if there is one; a line that is no answer is left out: a killed build may cut its last one."""
        if self.path is None or not self.path.is_file():
            return
        for line in self.path.read_bytes().splitlines():
            with suppress(ValueError, TypeError, LookupError, AttributeError):
                row = json.loads(line)
                request = row.pop("request")
                self.answers[request] = ChatAnswer(**row)

    def keep(self, request: str, answer: ChatAnswer) -> None:
        """Write an answer into the file.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        self.answers[request] = answer
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                # The line break comes first, because the line before may have been cut short.
                file.write(b"\n" + json.dumps({"request": request, **asdict(answer)}).encode())
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror}") from None
