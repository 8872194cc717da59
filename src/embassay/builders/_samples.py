"""Samples as the JSON lines that the loaders of corpora read back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from embassay.builders._built import Built
from embassay.samples.base import Sample
from embassay.samples.choice import Choice
from embassay.samples.composition import Composition
from embassay.samples.groups import Grouped
from embassay.samples.minimal_pairs import MinimalPairs
from embassay.samples.retrieval import Question

PARAPHRASE = 2
"""Where the paraphrase stands among the candidates of a line, as in SemAntoNeg (Vahtola et al. 2022)."""


def json_lines(built: Built) -> tuple[str, ...]:
    """Return a line of JSON for each document, then for each sample, in the form of the loader of its shape."""
    return tuple(json.dumps(row, ensure_ascii=False) for row in _rows(built))


def content_of(lines: Iterable[str]) -> bytes:
    """Return what a file of such lines holds."""
    return "".join(f"{line}\n" for line in lines).encode()


def name_of(file: str, content: bytes) -> str:
    """Return what a sheet calls a corpus: its file's name and 16 hexadecimal digits of its content."""
    return f"{file}@{hashlib.sha256(content).hexdigest()[:16]}"


def _rows(built: Built) -> Iterator[dict[str, Any]]:
    for document in built.documents:
        yield {"document": document.id, "passages": list(document.passages)}
    yield from (_row(sample, built) for sample in built.samples)


def _row(sample: Sample, built: Built) -> dict[str, Any]:
    if isinstance(sample, MinimalPairs):
        source = {name: built.ways[sample.id, name] for name, _ in sample.edits if (sample.id, name) in built.ways}
        more: dict[str, Any] = {"unit": sample.group} if sample.group else {}
        more |= {"source": source} if source else {}
        return {"id": sample.id, "original": sample.original, "edits": dict(sample.edits), **more}
    if isinstance(sample, Choice):
        return {
            "idx": sample.id,
            "label": PARAPHRASE,
            "input": sample.input,
            "sentences": [sample.antonym, sample.polarity, sample.paraphrase],
            "part_of_speech": sample.part_of_speech,
            "pair": sample.pair,
            "negation": sample.negation,
        }
    if isinstance(sample, Grouped):
        return {"id": sample.id, "sentence": sample.text, "group": sample.group}
    if isinstance(sample, Composition):
        return _composition(sample, built)
    if isinstance(sample, Question):
        return _question(sample, built)
    raise TypeError(f"no form of lines for {type(sample).__name__}")


def _composition(sample: Composition, built: Built) -> dict[str, Any]:
    told = {
        "unit": sample.group,
        "mirrored": sample.mirrored,
        "filtered_with": list(built.filtered_with),
        "source": built.ways.get((sample.id, sample.operator), ""),
    }
    given = {"id": sample.id, "operator": sample.operator, "a": sample.a, "b": sample.b, "target": sample.target}
    return given | {name: value for name, value in told.items() if value}


def _question(sample: Question, built: Built) -> dict[str, Any]:
    told = {
        "gains": list(sample.gains),
        "unit": sample.unit if sample.units else "",
        "split": built.splits.get(sample.id, ""),
        "answer": built.answers.get(sample.id, ""),
        "source": built.ways.get((sample.id, "question"), ""),
    }
    given = {"id": sample.id, "question": sample.question, "right": list(sample.right)}
    return given | {name: value for name, value in told.items() if value}
