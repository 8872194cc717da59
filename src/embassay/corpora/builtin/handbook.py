"""Built in: the handbook of an invented sensor network, 301 sentences on 30 pages, and questions to them.

120 questions have an answer, 15 have none; sentences are what is found, pages are the units. For trying things out: too
small to choose a model by.
"""

from __future__ import annotations

import csv
from importlib.resources import files

from embassay.samples.retrieval import Document, Question
from embassay.types import Corpus

SHAPE = "retrieval"
BUILTIN = True


def load(source: str, name: str) -> Corpus[Question]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    sentences = _rows("handbook.tsv")
    page = {row["id"]: row["page"] for row in sentences}
    questions = []
    for row in _rows("handbook_questions.tsv"):
        right = tuple(row["right"].split())
        units = tuple(dict.fromkeys(f"page:{page[sentence]}" for sentence in right))
        questions.append(Question(row["id"], row["question"], right, units=units))
    unanswered = sum(not question.right for question in questions)
    return Corpus(
        name,
        SHAPE,
        tuple(questions),
        version="2",
        licence="CC-BY-4.0",
        source="hand-written for this package, each line re-read by a second reader",
        loader="handbook",
        builtin=True,
        notes=(f"{len(questions)} questions, {unanswered} of them unanswerable, on {len(set(page.values()))} pages",),
        documents=tuple(Document(row["id"], (row["sentence"],)) for row in sentences),
    )


def _rows(name: str) -> list[dict[str, str]]:
    text = files("embassay.data").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
