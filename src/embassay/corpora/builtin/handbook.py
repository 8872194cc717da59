"""Built in: the handbook of an invented sensor network, 301 sentences on 30 pages, and questions about it.

120 questions have an answer, 15 have none. Documents are sentences, units are pages. For trying things out: too
small for choosing a model.
"""

from __future__ import annotations

import csv
from pathlib import Path

from embassay.core.grouping import grouped
from embassay.corpora.builtin.handwritten import handwritten
from embassay.corpora.retrieval import retrieval

SHAPE = "retrieval"
BUILTIN = True
NOTE = "135 questions, 15 of them unanswerable, on 30 pages"
load = handwritten("handbook.jsonl", retrieval.load, ", each line", NOTE)


def write_files(folder: Path) -> Path:
    """Write the pages into ``docs`` and the questions beside them, as users have them, and return the latter's path."""
    pages = folder / "docs"
    pages.mkdir(parents=True, exist_ok=True)
    corpus = load("", "")
    # The id of a sentence is that of its page, and its number.
    sentences_of = grouped(corpus.documents, lambda document: document.id.rpartition("-")[0])
    for page, sentences in sentences_of.items():
        text = " ".join(sentence.whole for sentence in sentences)
        (pages / f"{page}.md").write_text(f"{text}\n", encoding="utf-8")
    questions = folder / "questions.csv"
    with questions.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "document"])
        for sample in corpus.samples:
            writer.writerow([sample.question, " ".join(unit.removeprefix("page:") for unit in sample.units)])
    return questions
