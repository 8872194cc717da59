"""HEROS as released: a tab-separated table Original, Synonym, Antonym, Negation, Random, Typo, Negation.

Chiang et al. (2023), "Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS"; on the Hugging Face hub as
``dcml0714/Heros``. Of the two columns headed Negation, the one whose edits touch the synonym's place more often is
``negation_antonym`` (the chosen word is negated), the other ``negation_main`` (the main verb is).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from embassay.core.errors import first_line_of
from embassay.core.samples.shapes import EDITS, MinimalPairs
from embassay.core.tables.records import Table, by_name, delimited
from embassay.core.tables.rows import Stripped, TableRow, column
from embassay.core.types import Corpus
from embassay.corpora.io.changes import change

SHAPE = "minimal_pairs"
SOURCE = "a file of HEROS's form"
"""The fingerprint of the released table is not known here, so no file is said to be the release."""


class HerosRow(TableRow):
    """An original and its edits. The first column of negations is ``negation``, the second ``another``."""

    original: Stripped
    synonym: Stripped
    antonym: Stripped
    typo: Stripped
    random_mlm: Stripped = column("random")
    negation: Stripped
    another: Stripped


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return len({"original", "synonym", "antonym"} & set(_heads(first_line_of(head).split("\t")))) > 1


def load(source: str, name: str) -> Corpus[MinimalPairs]:
    """Read a file in HEROS's format.

    Parameters
    ----------
    source
        Path of the tab-separated file.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, ragged rows and empty cells.
    """
    path = Path(source)
    lines = delimited(path)
    _, header = next(lines, (1, []))
    heads = _heads(header)
    if heads.count("negation") == 2:
        heads[heads.index("negation", heads.index("negation") + 1)] = "another"
    records = [(number, by_name(heads, cells, path, number)) for number, cells in lines]
    rows = list(Table(path, tuple(heads), records).select(HerosRow))
    # For each column of negations, the number of rows whose negation changes the place of the synonym.
    first = sum(touches(row.original, row.synonym, row.negation) for row in rows)
    second = sum(touches(row.original, row.synonym, row.another) for row in rows)
    # The first of two that cannot be distinguished is read as negation_main.
    ordinal, names = "second", {"negation_main": "negation", "negation_antonym": "another"}
    if first > second:
        ordinal, names = "first", {"negation_main": "another", "negation_antonym": "negation"}
    note = (
        f"two columns Negation: the {ordinal} is negation_antonym (rows that change the synonym's place: "
        f"{first}, {second})"
    )
    samples = []
    for row in rows:
        edits = tuple((edit, getattr(row, names.get(edit, edit))) for edit in EDITS)
        samples.append(MinimalPairs(row.key, row.original, edits))
    return Corpus(name, SHAPE, tuple(samples), source=SOURCE, notes=(note,))


def touches(original: str, synonym: str, negation: str) -> bool:
    """Return whether a negation changes the place where the synonym differs from the original."""
    negated = change(original, negation)
    return negated.start <= change(original, synonym).start <= negated.start + len(negated.first)


def _heads(cells: Sequence[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]
