"""One corpus whose documents are cut in several ways: the same questions and right documents, other passages.

``docs=./docs,passages=[paragraph,100]`` is loaded once for each value. How documents are cut belongs to the candidate:
each encoder on each cut is one, ``m,passages=100``, on the corpus ``docs``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from embassay.core.errors import SpecError
from embassay.core.grouping import grouped
from embassay.core.randomness import generator
from embassay.core.types import AnyCorpus
from embassay.run.resolve import load_corpus
from embassay.run.runs.folder import item_hash
from embassay.run.specs import Spec, as_spec, list_options

VARYING = "passages"
"""The option of a corpus that may be a list: it changes neither the questions nor their right documents."""


def joined_setting(*parts: str) -> str:
    """Join labels and settings with commas; empty ones are left out."""
    return ",".join(part for part in parts if part)


def load_cuts(source: str | Spec, *, follow_links: bool = False) -> list[AnyCorpus]:
    """Load the corpus of a spec, once for each way to cut its documents where ``passages`` is a list.

    Raises
    ------
    SpecError
        If the list is empty.
    SourceError
        If a file or folder cannot be read.
    """
    spec = as_spec(source, "corpus")
    values = list_options(spec).get(VARYING)
    if values is None:
        return [load_corpus(spec, follow_links=follow_links)]
    if not values:
        raise SpecError(f"corpus {spec.head!r}: the list of option {VARYING!r} is empty")
    cuts = []
    for value in values:
        corpus = load_corpus(spec, follow_links=follow_links, passages=value)
        cuts.append(replace(corpus, cut=f"{VARYING}={value}"))
    return cuts


def check_cuts(cuts: Sequence[AnyCorpus]) -> None:
    """Raise SpecError unless all cuts have the same questions, right documents and documents, each with its id."""
    contents = []
    for cut in cuts if len(cuts) > 1 else ():
        questions = [(sample.id, item_hash(sample)) for sample in cut.samples]
        contents.append((questions, [document.id for document in cut.documents]))
        if contents[-1] != contents[0]:
            raise SpecError(
                f"corpus {cut.name!r}: {cuts[0].cut} and {cut.cut} do not have the same questions and documents, so "
                "they cannot be compared; give questions=FILE with the ids of whole documents"
            )


def limited(corpora: Sequence[AnyCorpus], limit: int | None, seed: int) -> list[AnyCorpus]:
    """Keep at most ``limit`` randomly chosen units of each corpus, each whole, the same questions in all its cuts."""
    smaller: list[AnyCorpus] = []
    for cuts in by_name(corpora).values():
        unit = cuts[0].units
        number = int(unit.max(initial=-1)) + 1
        if limit is None or limit >= number:
            smaller += cuts
            continue
        chosen_units = generator(seed, "limit", cuts[0].fingerprint).choice(number, size=limit, replace=False)
        is_kept = np.isin(unit, chosen_units)
        note = f"limited to {limit} of {number} units, chosen at random with seed {seed}"
        for corpus in cuts:
            samples = tuple(itertools.compress(corpus.samples, is_kept))
            smaller.append(replace(corpus, samples=samples, notes=(*corpus.notes, note)))
    return smaller


def by_name(corpora: Iterable[AnyCorpus]) -> dict[str, list[AnyCorpus]]:
    """Return the cuts of each corpus by its label."""
    return grouped(corpora, lambda corpus: corpus.name)
