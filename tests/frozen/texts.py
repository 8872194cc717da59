"""Texts of the built-in corpora as users' files: a folder of pages, a table of questions, sentences, pairs."""

from __future__ import annotations

import csv
from pathlib import Path

from embassay.core.samples.shapes import Pair
from embassay.core.types import Corpus
from embassay.run.resolve import load_corpus

SCORES = {"synonym": 5.0, "typo": 4.0, "negation_antonym": 2.0, "negation_main": 1.5, "antonym": 1.0, "random_mlm": 0.0}
"""How similar an original and its edit are, from 0 to 5: an order that any encoder gets wrong in places."""
ORIGINALS = 30


def pages() -> dict[str, str]:
    """Return the pages of the handbook by their names, each with a title."""
    sentences: dict[str, list[str]] = {}
    for document in load_corpus("handbook").documents:
        sentences.setdefault(page_of(document.id), []).append(" ".join(document.passages))
    return {page: f"# The {page} of a network\n\n{' '.join(texts)}\n" for page, texts in sentences.items()}


def page_of(document: str) -> str:
    """Return the page that a sentence of the handbook is on."""
    return document.rpartition("-")[0]


def write_handbook(folder: Path) -> None:
    """Write the pages of the handbook into ``docs`` and its questions into ``questions.csv``."""
    (folder / "docs").mkdir()
    for page, text in pages().items():
        (folder / "docs" / f"{page}.md").write_text(text, encoding="utf-8")
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["id", "question", "document"])
        for sample in load_corpus("handbook").samples:
            right = sorted({page_of(document) for document in sample.right})
            table.writerow([sample.id, sample.question, ";".join(right)])


def sentences() -> list[str]:
    """Return the originals of the edits, the paraphrases, and the sentences of the handbook."""
    originals = [sample.original for sample in load_corpus("edits").samples]
    paraphrases = [sample.text for sample in load_corpus("paraphrases").samples]
    documents = [passage for document in load_corpus("handbook").documents for passage in document.passages]
    return [*originals, *paraphrases, *documents]


def scored_pairs() -> Corpus[Pair]:
    """Return originals and their edits as a corpus of pairs with a score."""
    pairs = []
    for sample in load_corpus("edits").samples[:ORIGINALS]:
        for edit, text in sample.edits:
            pairs.append(Pair(f"{sample.id}-{edit}", sample.original, text, SCORES[edit]))
    return Corpus("scored", "pairs", tuple(pairs))
