"""Built in: 70 hand-written quadruples with adjectives, verbs, adverbs and seven negation patterns.

SemAntoNeg has adjectives and ``not`` only, which its authors state as a limitation (Vahtola et al. 2022,
section 7). A quadruple is a sentence, its negation, its antonym and its negated antonym; each of the four
is the input in turn. For trying things out: too small for choosing a model.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.samples.shapes import Choice
from embassay.core.tables.records import read_table
from embassay.core.types import Corpus
from embassay.corpora.builtin.handwritten import handwritten

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
    return handwritten(name, "opposites.tsv", _of_quadruples, read_again=", each quadruple")


def _of_quadruples(source: str, name: str) -> Corpus[Choice]:
    """Return four samples of each row of a table."""
    samples = []
    for number, (_, row) in enumerate(read_table(Path(source)).records):
        pair = "–".join(sorted((row["word"], row["antonym"])))
        for place, columns in enumerate(INPUTS):
            text, antonym, polarity, paraphrase = (row[column] for column in columns)
            kind, negation = row["part_of_speech"], row["negation"]
            samples.append(Choice(f"{number}.{place}", text, antonym, polarity, paraphrase, kind, pair, negation))
    return Corpus(name, SHAPE, tuple(samples))
