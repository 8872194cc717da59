"""HEROS as released: a tab-separated table Original, Synonym, Antonym, Negation, Random, Typo, Negation.

Chiang et al. (2023), "Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS"; on the Hugging Face hub as
``dcml0714/Heros``. Of the two columns headed Negation, the one whose edits touch the synonym's place more often is
``negation_antonym`` (the chosen word is negated), the other ``negation_main`` (the main verb is).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from embassay.core.errors import SourceError, listed
from embassay.core.samples.minimal_pairs import EDITS, MinimalPairs
from embassay.core.tables.records import by_name, delimited, first_line
from embassay.core.types import Corpus
from embassay.corpora.io.changes import change

SHAPE = "minimal_pairs"
SOURCE = "a file of HEROS's form"
"""The fingerprint of the released table is not known here, so no file is said to be the release."""
COLUMNS = {"synonym": "synonym", "antonym": "antonym", "typo": "typo", "random": "random_mlm"}
"""Edits by the headings of their columns, lower-cased; the two negations are distinguished by their content."""
NEGATIONS = ("negation_main", "negation_antonym")
NEEDED = {"original", *COLUMNS, "negation"}
SECOND = "second negation"
"""The name of the second of two columns of negations."""


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return len({"original", "synonym", "antonym"} & set(_heads(first_line(head).split("\t")))) > 1


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
    rows = delimited(path)
    line, header = next(rows, (1, list[str]()))
    heads = _heads(header)
    if heads.count("negation") == 2:
        heads[heads.index("negation", heads.index("negation") + 1)] = SECOND
    if len(set(heads)) < len(heads) or {*heads} != {*NEEDED, SECOND}:
        raise SourceError(
            f"the header must be {', '.join(sorted(NEEDED))} and a second negation; it is {listed(header)}", path, line
        )
    table = list[dict[str, str]]()
    for number, cells in rows:
        row = {head: cell.strip() for head, cell in by_name(heads, cells, path, number).items()}
        if not all(row.values()):
            raise SourceError("an empty text", path, number, next(head for head in heads if not row[head]))
        table.append(row)
    if not table:
        raise SourceError("the table has no rows", path)
    negations, note = _negations(table)
    edit_of = {**COLUMNS, **negations}
    samples = list[MinimalPairs]()
    for number, row in enumerate(table):
        texts = {edit: row[head] for head, edit in edit_of.items()}
        edits = tuple((edit, texts[edit]) for edit in EDITS if edit in texts)
        samples.append(MinimalPairs(str(number), row["original"], edits))
    return Corpus(name, SHAPE, tuple(samples), source=SOURCE, notes=(note,))


def touches(original: str, synonym: str, negation: str) -> bool:
    """Return whether a negation changes the place where the synonym differs from the original."""
    negated = change(original, negation)
    return negated.start <= change(original, synonym).start <= negated.start + len(negated.first)


def _heads(cells: Sequence[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]


def _negations(table: Sequence[dict[str, str]]) -> tuple[dict[str, str], str]:
    """Return the edit in each column of negations, and a note on how they were distinguished."""
    heads = [head for head in table[0] if head in ("negation", SECOND)]
    # For each column, the number of rows whose negation changes the place of the synonym.
    touching = [sum(touches(row["original"], row["synonym"], row[head]) for row in table) for head in heads]
    first, second = touching
    ordinal, names = ("first", NEGATIONS[::-1]) if first > second else ("second", NEGATIONS)
    note = (
        f"two columns Negation: the {ordinal} is negation_antonym "
        f"(it changes the synonym's place in {max(touching)} of {len(table)} rows, the other in {min(touching)})"
    )
    if first == second:
        note = "two columns Negation that cannot be distinguished: the first is read as negation_main"
    return dict(zip(heads, names, strict=True)), note
