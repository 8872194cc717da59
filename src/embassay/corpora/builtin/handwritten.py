"""What the built-in corpora share: reading their tables, and their common metadata."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, TypeVar

from embassay.core.samples.base import Sample
from embassay.core.types import Corpus

S = TypeVar("S", bound=Sample)


def rows_of(file: str) -> list[dict[str, str]]:
    """Return the rows of a tab-separated table that ships with the package; quotation marks are ordinary characters."""
    text = files("embassay.core.data").joinpath(file).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def builtin_corpus(name: str, shape: str, samples: Iterable[S], *, source: str, **fields: Any) -> Corpus[S]:
    """Return a hand-written corpus; ``fields`` are further ones of it."""
    return Corpus(
        name,
        shape,
        tuple(samples),
        licence="CC-BY-4.0",
        source=f"hand-written for this package{source}",
        builtin=True,
        **fields,
    )
