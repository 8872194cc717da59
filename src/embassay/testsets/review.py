"""The sheet on which people strike, correct and add what rules made, and reading it back: what they wrote counts.

The authors of HEROS and of SemAntoNeg checked their test sets by hand (Chiang et al. 2023, section 2.2; Vahtola et al.
2022, section 3). A row is a quadruple, or an original with its edits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import create_model

from embassay.core.errors import SourceError
from embassay.core.samples.base import Sample
from embassay.core.samples.choice import Choice
from embassay.core.samples.minimal_pairs import ALL_EDITS, MinimalPairs
from embassay.core.tables.rows import Key, Stripped
from embassay.testsets.base import Built
from embassay.testsets.sheets import ConfirmedRow, meant, shown, table_of
from embassay.testsets.sources import open_table

TEXTS = ("input", "antonym", "polarity", "paraphrase")
WORDS = ("pair", "part_of_speech", "negation")
CONFIRM = "confirm"
QUADRUPLES = (*WORDS, *TEXTS, CONFIRM)
ORIGINALS = ("id", "unit", "original", *ALL_EDITS, CONFIRM)
"""The columns of the two kinds of sheet."""
INPUTS = ((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0))
"""For each of the four sentences as the input: the positions of the input, antonym, polarity and paraphrase."""
BY_HAND = "by hand"


class QuadrupleRow(ConfirmedRow):
    """A quadruple."""

    input: Stripped
    antonym: Stripped
    polarity: Stripped
    paraphrase: Stripped
    pair: Stripped
    part_of_speech: Stripped
    negation: str = ""


class _Original(ConfirmedRow):
    id: Key = ""
    unit: Key = ""
    original: Stripped


_COLUMNS: Any = dict.fromkeys(ALL_EDITS, (Key, ""))
OriginalRow = create_model("OriginalRow", __base__=_Original, **_COLUMNS)
"""An original with a column for each edit, which may be empty."""


def review_of(built: Built) -> bytes:
    """Return the sheet as CSV: what is in the test set with yes, then doubtful quadruples with an empty cell.

    Empty for other shapes than choices and minimal pairs.
    """
    rows = list[Sequence[str]]()
    if built.shape == "minimal_pairs":
        for sample in built.samples:
            fields = {"id": sample.id, "unit": sample.unit, CONFIRM: "yes", **sample.fields()}
            rows.append([shown(fields.get(name, "")) for name in ORIGINALS])
        return table_of(ORIGINALS, rows)
    if built.shape != "choice" and not built.doubtful:
        return b""
    # The four choices of a quadruple follow each other.
    quadruples = [sample for sample in built.samples if isinstance(sample, Choice)][::4]
    for choices, answer in ((quadruples, "yes"), (built.doubtful, "")):
        for choice in sorted(choices, key=lambda choice: choice.pair):
            rows.append([*(shown(getattr(choice, name)) for name in QUADRUPLES[:-1]), answer])
    return table_of(QUADRUPLES, rows)


def reviewed(built: Built, path: Path) -> Built:
    """Return a test set of the rows of a sheet that people confirmed with yes, as they wrote them.

    Raises
    ------
    SourceError
        With file, line and column, for a file that is not such a sheet, empty texts, and cells other than yes, no or
        empty.
    """
    of_originals = built.shape == "minimal_pairs"
    samples = list[Sample]()
    table = open_table(path)
    model: type[ConfirmedRow] = OriginalRow if of_originals else QuadrupleRow
    selection = table.select(model)
    if CONFIRM not in selection.names:
        raise selection.missing(CONFIRM)
    for row in selection:
        if row.confirm and of_originals:
            samples.append(_original(row))
        elif row.confirm and isinstance(row, QuadrupleRow):
            samples += turned(_quadruple(row), f"review-{row.line}", first=0)
    for name, count in Counter(sample.id for sample in samples).items():
        if count > 1:
            raise SourceError(f"{name!r} appears twice; leave the id of a new row empty", path, None, "id")
    made = {(sample.id, *edit) for sample in built.samples if isinstance(sample, MinimalPairs) for edit in sample.edits}
    ways = dict(built.ways)
    for sample in samples:
        if isinstance(sample, MinimalPairs):
            ways |= {(sample.id, name): BY_HAND for name, text in sample.edits if (sample.id, name, text) not in made}
    return replace(built, samples=tuple(samples), ways=ways, doubtful=())


def turned(choice: Choice, name: str, first: int = 1) -> Iterator[Choice]:
    """Yield the four choices of a quadruple, each of its sentences the input in turn.

    Parameters
    ----------
    name, first
        Their ids are the name and a number, which starts at ``first``.
    """
    texts = [getattr(choice, field) for field in TEXTS]
    for number, places in enumerate(INPUTS, first):
        sentences = {field: texts[place] for field, place in zip(TEXTS, places, strict=True)}
        yield replace(choice, id=f"{name}-{number}", **sentences)


def _quadruple(row: QuadrupleRow) -> Choice:
    """Return the quadruple of a row."""
    fields = row.model_dump(exclude={CONFIRM})
    return Choice(id="", **{name: meant(text) for name, text in fields.items()})


def _original(row: Any) -> MinimalPairs:
    """Return the original of a row with the edits whose cells are not empty."""
    edits = tuple((name, meant(text)) for name in ALL_EDITS if (text := getattr(row, name)))
    if not edits:
        raise row.error("has no edit; write no to strike the original", CONFIRM)
    return MinimalPairs(meant(row.id) or f"review-{row.line}", meant(row.original), edits, meant(row.unit))
