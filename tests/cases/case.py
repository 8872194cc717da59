"""A case: small files as users have them, a command, and what the screen has to say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from embassay.cli.app import exit_code_of

NEVER = ("Traceback", r"(Error|Warning|InvalidArgument)\b", r"\bnan\b")
"""What no screen shows."""


@dataclass(frozen=True)
class Case:
    """The files of a user, a command, and what the screen has to say.

    Attributes
    ----------
    shows, hides
        Regular expressions: all of ``shows`` match the screen, none of ``hides`` does. Any white space on the screen
        is one space, so that line breaks do not matter.
    files
        Contents by path: a text, bytes, the arrays of an .npz file, or the table of a Parquet file.
    command
        What follows ``embassay``.
    code
        The exit code; several if the user is served either way.
    """

    shows: str | tuple[str, ...]
    files: Mapping[str, Any] = field(default_factory=dict)
    command: str = "look -c m=docs,questions=q.csv"
    hides: str | tuple[str, ...] = ()
    code: int | tuple[int, ...] = 0

    def check(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Write the files into the current folder, run the command, and compare exit code and screen."""
        for name, content in self.files.items():
            write(Path(name), content)
        code = exit_code_of(self.command.split())
        screen = " ".join("".join(capsys.readouterr()).split())
        assert code in (self.code if isinstance(self.code, tuple) else (self.code,)), screen
        for pattern in _several(self.shows):
            assert re.search(pattern, screen), f"not on the screen: {pattern}\n{screen}"
        for pattern in (*_several(self.hides), *NEVER):
            assert not re.search(pattern, screen), f"on the screen: {pattern}\n{screen}"


def _several(patterns: str | tuple[str, ...]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else patterns


def each(cases: Mapping[str, Any]) -> pytest.MarkDecorator:
    """Make the test run for each case."""
    return pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in cases.items()])


def write(path: Path, content: Any) -> None:
    """Write a file and the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_bytes(content.encode())
    elif isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, pl.DataFrame):
        content.write_parquet(path)
    else:
        np.savez(path, **content)


def lines(rows: Iterable[object]) -> str:
    """Return JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def searched(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the files of a corpus: for each question the text of its only right document."""
    documents = [{"id": f"d{number}", "text": text} for number, text in enumerate(texts.values())]
    questions = [{"question": question, "document": f"d{number}"} for number, question in enumerate(texts)]
    return {"docs.jsonl": lines(documents), "q.jsonl": lines(questions)}


TEXTS = {
    "kettle boils water": "The kettle boils water in two minutes.",
    "boots keep feet dry": "Rubber boots keep feet dry in rain.",
    "sundial shows the hour": "A sundial shows the hour without a clock.",
    "library closes at nine": "The library closes at nine in the evening.",
    "bridge connects villages": "The new bridge connects two villages.",
    "honey keeps years": "Honey keeps for many years.",
    "train leaves station": "The train leaves from the east station.",
    "doctor recommends walking": "A doctor recommends half an hour of walking.",
    "bakery opens weekends": "The bakery opens only on weekends.",
    "lake freezes winter": "The lake freezes in winter for skating.",
    "museum closed Mondays": "The museum is closed on Mondays.",
    "zebra crossing painted": "A zebra crossing was painted in April.",
}
"""A question and its document: all words of a question are in its document and, together, in no other."""
CORPUS = searched(TEXTS)
RUN = "run -c m=docs.jsonl,questions=q.jsonl,passages=document -d retrieval,k=1 --no-cache --no-baselines -o out "


def right(label: str) -> tuple[str, str]:
    """Return what the screen shows of an encoder that finds every document."""
    return "12 questions, 12 documents", rf" {label} 100\.0%"
