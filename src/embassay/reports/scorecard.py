"""The scorecard: encoders × questions on one screen, each value with a mark for better or worse than chance."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from embassay.formatting import interval, number
from embassay.layout import Column, Layout
from embassay.result import MIN_UNITS, Result, Row, Verdict

BETTER, WORSE, OPEN = "+", "−", "?"
"""Marks: the 95 % interval lies above chance, below it, or holds it."""
MOST_ENCODERS = 10
"""Encoders of a scorecard at most, baselines not counted; the others are counted in a line below it."""
LONGEST_NAME = 32
"""Longer names of encoders are cut in the middle."""
GAP = 2
"""Spaces between columns."""
HEADING_LINES = 4
"""Lines above the values: title, corpus and figure, of which one may need a second line."""


@dataclass(frozen=True)
class Question:
    """One column: a diagnostic on a corpus.

    Attributes
    ----------
    heading
        Title of the diagnostic, corpus and figure.
    cells
        By encoder the value with its mark.
    values
        By encoder the value, where it is defined.
    higher_is_better
        Whether encoders are ordered by it.
    """

    heading: tuple[str, str, str]
    cells: Mapping[str, str]
    values: Mapping[str, float]
    higher_is_better: bool


@dataclass(frozen=True)
class Scorecard:
    """Encoders × questions.

    Attributes
    ----------
    encoders
        From top to bottom: candidates by their mean rank, then baselines.
    left_out
        How many candidates have no line.
    """

    encoders: tuple[str, ...]
    questions: tuple[Question, ...]
    left_out: int

    def lines(self, width: int) -> Iterator[str]:
        """Yield the lines of the scorecard; questions that do not fit beside each other follow below.

        Parameters
        ----------
        width
            Columns of the terminal.
        """
        names = [shortened(name, min(LONGEST_NAME, width // 3)) for name in self.encoders]
        of_names = max(map(len, names), default=0)
        columns = [self._column(question) for question in self.questions]
        rest = columns
        while rest:
            block = _fitting(rest, width - of_names)
            for place, parts in enumerate(zip(*block, strict=True)):
                name = names[place - HEADING_LINES] if place >= HEADING_LINES else ""
                line = name.ljust(of_names) + "".join(" " * GAP + part for part in parts)
                if line.strip():
                    yield line.rstrip()
            rest = rest[len(block) :]
        if self.left_out:
            yield f"and {self.left_out} more candidates"

    def _column(self, question: Question) -> list[str]:
        """Return heading and cells of a question, all of one width."""
        cells = [question.cells.get(name, "–") for name in self.encoders]
        widest_word = max(len(word) for part in question.heading for word in part.split() or [""])
        width = max([*map(len, cells), min(widest_word, 14)])
        heading = [line for part in question.heading for line in textwrap.wrap(part, width)]
        if len(heading) > HEADING_LINES:
            heading = [*heading[: HEADING_LINES - 1], f"{heading[HEADING_LINES - 1][: width - 1]}…"]
        heading = [""] * (HEADING_LINES - len(heading)) + heading
        return [part.rjust(width) for part in (*heading, *cells)]


def scorecard(result: Result, layouts: Mapping[str, Layout]) -> Scorecard:
    """Return the scorecard of a result: a question for each verdict that ranks encoders.

    Parameters
    ----------
    layouts
        The layout of each diagnostic, which names its headline figure.
    """
    questions = []
    for verdict in result.verdicts:
        if verdict.quantity:
            layout = layouts[verdict.diagnostic]
            questions.append(_question(result, verdict, layout.title, layout.headline.columns[0]))
    baselines = [encoder.name for encoder in result.encoders if encoder.baseline]
    candidates = _by_mean_rank([e.name for e in result.encoders if not e.baseline], questions)
    shown = candidates[:MOST_ENCODERS]
    return Scorecard((*shown, *baselines), tuple(questions), len(candidates) - len(shown))


def legend(card: Scorecard) -> str:
    """Return what the marks mean."""
    marks = f"{BETTER} better than chance, {WORSE} worse than chance, {OPEN} not shown to differ from chance (95%)"
    unmarked = [cell for question in card.questions for cell in question.cells.values() if cell[-1:] in "0123456789%"]
    return f"{marks}; no mark: under {MIN_UNITS} units" if unmarked else marks


def _question(result: Result, verdict: Verdict, title: str, column: Column) -> Question:
    key = (verdict.diagnostic, verdict.corpus, column.quantity, column.subset, column.condition)
    rows: dict[str, Row] = {}
    for row in result.rows:
        same = (row.diagnostic, row.corpus, row.quantity, row.subset, row.condition) == key
        if same and column.measure in ("", row.measure):
            rows.setdefault(row.encoder, row)
    return Question(
        (title, verdict.corpus, column.heading),
        {name: _cell(row, column, verdict.chance, name in verdict.candidates) for name, row in rows.items()},
        {name: row.value for name, row in rows.items() if row.value is not None},
        verdict.leader == "Best",
    )


def _cell(row: Row, column: Column, chance: float | None, is_candidate: bool) -> str:
    """Write a value with its mark; where a candidate's interval holds chance, the interval too: it decides."""
    signed = column.format == "points"
    value = number(row.value, column.format, signed).removesuffix(" points")
    if chance is None or row.value is None or row.low is None or row.high is None:
        return value
    if row.low > chance:
        return f"{value} {BETTER}"
    if row.high < chance:
        return f"{value} {WORSE}"
    limits = interval(row.low, row.high, column.format) if is_candidate else ""
    return f"{value} {OPEN} {limits}".rstrip()


def _by_mean_rank(names: Sequence[str], questions: Sequence[Question]) -> list[str]:
    """Return the encoders by their mean rank over the questions in which a higher value is better."""
    ordering = [question for question in questions if question.higher_is_better] or list(questions)
    ranks: dict[str, list[int]] = {name: [] for name in names}
    for question in ordering:
        for name in names:
            value = question.values.get(name)
            if value is None:
                ranks[name].append(len(names))
            else:
                ranks[name].append(sum(question.values.get(other, value) > value for other in names))
    return sorted(names, key=lambda name: sum(ranks[name]))


def _fitting(columns: Sequence[list[str]], width: int) -> Sequence[list[str]]:
    """Return the first columns that fit beside each other; one at least."""
    total, count = 0, 0
    for column in columns:
        total += GAP + len(column[0])
        if count and total > width:
            break
        count += 1
    return columns[:count]


def shortened(text: str, longest: int) -> str:
    """Return a text of at most so many characters, its middle left out where it is longer."""
    if len(text) <= longest:
        return text
    head = (longest - 1) // 2
    return f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"
