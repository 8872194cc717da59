"""Quadruples whose antonyms may be no opposites: a sheet on which people decide, and reading it back.

Vahtola et al. (2022, section 3) looked through their quadruples by hand; what rules cannot decide is looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from embassay.errors import SourceError
from embassay.samples.choice import Choice
from embassay.testsets.sheets import meant, shown, table_of
from embassay.testsets.sources import NO, YES, open_table

TEXTS = ("input", "antonym", "polarity", "paraphrase")
COLUMNS = ("pair", *TEXTS, "confirm")
INPUTS = ((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0))
"""For each of the four sentences as the input: where it, its antonym, its polarity and its paraphrase stand."""


def review_of(doubtful: Iterable[Choice]) -> bytes:
    """Return the sheet as CSV: a quadruple a row, sorted by its pair of words, with a cell for yes or no."""
    rows = sorted(doubtful, key=lambda choice: (choice.pair, choice.id))
    return table_of(COLUMNS, ((c.pair, *(shown(getattr(c, name)) for name in TEXTS), "") for c in rows))


def read_review(path: Path) -> frozenset[tuple[str, ...]]:
    """Return the quadruples, as their four sentences, beside which people wrote yes.

    Raises
    ------
    SourceError
        With file, line and column, for what is no such sheet, and cells that are neither yes, no nor empty.
    """
    table = open_table(path)
    for name in COLUMNS:
        if name not in table.names:
            raise SourceError(f"no such column; found {', '.join(table.names)[:200]}; is it a review?", path, 1, name)
    confirmed = set[tuple[str, ...]]()
    for line, row in table.rows(COLUMNS):
        said = row["confirm"].strip().lower()
        if said and said not in YES | NO:
            raise SourceError(f"must be yes or no, is {said[:100]!r}", path, line, "confirm")
        if said in YES:
            confirmed.add(tuple(meant(row[name]) for name in TEXTS))
    return frozenset(confirmed)


def entries(choices: Iterable[Choice], confirmed: frozenset[tuple[str, ...]]) -> Iterator[Choice]:
    """Yield four choices, each sentence as the input in turn, of every quadruple that was confirmed."""
    for choice in choices:
        texts = tuple(getattr(choice, name) for name in TEXTS)
        if texts in confirmed:
            for number, places in enumerate(INPUTS):
                turned = {name: texts[place] for name, place in zip(TEXTS, places, strict=True)}
                yield replace(choice, id=f"review-{choice.id}-{number}", **turned)
