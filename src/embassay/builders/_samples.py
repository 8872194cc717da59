"""Samples as the JSON lines that the loaders of corpora read back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from embassay.builders._built import Built
from embassay.samples import Choice, Grouped, MinimalPairs, Sample

PARAPHRASE = 2
"""Where the paraphrase stands among the candidates of a line, as in SemAntoNeg (Vahtola et al. 2022)."""


def json_lines(built: Built) -> tuple[str, ...]:
    """Return a line of JSON for each sample, in the form of the loader of its shape."""
    rows = (_row(sample, built.ways) for sample in built.samples)
    return tuple(json.dumps(row, ensure_ascii=False) for row in rows)


def content_of(lines: Iterable[str]) -> bytes:
    """Return what a file of such lines holds."""
    return "".join(f"{line}\n" for line in lines).encode()


def name_of(file: str, content: bytes) -> str:
    """Return what a sheet calls a corpus: its file's name and 16 hexadecimal digits of its content."""
    return f"{file}@{hashlib.sha256(content).hexdigest()[:16]}"


def _row(sample: Sample, ways: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    if isinstance(sample, MinimalPairs):
        source = {name: ways[sample.id, name] for name, _ in sample.edits if (sample.id, name) in ways}
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
    raise TypeError(f"no form of lines for {type(sample).__name__}")
