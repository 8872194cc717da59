"""Built in: 250 sentences of our own writing in 62 groups, each of which means one thing.

In the manner of the groups that White et al. (2015, section 4.2) made by hand, under strict bidirectional entailment:
each sentence of a group says all that every other one says, and nothing else. Most groups come in families that
share their words and differ in who did what, in order, number, certainty or negation, so that words alone do not tell
them apart. For trying things out: too small to choose a model by.
"""

from __future__ import annotations

import csv
from importlib.resources import files

from embassay.samples.groups import Grouped
from embassay.types import Corpus

SHAPE = "groups"
BUILTIN = True


def load(source: str, name: str) -> Corpus[Grouped]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    text = files("embassay.data").joinpath("paraphrases.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return Corpus(
        name,
        SHAPE,
        tuple(Grouped(row["id"], row["sentence"], row["group"]) for row in rows),
        version="1",
        licence="CC-BY-4.0",
        source="hand-written for this package, each group re-read by a second reader",
        loader="paraphrases",
        builtin=True,
    )
