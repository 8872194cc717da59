"""Built in: originals of our own writing with six one-word edits each, in the manner of HEROS.

For trying things out: too small to choose a model by. The ``random_mlm`` edits are hand-chosen words that fit, where
HEROS takes a masked language model's.
"""

from __future__ import annotations

from embassay.corpora.builtin.shared import builtin_corpus, rows_of
from embassay.samples.minimal_pairs import EDITS, MinimalPairs
from embassay.types import Corpus

SHAPE = "minimal_pairs"
BUILTIN = True


def load(source: str, name: str) -> Corpus[MinimalPairs]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    samples = []
    for row in rows_of("edits.tsv"):
        edits = tuple((edit, row[edit]) for edit in EDITS)
        samples.append(MinimalPairs(row["word"], row["original"], edits))
    source = " (the random word too), each row re-read by a second reader"
    return builtin_corpus(name, "edits", SHAPE, samples, version="2", source=source)
