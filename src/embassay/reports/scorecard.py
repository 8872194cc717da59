"""The scorecard: encoders × questions on one screen, each value with a mark for above or below chance."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os.path import commonprefix

from embassay.core.formatting import (
    DASH,
    difference_format,
    interval,
    number,
    shortened,
    two_digits,
    visible,
    with_interval,
    without_points,
)
from embassay.core.layout import Column, Layout
from embassay.core.result import MIN_UNITS, Comparison, Result, Verdict, anchor, between
from embassay.diagnostics.findings import against_chance
from embassay.reports.costs import Milliseconds

BETTER, WORSE, OPEN = "▲", "▼", "?"
"""Marks: the 95 % interval lies above chance, below it, or holds it."""
MARK_OF_SIDE = {"above": BETTER, "below": WORSE, "both": OPEN, "": ""}
"""By where the interval lies; see :func:`~embassay.diagnostics.findings.against_chance`."""
MOST_ENCODERS = 6
"""Encoders that have a line at most; the others are counted in a line below them."""
MOST_INTERVALS = 10
"""The same where there is one question: a run of set-ups has more candidates than one of encoders."""
MOST_LINES = 20
"""Lines of a scorecard at most."""
NARROWEST = 9
"""A column is no narrower, so that two short words of a heading stand in one line."""
LONGEST_WORD = 14
"""A longer word in a heading is broken."""
DRAWN, LEAST_DRAWN = 24, 10
"""Columns that intervals are drawn in at most, and at least: with fewer they are left out."""
GAP = 2
"""Spaces between columns."""
NO_TIMES: Milliseconds = {}
HEADING_LINES = 5
"""Lines above the values: title, corpus and figure, of which one may need a second line."""


@dataclass(frozen=True)
class Score:
    """The headline value of one encoder, as it is written.

    Attributes
    ----------
    mark
        Where the interval lies; empty where chance or the interval is not known.
    low, high
        The ends of the interval; None without one.
    """

    value: float | None
    text: str
    interval: str
    mark: str = ""
    low: float | None = None
    high: float | None = None

    @property
    def short(self) -> str:
        """The value with its mark, for a column whose heading tells the unit."""
        return f"{without_points(self.text)} {self.mark}".rstrip()


@dataclass(frozen=True)
class ScorecardColumn:
    """One column: a diagnostic on a corpus, with the score of each encoder that has one, and what pairs differ by."""

    title: str
    verdict: Verdict
    column: Column
    scores: Mapping[str, Score]
    pairs: tuple[Comparison, ...] = ()

    def score(self, encoder: str) -> Score:
        """Return the score of an encoder; a dash where it has none."""
        return self.scores.get(encoder, Score(None, DASH, ""))

    @property
    def heading(self) -> tuple[str, str, str]:
        """Title of the diagnostic, corpus and figure."""
        return self.title, visible(self.verdict.corpus), self.column.heading

    @property
    def values(self) -> dict[str, float]:
        """By encoder the value, where it is defined."""
        return {name: score.value for name, score in self.scores.items() if score.value is not None}

    @property
    def link(self) -> str:
        """The section of the report that has the evidence."""
        return f"#{anchor(self.verdict.diagnostic, self.verdict.corpus)}"


@dataclass(frozen=True)
class Scorecard:
    """Encoders × questions.

    Attributes
    ----------
    candidates
        By their mean rank, the best first.
    baselines
        They stand below the candidates. Random vectors are left out: the marks compare with chance.
    by_importance
        All of them, those that a choice depends on first. Where not all fit, the last ones have no line.
    times
        Where there is one question, by encoder how long a question takes, if two of these are known.
    """

    candidates: tuple[str, ...]
    baselines: tuple[str, ...]
    questions: tuple[ScorecardColumn, ...]
    by_importance: tuple[str, ...] = ()
    times: Mapping[str, str] = field(default_factory=dict)

    @property
    def all_are_above_chance(self) -> bool:
        """Whether marks tell nothing: no value is below chance, or not shown to differ from it."""
        names = (*self.candidates, *self.baselines)
        return not any(question.score(name).mark in (WORSE, OPEN) for question in self.questions for name in names)

    def lines(self, width: int, most: int = MOST_LINES) -> Iterator[str]:
        """Yield the lines of the scorecard; questions that do not fit beside each other follow below.

        Parameters
        ----------
        width
            Columns of the terminal.
        most
            Lines at most, as far as two encoders fit into them.
        """
        labels = self._labels(self._shown(MOST_ENCODERS))
        name_width = min(max(map(len, labels.values()), default=0), width // 2)
        room = width - name_width
        blocks = column_blocks([_width(question) for question in self.questions], room)
        lines_of_block = most // max(len(blocks), 1) - HEADING_LINES
        encoders = self._shown(max(2, min(MOST_ENCODERS, lines_of_block)))
        for block in blocks:
            columns = [_column(question, encoders, room) for question in self.questions[block.start : block.stop]]
            first_column = [*[""] * HEADING_LINES, *(labels[name] for name in encoders)]
            for name, *parts in zip(first_column, *columns, strict=True):
                # A name is never cut: a longer one has lines of its own above its values.
                *upper_lines, last_line = textwrap.wrap(name, name_width, break_on_hyphens=False) or [""]
                yield from upper_lines
                line = (" " * GAP).join((last_line.ljust(name_width), *parts))
                # The first lines of a heading may be empty.
                if line.strip():
                    yield line.rstrip()
        yield from self._left_out(encoders)

    def intervals(self, width: int) -> list[str]:
        """Return a line for each encoder: its interval, also drawn, its time, its difference from the baseline.

        Nothing for several questions, without intervals, and where the terminal is too narrow.
        """
        if len(self.questions) != 1:
            return []
        (question,) = self.questions
        baseline = question.verdict.baseline
        # Of the baselines that with which the others are compared, where they are.
        others = {name for name in self.baselines if baseline and name != baseline}
        compared = replace(self, by_importance=tuple(name for name in self.by_importance if name not in others))
        encoders = compared._shown(MOST_INTERVALS)
        scores = [question.score(name) for name in encoders]
        limits = [limit for score in scores for limit in (score.low, score.high) if limit is not None]
        if not limits:
            return []
        labels = self._labels(encoders)
        against = [_difference(question, between(question.pairs, name, baseline)) for name in encoders]
        values = [score.short for score in scores]
        if self.all_are_above_chance:
            values = [score.text for score in scores]
        columns = [
            ("", [labels[name] for name in encoders]),
            (question.column.heading, values),
            ("95%", [score.interval for score in scores]),
        ]
        if self.times:
            columns.append(("a question", [self.times.get(name, DASH) for name in encoders]))
        if any(against):
            columns.append((f"against {visible(baseline)}", against))
        widths = [max(map(len, (heading, *cells))) for heading, cells in columns]
        room = width - sum(widths) - GAP * len(widths)
        if room + GAP < 0:
            return []
        if room >= LEAST_DRAWN:
            drawn = min(room, DRAWN)
            columns.insert(2, ("", [_drawn(score, min(limits), max(limits), drawn) for score in scores]))
            widths.insert(2, drawn)
        lines = []
        for line in range(len(encoders) + 1):
            cells = [(heading, *of_column)[line] for heading, of_column in columns]
            # Names stand at the left, everything else at the right of its column.
            name, *figures = (cell.rjust(wide) for cell, wide in zip(cells, widths, strict=True))
            lines.append((" " * GAP).join((name.strip().ljust(widths[0]), *figures)).rstrip())
        return [*lines, *compared._left_out(encoders)]

    def _shown(self, number: int) -> tuple[str, ...]:
        """Return the most important encoders, in the order of their lines."""
        with_line = self.by_importance[:number]
        return tuple(name for name in (*self.candidates, *self.baselines) if name in with_line)

    def _left_out(self, shown: Sequence[str]) -> Iterator[str]:
        """Yield how many encoders have no line, if any."""
        if len(self.by_importance) > len(shown):
            yield f"and {len(self.by_importance) - len(shown):,} more"

    def _labels(self, encoders: Sequence[str]) -> dict[str, str]:
        """Return names as they stand at the left of a line: those of candidates without what all candidates share."""
        shared = ""
        if len(self.candidates) > 1:
            # "m,dim=384" and "m,dim=128" -> "m,": a shared beginning ends between two parts of a label.
            beginning = commonprefix(self.candidates)  # noqa: RUF071 - labels are no paths
            shared = beginning[: max(beginning.rfind(mark) for mark in ",/") + 1]
        labels = {}
        for name in encoders:
            short = name.removeprefix(shared) if name in self.candidates else name
            labels[name] = visible(short)
        return labels


def _drawn(score: Score, lowest: float, highest: float, columns: int) -> str:
    """Draw an interval and its value on a line from the lowest to the highest limit of all encoders."""
    if score.value is None:
        return ""
    line = [" "] * columns
    scale = (columns - 1) / ((highest - lowest) or 1.0)

    def place(value: float) -> int:
        return round((min(max(value, lowest), highest) - lowest) * scale)

    if score.low is not None and score.high is not None:
        start, end = place(score.low), place(score.high)
        line[start : end + 1] = "─" * (end + 1 - start)
    line[place(score.value)] = "●"
    return "".join(line)


def _difference(question: ScorecardColumn, difference: Comparison | None) -> str:
    """Write the difference of an encoder from the baseline, with its interval; nothing where there is none."""
    if difference is None or difference.difference is None:
        return ""
    style = difference_format(question.column.format)
    return without_points(with_interval(difference.difference, difference.low, difference.high, style, signed=True))


def _width(question: ScorecardColumn) -> int:
    """Return the width of a column: its widest value, or the longest word above it."""
    words = " ".join(question.heading).split()
    longest_word = max(map(len, words), default=0)
    widest_cell = max((len(score.short) for score in question.scores.values()), default=0)
    return max(widest_cell, min(longest_word, LONGEST_WORD), NARROWEST)


def column_blocks(widths: Sequence[int], room: int) -> list[range]:
    """Return which columns stand beside each other, from left to right; one at least in each block."""
    blocks: list[range] = []
    start, used = 0, 0
    for place, width in enumerate(widths):
        used += GAP + width
        if place > start and used > room:
            blocks.append(range(start, place))
            start, used = place, GAP + width
    if widths:
        blocks.append(range(start, len(widths)))
    return blocks


def _column(question: ScorecardColumn, encoders: Sequence[str], room: int) -> list[str]:
    """Return the lines of a column: its heading in exactly ``HEADING_LINES`` lines, empty ones first, its values."""
    width = min(_width(question), room - GAP)
    heading = list[str]()
    for part in question.heading:
        heading += textwrap.wrap(part, width)
    if len(heading) > HEADING_LINES:
        heading[HEADING_LINES - 1 :] = [" ".join(heading[HEADING_LINES - 1 :])]
    empty = [""] * (HEADING_LINES - len(heading))
    cells = [question.score(name).short for name in encoders]
    return [shortened(line, width).rjust(width) for line in (*empty, *heading, *cells)]


def scorecard(result: Result, layouts: Mapping[str, Layout], milliseconds: Milliseconds = NO_TIMES) -> Scorecard:
    """Return the scorecard of a result: a question for each verdict that ranks encoders.

    Parameters
    ----------
    layouts
        The layout of each diagnostic, which names its headline figure.
    milliseconds
        Of one question, by encoder and corpus, where it was timed.
    """
    verdicts = [verdict for verdict in result.verdicts if verdict.metric]
    questions = [question_of(result, verdict, layouts[verdict.diagnostic]) for verdict in verdicts]
    candidates = [encoder.name for encoder in result.encoders if not encoder.baseline]
    baselines = [encoder.name for encoder in result.encoders if encoder.baseline and not encoder.is_chance]
    ordered = _by_mean_rank(candidates, questions)
    # Where not all have a line: the best, what they are compared with, who else may be the best, word counts.
    may_be_best = {name for verdict in verdicts for name in verdict.best_set}
    by_importance = [verdict.best for verdict in verdicts]
    by_importance += [name for verdict in verdicts for name in (verdict.reference, verdict.baseline)]
    by_importance += [name for name in ordered if name in may_be_best]
    by_importance += (*ordered, *baselines)
    encoders = {*ordered, *baselines}
    distinct = dict.fromkeys(name for name in by_importance if name in encoders)
    times = {}
    for record in result.encoders if len(verdicts) == 1 else ():
        time = milliseconds.get((record.name, verdicts[0].corpus))
        if time:
            times[record.name] = f"{two_digits(time)} ms"
    # A single time compares nothing.
    shown = times if len(times) > 1 else {}
    return Scorecard(tuple(ordered), tuple(baselines), tuple(questions), tuple(distinct), shown)


def legend(card: Scorecard) -> str:
    """Return what the marks mean."""
    titles_of_level: dict[str, list[str]] = {}
    without_mark = False
    for question in card.questions:
        if question.verdict.chance is not None:
            titles_of_level.setdefault(question.column.level, []).append(question.title)
            without_mark |= any(score.value is not None and not score.mark for score in question.scores.values())
    if not titles_of_level:
        return "no marks: chance is unknown"
    levels = list(titles_of_level)
    if len(levels) > 1:
        levels = [f"{level} ({', '.join(dict.fromkeys(titles))})" for level, titles in titles_of_level.items()]
    marks = f"{BETTER} above {' or '.join(levels)}, {WORSE} below, {OPEN} not shown to differ (95%)"
    if without_mark:
        marks += f"; no mark: under {MIN_UNITS} units"
    return marks


def question_of(result: Result, verdict: Verdict, layout: Layout) -> ScorecardColumn:
    """Return the column of a verdict, with the values of all encoders."""
    column = layout.headline.columns[0]
    scores = {}
    for name, row in result.headline(verdict).items():
        value = number(row.value, column.format, signed=column.format == "points")
        mark = MARK_OF_SIDE[against_chance(row, verdict.chance)]
        written_interval = interval(row.low, row.high, column.format)
        scores[name] = Score(row.value, value, written_interval, mark, row.low, row.high)
    return ScorecardColumn(layout.title, verdict, column, scores, result.differences(verdict))


def _by_mean_rank(names: Sequence[str], questions: Sequence[ScorecardColumn]) -> list[str]:
    """Return the encoders by their mean rank over the questions in which a higher value is better.

    Without such a question, over all questions.
    """
    ranking = [question for question in questions if question.verdict.is_of_right] or questions
    rank_sums = dict.fromkeys(names, 0)
    for question in ranking:
        values = {name: value for name, value in question.values.items() if name in rank_sums}
        for name in names:
            # An encoder without a value comes last.
            higher = len(names)
            if name in values:
                higher = sum(value > values[name] for value in values.values())
            rank_sums[name] += higher
    return sorted(names, key=lambda name: rank_sums[name])
