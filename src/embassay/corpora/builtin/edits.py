"""Built in: originals of our own writing with six one-word edits each, in the manner of HEROS.

For trying things out: too small to choose a model by. The ``random_mlm`` edits are hand-chosen words that fit, where
HEROS takes a masked language model's.
"""

from __future__ import annotations

import csv
from importlib.resources import files

from embassay.samples.minimal_pairs import EDITS, MinimalPairs
from embassay.types import Corpus

SHAPE = "minimal_pairs"
BUILTIN = True


def load(source: str, name: str) -> Corpus[MinimalPairs]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    text = files("embassay.data").joinpath("edits.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return Corpus(
        name,
        SHAPE,
        tuple(MinimalPairs(row["word"], row["original"], tuple((edit, row[edit]) for edit in EDITS)) for row in rows),
        version="2",
        licence="CC-BY-4.0",
        source="hand-written for this package (the random word too), each row re-read by a second reader",
        loader="edits",
        builtin=True,
    )
