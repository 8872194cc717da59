"""HEROS as released: a tab-separated table Original, Synonym, Antonym, Negation, Random, Typo, Negation.

Chiang et al. (2023), "Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS"; on the Hugging Face hub as
``dcml0714/Heros``. Of the two columns headed Negation, the one whose edits touch the synonym's place more often is
``negation_antonym`` (the chosen word is negated), the other ``negation_main`` (the main verb is).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.samples.minimal_pairs import EDITS, MinimalPairs
from embassay.core.tables.jsonl import LONGEST, listed
from embassay.core.tables.rows import FileRow
from embassay.core.tables.tables import first_line, ragged, table_rows
from embassay.core.types import Corpus
from embassay.corpora.io.changes import change

SHAPE = "minimal_pairs"
SOURCE = "a file of HEROS's form"
"""The fingerprint of the released table is not known here, so no file is said to be the release."""
COLUMNS = {"synonym": "synonym", "antonym": "antonym", "typo": "typo", "random": "random_mlm"}
"""Edits by the headings of their columns, lower-cased; the two negations are distinguished by their content."""
NEEDED = ("original", *COLUMNS, "negation")


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    cells = _heads(first_line(head).split("\t"))
    return len({"original", "synonym", "antonym"} & set(cells)) > 1


def load(source: str, name: str, *, licence: str = "") -> Corpus[MinimalPairs]:
    """Read a file in HEROS's format.

    Parameters
    ----------
    source
        Path of the tab-separated file.
    licence
        The licence of the file, as the user states it.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, ragged rows and empty cells.
    """
    path = Path(source)
    rows = table_rows(path, "\t")
    line, header = next(rows, (1, list[str]()))
    if not header:
        raise SourceError("the file is empty", path)
    heads = _checked(header, path, line)
    table = []
    for number, cells in rows:
        if len(cells) != len(header):
            raise ragged(cells, header, path, number)
        table.append(
            [FileRow({head: cell}, path, number).filled(head) for cell, head in zip(cells, header, strict=True)]
        )
    if not table:
        raise SourceError("the table has no rows", path)
    negations, note = _negations(heads, table)
    names = [negations.get(place) or COLUMNS.get(head, head) for place, head in enumerate(heads)]
    return Corpus(
        name,
        SHAPE,
        tuple(_sample(str(place), names, row) for place, row in enumerate(table)),
        licence=licence or "unknown",
        source=SOURCE,
        loader="heros",
        notes=(note,),
    )


def touches(original: str, synonym: str, negation: str) -> bool:
    """Return whether a negation changes the place where the synonym differs from the original."""
    negated = change(original, negation)
    return negated.start <= change(original, synonym).start <= negated.start + len(negated.first)


def _heads(cells: Sequence[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]


def _checked(header: Sequence[str], path: Path, line: int) -> list[str]:
    """Return the column names in lower case, or raise SourceError for a missing, unknown or repeated one."""
    heads = _heads(header)
    for needed in NEEDED:
        if needed not in heads:
            raise SourceError(f"missing; found {listed(header)}", path, line, needed.capitalize())
    for name, head in zip(header, heads, strict=True):
        # HEROS has two columns of negations.
        most = 2 if head == "negation" else 1
        if head not in NEEDED or heads.count(head) > most:
            raise SourceError(f"unknown or repeated column; found {listed(header)}", path, line, name[:LONGEST])
    return heads


def _negations(heads: Sequence[str], table: Sequence[Sequence[str]]) -> tuple[dict[int, str], str]:
    """Return the edit in each column named Negation, by the position of the column, and how they were distinguished."""
    places = [place for place, head in enumerate(heads) if head == "negation"]
    original, synonym = heads.index("original"), heads.index("synonym")
    # For each column, the number of rows whose negation changes the place of the synonym.
    touching = list[int]()
    for place in places:
        touching.append(sum(touches(row[original], row[synonym], row[place]) for row in table))
    if len(places) == 1:
        name = "negation_antonym" if touching[0] == len(table) else "negation_main"
        return {places[0]: name}, f"one column Negation, read as {name}"
    first, second = touching
    names = dict(zip(places, ("negation_main", "negation_antonym"), strict=True))
    ordinal = "second"
    if first > second:
        names = dict(zip(places, ("negation_antonym", "negation_main"), strict=True))
        ordinal = "first"
    if first == second:
        return names, "two columns Negation that cannot be distinguished: the first is read as negation_main"
    return names, (
        f"two columns Negation: the {ordinal} is negation_antonym "
        f"(it changes the synonym's place in {max(touching)} of {len(table)} rows, the other in {min(touching)})"
    )


def _sample(name: str, names: Sequence[str], row: Sequence[str]) -> MinimalPairs:
    """Return the sample of a row, with its edits in the order of :data:`EDITS`."""
    cells = dict(zip(names, row, strict=True))
    edits = tuple((edit, cells[edit]) for edit in EDITS if edit in cells)
    return MinimalPairs(name, cells["original"], edits)
