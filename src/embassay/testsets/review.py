"""Quadruples whose antonyms may not be opposites: a sheet on which people decide, and reading it back.

Vahtola et al. (2022, section 3) checked their quadruples by hand; here people check what rules cannot decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from embassay.samples.choice import Choice
from embassay.testsets.sheets import confirmation, meant, open_sheet, shown, table_of

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
    confirmed = set[tuple[str, ...]]()
    for row in open_sheet(path, COLUMNS, "review").read(COLUMNS):
        if confirmation(row):
            confirmed.add(tuple(meant(row.values[name]) for name in TEXTS))
    return frozenset(confirmed)


def confirmed_choices(choices: Iterable[Choice], confirmed: frozenset[tuple[str, ...]]) -> Iterator[Choice]:
    """Yield the four choices of every confirmed quadruple."""
    for choice in choices:
        if _texts(choice) in confirmed:
            yield from turned(choice, f"review-{choice.id}", first=0)


def turned(choice: Choice, name: str, first: int = 1) -> Iterator[Choice]:
    """Yield the four choices of a quadruple, each of its sentences the input in turn.

    Parameters
    ----------
    name, first
        Their ids are the name and a number, which starts at ``first``.
    """
    texts = _texts(choice)
    for number, places in enumerate(INPUTS, first):
        sentences = {field: texts[place] for field, place in zip(TEXTS, places, strict=True)}
        yield replace(choice, id=f"{name}-{number}", **sentences)


def _texts(choice: Choice) -> tuple[str, ...]:
    return tuple(getattr(choice, name) for name in TEXTS)
