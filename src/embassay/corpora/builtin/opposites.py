"""Built in: 70 quadruples of our own writing with adjectives, verbs, adverbs and seven negation patterns.

SemAntoNeg has adjectives and ``not`` only, which its authors name as a limit (Vahtola et al. 2022,
section 7). A quadruple is a sentence, its negation, its antonym and its negated antonym; each of the four
is the input in turn. For trying things out: too small to choose a model by.
"""

from __future__ import annotations

import csv
from importlib.resources import files

from embassay.samples.choice import Choice
from embassay.types import Corpus

SHAPE = "choice"
BUILTIN = True
INPUTS = (
    ("sentence", "antonym_sentence", "negated", "negated_antonym"),
    ("negated", "negated_antonym", "sentence", "antonym_sentence"),
    ("antonym_sentence", "sentence", "negated_antonym", "negated"),
    ("negated_antonym", "negated", "antonym_sentence", "sentence"),
)
"""For each input of a quadruple: the columns of input, antonym, polarity and paraphrase."""


def load(source: str, name: str) -> Corpus[Choice]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    text = files("embassay.data").joinpath("opposites.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return Corpus(
        name,
        SHAPE,
        tuple(sample for number, row in enumerate(rows) for sample in _quadruple(number, row)),
        version="1",
        licence="CC-BY-4.0",
        source="hand-written for this package, each quadruple re-read by a second reader",
        loader="opposites",
        builtin=True,
    )


def _quadruple(number: int, row: dict[str, str]) -> list[Choice]:
    pair = "–".join(sorted((row["word"], row["antonym"])))
    return [
        Choice(
            f"{number}.{place}",
            input=row[given],
            antonym=row[antonym],
            polarity=row[polarity],
            paraphrase=row[paraphrase],
            part_of_speech=row["part_of_speech"],
            pair=pair,
            negation=row["negation"],
        )
        for place, (given, antonym, polarity, paraphrase) in enumerate(INPUTS)
    ]
