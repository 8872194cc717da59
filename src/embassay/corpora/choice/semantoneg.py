"""SemAntoNeg, and choice sets in its format: JSON lines with idx, label, input, three sentences.

Source: Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases", section 3. The
candidates are in the order antonym, polarity, paraphrase; ``label`` is the index of the paraphrase.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from embassay.core.samples.shapes import Choice, PartOfSpeech
from embassay.core.tables.records import has_columns, read_table
from embassay.core.tables.rows import Key, TableRow, Text, column
from embassay.core.types import Corpus
from embassay.corpora.io.changes import change

SHAPE = "choice"
recognises = has_columns("label", "input", "sentences", least=2)
ARTICLES = {"a", "an", "the"}
LONGEST = 3
"""The maximum number of words on one side of a pair."""


class ChoiceRow(TableRow):
    """An input and three candidates; ``label`` is the place of the paraphrase among them."""

    label: Annotated[int, Field(strict=True, ge=0, le=2)]
    input: Text
    sentences: Annotated[list[Text], Field(min_length=3, max_length=3)]
    id: Key = column("idx", default="")
    part_of_speech: PartOfSpeech = "adjective"
    pair: Key = ""
    negation: Key = ""


def load(source: str, name: str) -> Corpus[Choice]:
    """Read a file in SemAntoNeg's format.

    Parameters
    ----------
    source
        Path of the JSON lines file.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not a valid entry.
    """
    samples = []
    for row in read_table(Path(source)).select(ChoiceRow):
        paraphrase = row.sentences.pop(row.label)
        antonym, polarity = row.sentences
        pair = row.pair or pair_of(row.input, antonym)
        texts = (row.input, antonym, polarity, paraphrase)
        samples.append(Choice(row.key, *texts, row.part_of_speech, pair, row.negation))
    return Corpus(name, SHAPE, tuple(samples))


def pair_of(first: str, second: str) -> str:
    """Name the words in which two sentences differ, without articles: ``bad–good``, alphabetically."""
    _, words, other_words = change(first, second)
    return "–".join(sorted((_span_name(words), _span_name(other_words))))


def _span_name(span: list[str]) -> str:
    """Name a span of up to three words; a longer one is not a pair of words, and its text is not repeated here."""
    words = [word for word in span if word not in ARTICLES]
    if len(words) > LONGEST:
        return "(longer)"
    return " ".join(words) or "(nothing)"
