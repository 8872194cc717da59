"""What a builder asks a generator, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from embassay.corpora.io.texts import read_text
from embassay.errors import SourceError
from embassay.testsets.base import Advance, Material, silent


@dataclass(frozen=True)
class Request:
    """A prompt, complete, under a key that is unique in its build and the same in every one."""

    key: str
    prompt: str


@dataclass(frozen=True)
class Reply:
    """What came of a request: a text, or a problem.

    Attributes
    ----------
    problem
        A short phrase for people, which is counted; empty where there is a text.
    """

    key: str
    text: str = ""
    problem: str = ""


class Generator(Protocol):
    """Writes what prompts ask for."""

    @property
    def name(self) -> str:
        """Model and host, for cards."""
        ...

    def replies(self, requests: Sequence[Request], advance: Advance = silent) -> tuple[Reply, ...]:
        """Return a reply to each request, in their order."""
        ...

    def material(self) -> Material:
        """Return what it is, for the data card."""
        ...

    def notes(self) -> tuple[str, ...]:
        """Return what it took so far, one sentence each."""
        ...


def read_prompt(path: Path) -> str:
    """Read a prompt of the user's own from a text file.

    Raises
    ------
    SourceError
        If the file cannot be read, or is blank.
    """
    text = read_text(path)
    if not text.strip():
        raise SourceError("no prompt in it; write what the generator is to do", path)
    return text
