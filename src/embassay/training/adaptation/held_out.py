"""The corpora of an adaptation as files with ``split``, so that any encoder can be measured on the test questions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path

from embassay.core.samples.retrieval import Question
from embassay.core.store.canonical import write
from embassay.core.types import Corpus, JsonObject
from embassay.run.outputs.exhibits import file_name
from embassay.training.adaptation.material import Material


def write_questions(folder: Path, material: Material) -> tuple[str, ...]:
    """Write each corpus in the form of the loader ``retrieval``, and return the sources of the test questions.

    Read back with ``split=test``, a file has the fingerprint of the corpus on which the variants are assayed; all other
    questions have the split ``train``.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    folder.mkdir(exist_ok=True)
    sources = []
    taken = set[str]()
    for corpus, test in zip(material.corpora, material.tests, strict=True):
        place = folder / f"{file_name(corpus.name, taken)}.jsonl"
        rows = _rows(corpus, {sample.id for sample in test.samples})
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        write(place, "".join(lines).encode())
        sources.append(f"{place},split=test")
    return tuple(sources)


def _rows(corpus: Corpus[Question], test: Collection[str]) -> Iterator[JsonObject]:
    """Yield the documents, then the questions."""
    for document in corpus.documents:
        yield {"document": document.id, "passages": document.passages, "shared": document.shared}
    for sample in corpus.samples:
        yield {
            "id": sample.id,
            "question": sample.question,
            "right": sample.right,
            "gains": sample.gains or None,
            "unit": sample.units,
            "split": "test" if sample.id in test else "train",
            # Without it, queries that a program made would pass for real questions.
            "source": corpus.source or None,
        }
