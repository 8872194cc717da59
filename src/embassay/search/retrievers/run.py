"""The run of any system in TREC's format: ``run:FILE``, lines of question, Q0, document, rank, score and name.

As trec_eval does, it orders the documents of a question by their scores, whatever the ranks say; equal scores are ties.
Ids are those of the corpus; an id with a percent sign may be one that ``embassay report --format trec`` has encoded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from embassay.core.errors import SourceError, quoted
from embassay.core.store.hashes import sha256_of
from embassay.core.store.paths import source_path
from embassay.core.tables.texts import read_text
from embassay.core.types import Runtime, content_hash
from embassay.search.retrievers.base import Lists, Questions, Retriever

TARGET = "FILE"
COLUMNS = "question, Q0, document, rank, score and name"


def create(target: str, runtime: Runtime) -> RunFile:
    """Read the file.

    Raises
    ------
    SourceError
        With file and line, for a line of another form, a score that is no number, or a document that is listed twice
        for a question.
    """
    path = source_path(target)
    scores = read_run(path)
    content = content_hash(["run", sha256_of(path)])
    return RunFile(name=path.stem, spec=f"run:{target}", fingerprint=content, scores=scores)


@dataclass(frozen=True, kw_only=True)
class RunFile(Retriever):
    """The lists in a file.

    Attributes
    ----------
    scores
        By question, the score of each document.
    """

    scores: Mapping[str, Mapping[str, float]] = field(repr=False)

    def retrieve(self, questions: Questions) -> Iterator[Lists]:
        """Yield the list of each question that the file has."""
        encoded = {unquote(name): name for name in self.scores if "%" in name}
        for row, sample in enumerate(questions.samples):
            scores = self.scores.get(sample.id) or self.scores.get(encoded.get(sample.id, ""))
            if scores:
                ordered = sorted(scores, key=lambda name: -scores[name])
                ids = [name if name in questions.place_of else unquote(name) for name in ordered]
                # How long the system took is not in the file.
                yield questions.listed(row, ids, [scores[name] for name in ordered], math.nan)


def read_run(path: Path) -> dict[str, dict[str, float]]:
    """Return by question the score of each document of a run file."""
    scores: dict[str, dict[str, float]] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        # NaN stays where the line has other than six fields, or its score is no number.
        score = math.nan
        with suppress(ValueError):
            question, _, document, _, text, _ = line.split()
            score = float(text)
        if not math.isfinite(score):
            raise SourceError(f"must be {COLUMNS}, with a finite score; it is {quoted(line)}", path, number)
        of_question = scores.setdefault(question, {})
        if document in of_question:
            raise SourceError(f"{quoted(document)} is listed twice for {quoted(question)}", path, number)
        of_question[document] = score
    if not scores:
        raise SourceError(f"it has no line of {COLUMNS}", path)
    return scores
