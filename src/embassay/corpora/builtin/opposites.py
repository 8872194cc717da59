"""Built in: 70 hand-written quadruples with adjectives, verbs, adverbs and seven negation patterns.

SemAntoNeg has adjectives and ``not`` only, which its authors state as a limitation (Vahtola et al. 2022,
section 7). A quadruple is a sentence, its negation, its antonym and its negated antonym; each of the four
is the input in turn. For trying things out: too small for choosing a model.
"""

from __future__ import annotations

from embassay.corpora.builtin.handwritten import handwritten
from embassay.corpora.choice import semantoneg

SHAPE = "choice"
BUILTIN = True
load = handwritten("opposites.jsonl", semantoneg.load, ", each quadruple")
