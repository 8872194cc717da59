"""Quadruples whose antonyms may not be opposites: a sheet on which people decide, and reading it back.

Vahtola et al. (2022, section 3) checked their quadruples by hand; here people check what rules cannot decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from embassay.errors import SourceError
from embassay.samples.choice import Choice
from embassay.testsets.sheets import meant, open_sheet, shown, table_of
from embassay.testsets.sources import NO, YES

TEXTS = ("input", "antonym", "polarity", "paraphrase")
COLUMNS = ("pair", *TEXTS, "confirm")
INPUTS = ((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0))
"""For each of the four sentences as the input: the positions of the input, antonym, polarity and paraphrase."""


def review_of(doubtful: Iterable[Choice]) -> bytes:
    """Return the sheet as CSV: one quadruple per row, sorted by its pair of words, with a cell for yes or no."""
    rows = list[Sequence[str]]()
    for choice in sorted(doubtful, key=lambda choice: (choice.pair, choice.id)):
        rows.append((choice.pair, *map(shown, _texts(choice)), ""))
    return table_of(COLUMNS, rows)


def read_review(path: Path) -> frozenset[tuple[str, ...]]:
    """Return the quadruples, as their four sentences, that people confirmed with yes.

    Raises
    ------
    SourceError
        With file, line and column, for a file that is not such a sheet, and cells other than yes, no or empty.
    """
    table = open_sheet(path, COLUMNS, "review")
    confirmed = set[tuple[str, ...]]()
    for line, row in table.rows(COLUMNS):
        answer = row["confirm"].strip().lower()
        if answer and answer not in YES | NO:
            raise SourceError(f"must be yes or no, is {answer[:100]!r}", path, line, "confirm")
        if answer in YES:
            confirmed.add(tuple(meant(row[name]) for name in TEXTS))
    return frozenset(confirmed)


def entries(choices: Iterable[Choice], confirmed: frozenset[tuple[str, ...]]) -> Iterator[Choice]:
    """Yield four choices, each sentence as the input in turn, of every confirmed quadruple."""
    for choice in choices:
        texts = _texts(choice)
        if texts not in confirmed:
            continue
        for number, places in enumerate(INPUTS):
            turned = {name: texts[place] for name, place in zip(TEXTS, places, strict=True)}
            yield replace(choice, id=f"review-{choice.id}-{number}", **turned)


def _texts(choice: Choice) -> tuple[str, ...]:
    return tuple(getattr(choice, name) for name in TEXTS)
