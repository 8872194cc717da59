"""Built in: 70 hand-written quadruples with adjectives, verbs, adverbs and seven negation patterns.

SemAntoNeg has adjectives and ``not`` only, which its authors state as a limitation (Vahtola et al. 2022,
section 7). A quadruple is a sentence, its negation, its antonym and its negated antonym; each of the four
is the input in turn. For trying things out: too small for choosing a model.
"""

from __future__ import annotations

from embassay.core.samples.shapes import Choice
from embassay.core.types import Corpus
from embassay.corpora.builtin.handwritten import handwritten
from embassay.corpora.choice import semantoneg

SHAPE = "choice"
BUILTIN = True


def load(source: str, name: str) -> Corpus[Choice]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    return handwritten(name, "opposites.jsonl", semantoneg.load, read_again=", each quadruple")
