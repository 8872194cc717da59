"""Built in: 250 hand-written sentences in 62 groups; all sentences of a group have the same meaning.

Made like the hand-made groups of White et al. (2015, section 4.2), under strict bidirectional entailment:
each sentence of a group says the same as every other one, no more and no less. Most groups come in families that
share their words and differ in who did what, in order, number, certainty or negation, so that words alone do not tell
them apart. For trying things out: too small for choosing a model.
"""

from __future__ import annotations

from embassay.corpora.builtin.handwritten import handwritten
from embassay.corpora.groups import groups

SHAPE = "groups"
BUILTIN = True
load = handwritten("paraphrases.tsv", groups.load, ", each group")
