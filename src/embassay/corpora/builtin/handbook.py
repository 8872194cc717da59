"""Built in: the handbook of an invented sensor network, 301 sentences on 30 pages, and questions about it.

120 questions have an answer, 15 have none. Documents are sentences, units are pages. For trying things out: too
small for choosing a model.
"""

from __future__ import annotations

import csv
from pathlib import Path

from embassay.core.grouping import grouped
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.corpora.builtin.handwritten import builtin_corpus, rows_of

SHAPE = "retrieval"
BUILTIN = True
NOTE = "135 questions, 15 of them unanswerable, on 30 pages"


def load(source: str, name: str) -> Corpus[Question]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    sentences = rows_of("handbook.tsv")
    page_of = {row["id"]: row["page"] for row in sentences}
    questions = []
    for row in rows_of("handbook_questions.tsv"):
        right = tuple(row["right"].split())
        # Each page once, in order.
        units = tuple(dict.fromkeys(f"page:{page_of[sentence]}" for sentence in right))
        questions.append(Question(row["id"], row["question"], right, units=units))
    checked = ", each line re-read by a second reader"
    documents = tuple(Document(row["id"], (row["sentence"],)) for row in sentences)
    return builtin_corpus(name, SHAPE, questions, source=checked, notes=(NOTE,), documents=documents)


def write_files(folder: Path) -> Path:
    """Write the pages into ``docs`` and the questions beside them, as users have them, and return the latter's path."""
    documents = folder / "docs"
    documents.mkdir(parents=True, exist_ok=True)
    for page, rows in grouped(rows_of("handbook.tsv"), lambda row: row["page"]).items():
        text = " ".join(row["sentence"] for row in rows)
        (documents / f"{page}.md").write_text(f"{text}\n", encoding="utf-8")
    questions = folder / "questions.csv"
    with questions.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "document"])
        for sample in load("", "").samples:
            writer.writerow([sample.question, " ".join(unit.removeprefix("page:") for unit in sample.units)])
    return questions
