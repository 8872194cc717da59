"""Built in: hand-written originals with six one-word edits each, as in HEROS.

For trying things out: too small for choosing a model. The ``random_mlm`` edits were chosen by hand;
HEROS takes them from a masked language model.
"""

from __future__ import annotations

from embassay.core.samples.shapes import MinimalPairs
from embassay.core.types import Corpus
from embassay.corpora.builtin.handwritten import handwritten
from embassay.corpora.minimal_pairs import minimal_pairs

SHAPE = "minimal_pairs"
BUILTIN = True


def load(source: str, name: str) -> Corpus[MinimalPairs]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    return handwritten(name, "edits.jsonl", minimal_pairs.load, read_again=" (the random word too), each row")
