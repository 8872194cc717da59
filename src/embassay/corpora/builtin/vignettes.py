"""Built in: three-sentence documents of our own writing with the fusions of neighbours, nine samples each.

A stand-in for the machine-made fusions of Bansal et al. (2025): each fusion says everything that its two sentences
say, and nothing else. For trying things out: too small to choose a model by.
"""

from __future__ import annotations

import csv
from importlib.resources import files

from embassay.samples.composed import SENTENCES, of_document
from embassay.samples.composition import Composition
from embassay.types import Corpus

SHAPE = "composition"
BUILTIN = True


def load(source: str, name: str) -> Corpus[Composition]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    text = files("embassay.data").joinpath("vignettes.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    samples = (s for row in rows for s in of_document(row["id"], {field: row[field] for field in SENTENCES}))
    return Corpus(
        name,
        SHAPE,
        tuple(samples),
        version="2",
        licence="CC-BY-4.0",
        source="hand-written for this package, each document re-read by a second reader",
        loader="vignettes",
        builtin=True,
    )
