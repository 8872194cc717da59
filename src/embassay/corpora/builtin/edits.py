"""Built in: hand-written originals with six one-word edits each, as in HEROS.

For trying things out: too small for choosing a model. The ``random_mlm`` edits were chosen by hand;
HEROS takes them from a masked language model.
"""

from __future__ import annotations

from embassay.core.samples.shapes import EDITS, MinimalPairs
from embassay.core.types import Corpus
from embassay.corpora.builtin.handwritten import builtin_corpus, rows_of

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
    return builtin_corpus(name, SHAPE, samples, source=source)
