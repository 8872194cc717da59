"""Built in: 250 sentences of our own writing in 62 groups, each of which means one thing.

In the manner of the groups that White et al. (2015, section 4.2) made by hand, under strict bidirectional entailment:
each sentence of a group says all that every other one says, and nothing else. Most groups come in families that
share their words and differ in who did what, in order, number, certainty or negation, so that words alone do not tell
them apart. For trying things out: too small to choose a model by.
"""

from __future__ import annotations

from embassay.corpora.builtin.shared import builtin_corpus, rows_of
from embassay.samples.groups import Grouped
from embassay.types import Corpus

SHAPE = "groups"
BUILTIN = True


def load(source: str, name: str) -> Corpus[Grouped]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    samples = [Grouped(row["id"], row["sentence"], row["group"]) for row in rows_of("paraphrases.tsv")]
    source = ", each group re-read by a second reader"
    return builtin_corpus(name, "paraphrases", SHAPE, samples, version="1", source=source)
