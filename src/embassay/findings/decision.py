"""The findings of one verdict: which candidates may be the best, how they compare, what could be detected."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from embassay.claims import Template
from embassay.corpora.io.labelling import is_sample
from embassay.corpora.queries.made import SOURCES as MADE_QUERIES
from embassay.findings import templates
from embassay.findings.advice import may_be_independent
from embassay.findings.settings import base, setting_findings, smallest_not_worse
from embassay.formatting import (
    counted,
    difference_format,
    interval,
    names,
    number,
    span,
    with_interval,
    without_points,
    written_bytes,
)
from embassay.layout import Column, Format
from embassay.result import (
    MAX_UNDEFINED,
    CorpusRecord,
    Difference,
    EncoderRecord,
    Finding,
    Opponent,
    Result,
    Row,
    Verdict,
    record_of,
)

MAX_NAMED = 6
"""Candidates of the best set that a sentence names at most."""
MANY = 5
"""From this many candidates on, a best set of several comes with what chance does to such a table."""
FALSE_SENTENCES = 10
"""Of this many tables of equally good candidates, about one calls one better or worse (3-9 %; docs/statistics.md)."""
LEFT_OUT = {5: 6, 8: 4, 12: 3, 16: 2}
"""From this number of equally good candidates on, one of how many tables leaves a candidate out of the best set."""


@dataclass(frozen=True)
class ChoicePair:
    """Two encoders whose difference matters for a choice.

    Attributes
    ----------
    name
        `` between a and b``, to be written after a difference; may be empty.
    difference
        Theirs, of which the minimum detectable one is known.
    opponent
        The second of them; empty without a name.
    """

    name: str
    difference: Difference
    opponent: str = ""


@dataclass(frozen=True)
class Decision:
    """A verdict with what its findings need: its result, and the name and format of its headline."""

    result: Result
    verdict: Verdict
    headline: Column

    def findings(self) -> Iterator[Finding]:
        """Yield which encoders may be the best, how they compare, and which differences could be detected."""
        v = self.verdict
        if self.corpus.builtin:
            return
        if v.candidates:
            yield from self.same_encoders()
            yield from self.not_ranked()
            yield from self.undefined_as_wrong()
            yield from self.ranking()
            if not is_sample(self.corpus.settings):
                return
            yield from self.luck()
            yield from self.cost()
            yield from self.smaller_index()
            yield from self.settings()
            yield from self.steps()
            yield from self.comparisons()
            if self.baseline.name or len(set(self.first_label.values())) > 1:
                yield from self.precision()
        elif v.undefined:
            yield self.finding(templates.UNDEFINED, undefined=self.undefined())
        elif self.result.failed:
            yield self.finding(templates.NO_CANDIDATE)
        else:
            yield self.finding(templates.ONLY_BASELINES)

    def finding(self, template: Template, severity: str = "", **fields: Any) -> Finding:
        """Return a finding about the headline, without a figure."""
        return template.finding(self.verdict, style=self.headline.format, severity=severity, **fields)

    @cached_property
    def corpus(self) -> CorpusRecord:
        """The corpus of the verdict."""
        return record_of(self.result.corpora, self.verdict.corpus)

    @cached_property
    def encoders(self) -> dict[str, EncoderRecord]:
        """The encoders of the result, by label."""
        return {record.name: record for record in self.result.encoders}

    @cached_property
    def rows(self) -> dict[str, Row]:
        """By encoder the row of the metric that encoders are ranked by."""
        return self.result.headline(self.verdict)

    @property
    def difference_style(self) -> Format:
        """The format of a difference of two headline values."""
        return difference_format(self.headline.format)

    @property
    def is_good(self) -> bool:
        """Whether a high value recommends an encoder: not where higher is not better, or the first is below chance."""
        v = self.verdict
        return v.leader == "Best" and not is_below(v.high, v.chance)

    @property
    def decides(self) -> bool:
        """Whether the ranking is a reason to choose an encoder: not if its queries were made by a program."""
        return self.is_good and not self.has_made_queries

    @property
    def has_made_queries(self) -> bool:
        """Whether a program made the queries of the corpus."""
        return self.corpus.source in MADE_QUERIES.values()

    @property
    def ranked(self) -> list[str]:
        """The candidates that are ranked, highest value first."""
        return [name for name in self.verdict.candidates if name not in self.verdict.left_out]

    @cached_property
    def first_label(self) -> dict[str, str]:
        """The first label of each candidate's encoder: another one where an encoder was requested twice."""
        first_label_of: dict[tuple[str, str, str], str] = {}
        first_label = {}
        for name in self.verdict.candidates:
            encoder = self.encoders[name]
            identity = encoder.fingerprint, encoder.similarity, encoder.setting
            first_label[name] = first_label_of.setdefault(identity, name)
        return first_label

    @cached_property
    def reference(self) -> Opponent:
        """The reference with its comparisons, without the reference itself under another label."""
        reference = self.verdict.opponent("reference")
        label = self.first_label.get(reference.name)
        same_encoder = {name for name, first_label in self.first_label.items() if first_label == label}
        others = [difference for difference in reference.differences if difference.candidate not in same_encoder]
        return replace(reference, differences=tuple(others))

    @cached_property
    def baseline(self) -> Opponent:
        """The best lexical baseline."""
        return self.verdict.opponent("baseline")

    def same_encoders(self) -> Iterator[Finding]:
        """Yield which labels stand for one encoder."""
        labels: dict[str, list[str]] = {}
        for name, first in self.first_label.items():
            labels.setdefault(first, []).append(name)
        for same in labels.values():
            if len(same) > 1:
                yield self.finding(templates.SAME_ENCODER, encoders=names(same))

    def ranking(self) -> Iterator[Finding]:
        """Yield which candidates may be the best, and which are excluded."""
        v = self.verdict
        ranked = self.ranked
        if len(v.candidates) == 1:
            encoder = v.candidates[0]
            yield self.finding(templates.ONE_CANDIDATE, encoder=encoder, headline=self.said_headline(encoder))
        elif len(set(self.first_label.values())) == 1:
            return
        elif not v.best_set:
            yield self.finding(templates.NONE_BEST, reason=v.reason)
        elif len(ranked) == 1:
            yield self.finding(templates.ONE_RANKED, encoder=ranked[0], value=self.headline_value(ranked[0]))
        else:
            yield self.best_set(ranked)

    def best_set(self, ranked: list[str]) -> Finding:
        """Return the best set."""
        v = self.verdict
        # The heading is written once, with the first candidate.
        parts = [self.named_headline(v.best_set[0])]
        for name in v.best_set[1:MAX_NAMED]:
            value = self.headline_value(name, with_heading=False)
            parts.append(f"{name} ({value})")
        best = ", ".join(parts)
        if len(v.best_set) > MAX_NAMED:
            best += f" and {len(v.best_set) - MAX_NAMED} more"
        words = {"first": "best", "set_name": templates.BEST}
        if not self.is_good:
            words = {"first": "highest", "set_name": templates.HIGHEST}
        is_alone = len(v.best_set) == 1
        found = self.finding(
            templates.ALONE_FIRST if is_alone else templates.MAY_BE_FIRST,
            severity="high" if self.decides else "medium",
            encoder=v.best_set[0] if is_alone else "",
            headline=self.said_headline(v.best_set[0]),
            candidates=len(ranked),
            best=best,
            more=self.how_unequal() + self.higher_baseline(),
            **words,
        )
        counts = {"candidates": len(ranked), "best set": len(v.best_set)}
        return replace(found, value=v.value, low=v.low, high=v.high, counts=counts)

    def how_unequal(self) -> str:
        """Say by how much members of the best set may differ."""
        detectable = [self.verdict.detectable(self.reference.difference(name)) for name in self.verdict.best_set]
        largest = max((difference for difference in detectable if difference is not None), default=None)
        if len(self.verdict.best_set) < 2 or largest is None:
            return ""
        return templates.NOT_EQUAL.sentence(difference=number(largest, self.difference_style))

    def higher_baseline(self) -> str:
        """Name the best lexical baseline where its value is above that of the first candidate: it is no candidate."""
        baseline = self.rows.get(self.baseline.name)
        first = self.rows.get(self.verdict.best_set[0])
        if baseline is None or first is None or (baseline.value or 0.0) <= (first.value or 0.0):
            return ""
        value = number(baseline.value, self.headline.format)
        return templates.LEXICAL_IS_HIGHER.sentence(baseline=self.baseline.name, value=value)

    def luck(self) -> Iterator[Finding]:
        """Yield by how much chance has helped the first of many, and what it can do to a table of this size.

        Yields nothing where the first is alone or far ahead: chance has hardly helped it.
        """
        v = self.verdict
        style = self.difference_style
        ranked = self.ranked
        if len(ranked) < MANY or len(v.best_set) < 2:
            return
        too_high = v.first_too_high or (0.0, 0.0)
        low, high = (number(value, style) for value in too_high)
        if high == number(0.0, style):
            return
        as_first = ""
        if v.interval_as_first is not None and v.lead is not None:
            first, second = (self.rows[name].value or 0.0 for name in ranked[:2])
            adjusted = first - sum(too_high) / 2
            as_first = templates.INTERVAL_AS_FIRST.sentence(
                value=with_interval(adjusted, *v.interval_as_first, self.headline.format),
                lead=with_interval(first - second, *v.lead, style, signed=True),
                second=ranked[1],
            )
        left_out = LEFT_OUT[max(size for size in LEFT_OUT if size <= len(ranked))]
        of_many = templates.MANY_CANDIDATES.sentence(candidates=len(ranked), tables=FALSE_SENTENCES, left_out=left_out)
        yield self.finding(
            templates.FIRST_TOO_HIGH,
            encoder=v.best_set[0],
            candidates=len(ranked),
            excess=span(low, high),
            more=as_first + of_many,
        )

    def cost(self) -> Iterator[Finding]:
        """Yield the bytes of the first candidate's vectors, and its price."""
        v = self.verdict
        first = next(iter(v.best_set or v.candidates))
        encoder = self.encoders[first]
        size = encoder.index_bytes(v.corpus)
        if not self.is_good or size is None:
            return
        price = "" if encoder.price is None else f", and {encoder.price:g} for a million tokens"
        found = self.finding(
            templates.COST,
            encoder=first,
            size=written_bytes(size),
            stored="its vectors" if self.corpus.documents else "a vector",
            price=price,
        )
        yield replace(found, counts={"bytes": size})

    def smaller_index(self) -> Iterator[Finding]:
        """Yield which candidate with a smaller index than the best one is shown not to be worse, or that none is.

        All ranked candidates are taken from the largest index to the smallest, up to the first that is not shown to be
        as good: so that all claims together are wrong in about 5 % of the cases at most, without a correction (tests in
        a fixed order; Maurer, Hothorn & Lehmacher 1995). If those outside the best set were skipped, the data would
        choose what is tested, and three candidates that are worse by the margin would give 8 %.
        """
        v = self.verdict
        if v.margin is None or not self.decides:
            return
        best = v.best_set[0]
        size_of_best = self.encoders[best].index_bytes(v.corpus) or 0
        ranked = [encoder for encoder in self.encoders.values() if encoder.name in self.ranked]
        chosen, smaller = smallest_not_worse(size_of_best, ranked, v.corpus, v.not_worse)
        fields = {
            "best": best,
            "stored": self.what_is_stored,
            "size_of_best": written_bytes(size_of_best),
            "margin": number(v.margin, self.difference_style),
        }
        if chosen:
            size = smaller[chosen]
            share = size / size_of_best
            yield self.finding(templates.SMALLER, encoder=chosen, share=share, size=written_bytes(size), **fields)
        elif any(name in v.best_set for name in smaller):
            yield self.finding(templates.NO_SMALLER, **fields)

    def settings(self) -> Iterator[Finding]:
        """Yield how the settings of the reference compare; that decides only if its model may be the best."""
        v = self.verdict
        for finding in setting_findings(self.result, v, self.headline):
            best_models = {base(self.encoders[name]) for name in v.best_set}
            decides = self.decides and base(self.encoders[self.reference.name]) in best_models
            yield replace(finding, severity="high" if decides else "medium")

    @property
    def what_is_stored(self) -> str:
        """What the bytes of a candidate are counted of."""
        return "index" if self.corpus.documents else "vector"

    def not_ranked(self) -> Iterator[Finding]:
        """Yield which candidates are not ranked, and why."""
        v = self.verdict
        if v.undefined:
            yield self.finding(templates.NOT_COMPARED, undefined=self.undefined())
        # Candidates are left out of the ranking for two reasons: too many undefined items, or a constant value on the
        # common items, with which there is no correlation.
        often_undefined = []
        constant = []
        for name in v.left_out:
            row = self.rows.get(name)
            if row is None or row.undefined > MAX_UNDEFINED * (row.items + row.undefined):
                often_undefined.append(name)
            else:
                constant.append(name)
        if often_undefined:
            share = f"{MAX_UNDEFINED:.0%}"
            yield self.finding(templates.OFTEN_UNDEFINED, share=share, encoders=names(often_undefined))
        if constant:
            yield self.finding(templates.CONSTANT, encoders=names(constant))

    def undefined(self) -> str:
        """Name the candidates without a value, with the reasons in brackets."""
        undefined = self.verdict.undefined
        rows = [self.rows[name] for name in undefined if name in self.rows]
        reasons = dict.fromkeys(row.reason for row in rows if row.reason)
        if not reasons:
            return names(undefined)
        return f"{names(undefined)} ({'; '.join(reasons)})"

    def undefined_as_wrong(self) -> Iterator[Finding]:
        """Yield the value with undefined items counted as wrong, for each candidate with more of them than another."""
        undefined: dict[str, int] = {}
        for name in self.verdict.candidates:
            row = self.rows.get(name)
            if row is not None and row.value is not None:
                undefined[name] = row.undefined
        fewest = min(undefined.values(), default=0)
        as_wrong = self.verdict.undefined_as_wrong
        for name, count in undefined.items():
            # Items that are undefined for all candidates favour none.
            if count > fewest and name in as_wrong:
                value = number(as_wrong[name], self.headline.format)
                yield self.finding(templates.UNDEFINED_ITEMS, encoder=name, items=counted(count, "item"), value=value)

    def named_headline(self, name: str) -> str:
        """Write a candidate with its headline value."""
        return f"{name} ({self.headline_value(name)})"

    def said_headline(self, name: str) -> str:
        """Write a candidate's headline value as a clause, with a colon before it."""
        row = self.rows.get(name)
        if row is None or row.value is None:
            return ""
        style = self.headline.format
        value = f"{number(row.value, style, signed=style == 'points')} {interval(row.low, row.high, style)}".rstrip()
        said = self.headline.says or f"{{value}} {self.headline.heading}"
        return f": {said.format(value=value)}{self.below_level(row)}"

    def headline_value(self, name: str, *, with_heading: bool = True) -> str:
        """Write a candidate's headline value and its heading; where its interval lies below chance, say so."""
        row = self.rows.get(name)
        if row is None:
            return self.headline.heading
        style = self.headline.format
        text = number(row.value, style, signed=style == "points")
        if with_heading:
            text += f" {self.headline.heading}"
        return text + self.below_level(row)

    def below_level(self, row: Row) -> str:
        """Say that the interval of a value lies below chance; an empty text where it does not."""
        if not is_below(row.high, self.verdict.chance):
            return ""
        level = self.headline.level_with(number(self.verdict.chance, self.headline.format))
        return templates.BELOW_LEVEL.sentence(level=level)

    def comparisons(self) -> Iterator[Finding]:
        """Yield how the candidates compare with the lexical baseline and, where there are several, with the reference.

        The baseline decides whether a candidate is worth its price, so the best set's comparisons with it come first.
        """
        yield from self.comparisons_with_baseline()
        # Where a lexical baseline is the reference, both families hold the same comparisons.
        if self.reference.name != self.baseline.name:
            differences = self.reference.tested
            said = {(difference.candidate, opponent) for opponent, difference in self.built_on}
            for name in self.best_set_first(differences):
                if (name, self.reference.name) not in said:
                    yield self.comparison("low", self.reference.name, differences[name])

    def comparisons_with_baseline(self) -> Iterator[Finding]:
        """Yield how the candidates compare with the best lexical baseline and, if that is another one, with bm25."""
        v = self.verdict
        second_baseline = v.opponent("second_baseline")
        differences = self.baseline.tested
        for name in self.best_set_first(differences):
            may_be_chosen = name in v.best_set or len(v.candidates) == 1
            severity = "high" if self.decides and may_be_chosen else "low"
            found = self.comparison(severity, self.baseline.name, differences[name], is_lexical=True)
            if name == v.candidates[0] and not differences[name].is_significant:
                found = replace(found, consequence=self.more_items(ChoicePair("", differences[name])))
            yield found
            if name in second_baseline.tested:
                yield self.comparison(severity, second_baseline.name, second_baseline.tested[name], is_lexical=True)

    def best_set_first(self, names_of_candidates: Collection[str]) -> list[str]:
        """Return the names with those of the best set first, in its order."""
        best_set = [name for name in self.verdict.best_set if name in names_of_candidates]
        others = [name for name in names_of_candidates if name not in best_set]
        return best_set + others

    def steps(self) -> Iterator[Finding]:
        """Yield what each set-up gains over the best encoder that it is built on.

        Where that is the lexical baseline, what the first candidate gains is part of the answer on this.
        """
        for opponent, difference in self.built_on:
            if (difference.candidate, opponent) != (self.verdict.candidates[0], self.baseline.name):
                yield self.comparison("medium", opponent, difference, step=self.step_of(difference))

    @cached_property
    def built_on(self) -> list[tuple[str, Difference]]:
        """The differences from what set-ups are built on, in the order in which people decide."""
        tested = []
        for opponent in self.verdict.opponents:
            if opponent.role == "part":
                tested += [(opponent.name, difference) for difference in opponent.tested.values()]
        return sorted(tested, key=lambda pair: templates.place_of_step(self.step_of(pair[1])))

    def step_of(self, difference: Difference) -> str:
        """Return what the candidate of a difference adds to its parts."""
        return self.encoders[difference.candidate].step

    def comparison(
        self, severity: str, opponent: str, difference: Difference, *, is_lexical: bool = False, step: str = ""
    ) -> Finding:
        """Return whether a candidate is better than an opponent, with the difference and its p-value.

        Parameters
        ----------
        step
            What the candidate adds to the opponent, if it is built on it.
        """
        if self.verdict.leader == "Best":
            better, worse = "better", "worse"
        else:
            better, worse = "higher", "lower"
        style = self.difference_style
        written_counts, counts = "", dict[str, int]()
        items = "question" if self.corpus.documents else "item"
        won, tied, lost = difference.won, difference.tied, difference.lost
        if won is not None and tied is not None and lost is not None:
            counts = {"won": won, "tied": tied, "lost": lost}
            written_counts = f": {counted(won, items)} won, {tied:,} tied, {lost:,} lost"
        measured = {
            "heading": self.headline.heading,
            "interval": interval(difference.low, difference.high, style, signed=True),
            "counts": written_counts,
        }
        outcome = templates.MEASURED_DIFFERENCE.sentence(
            difference=number(difference.difference, style, signed=True), **measured
        )
        if tied and not won and not lost:
            outcome = templates.SAME_VALUES.sentence(heading=self.headline.heading, items=counted(tied, items))
        built_on = opponent
        is_part = is_lexical and self.verdict.opponent("part", difference.candidate).name == opponent
        if step == "fusion" or is_part:
            built_on = templates.BEST_PART.sentence(opponent=opponent)
        elif step == "index":
            built_on = templates.EXACT_SEARCH.sentence(opponent=opponent)
        if step:
            shown, not_shown = templates.STEP_DIFFERS, templates.STEP_NOT_SHOWN
        elif is_lexical:
            shown, not_shown = templates.DIFFERS_FROM_LEXICAL, templates.NOT_SHOWN_TO_DIFFER_FROM_LEXICAL
        else:
            shown, not_shown = templates.DIFFERS, templates.NOT_SHOWN_TO_DIFFER
        finding = self.finding(
            shown if difference.is_significant else not_shown,
            severity,
            encoder=difference.candidate,
            opponent=opponent,
            better=better,
            worse=worse,
            higher=better if difference.is_higher else worse,
            size=number(abs(difference.difference or 0.0), style),
            outcome=outcome,
            **measured,
            question=f"{step.capitalize()} {difference.candidate}?",
            step=step,
            gains="gains" if difference.is_higher else "loses",
            built_on=built_on,
        )
        return replace(
            finding,
            value=difference.difference,
            low=difference.low,
            high=difference.high,
            p=difference.p,
            counts=counts,
            format=style,
        )

    def precision(self) -> Iterator[Finding]:
        """Yield the minimum detectable differences of the deciding pairs, and how many items a smaller one needs."""
        units = self.verdict.smallest_units
        if self.verdict.smallest_difference is None or units is None:
            return
        pairs = self.deciding_pairs()
        if not pairs:
            return
        style = self.difference_style
        parts = [f"{number(pair.difference.smallest_difference, style)}{pair.name}" for pair in pairs]
        # Where a difference is significant, the present number of items was enough.
        undecided = [pair for pair in pairs if not pair.difference.is_significant]
        severity = "low"
        action = ""
        if undecided:
            severity = "medium"
            # What it takes to settle the comparison with the baseline stands there.
            if undecided[0].opponent != self.baseline.name:
                action = self.more_items(undecided[0])
        finding = self.finding(
            templates.DETECTABLE,
            severity,
            differences=", ".join(parts),
            units=counted(units, "independent unit"),
            action=action,
        )
        # The last pair is that of two candidates: the report shows its figure beside those that may be the best.
        value = pairs[-1].difference.smallest_difference
        yield replace(finding, value=value, format=style, counts={"units": units})

    def deciding_pairs(self) -> list[ChoicePair]:
        """Return the pairs that a choice depends on.

        They are the first candidate against the best lexical baseline, and the first candidate against the reference.
        If the first candidate is itself the reference, the runner-up takes the place of the reference. If none of these
        pairs was tested, return the least precise pair with the reference, without a name. Pairs of which too few items
        differ are left out.
        """
        v = self.verdict
        ranked = self.ranked or list(v.candidates)
        first = ranked[0]
        pairs = [_pair(first, self.baseline.name, self.baseline.difference(first))]
        if self.reference.name == first:
            # Differences from the reference are stored under the other encoder's name.
            compared = {difference.candidate for difference in self.reference.differences}
            runner_up = next((name for name in ranked if name in compared), "")
            pairs.append(_pair(first, runner_up, self.reference.difference(runner_up)))
        elif self.reference.name != self.baseline.name:
            pairs.append(_pair(first, self.reference.name, self.reference.difference(first)))
        tested = [pair for pair in pairs if pair.difference.smallest_difference is not None]
        if not tested:
            return [ChoicePair("", Difference("", smallest_difference=v.smallest_difference))]
        return [pair for pair in tested if v.detectable(pair.difference) is not None]

    def more_items(self, pair: ChoicePair) -> str:
        """Say how many items to add to detect a smaller difference of a pair; nothing if it is small already."""
        target = pair.difference.target
        more_units, more_items = pair.difference.more_units, pair.difference.more_items
        # More queries of a program would not make up for real questions.
        if target is None or more_units is None or more_items is None or self.has_made_queries:
            return ""
        if self.verdict.detectable(pair.difference) is None:
            return ""
        style = self.difference_style
        margin = ""
        if self.verdict.margin is not None:
            margin = f" (margin: {without_points(number(self.verdict.margin, style))})"
        items = "questions" if self.corpus.documents else "items"
        in_units = ""
        if more_items > more_units:
            units = self.verdict.smallest_units or 0
            too_many = may_be_independent(self.corpus) and units + more_units > self.corpus.documents
            documents = ", so documents, too" if too_many else ""
            in_units = f" in {more_units:,} units{documents}"
        return templates.MORE_ITEMS.sentence(
            wanted=f"{number(target, style)}{pair.name}",
            margin=margin,
            items=f"{more_items:,} {items}",
            units=in_units,
        )


def is_below(high: float | None, chance: float | None) -> bool:
    """Return whether the upper end of an interval is below chance; False if one of them is not known."""
    return high is not None and chance is not None and high < chance


def _pair(name: str, opponent: str, difference: Difference) -> ChoicePair:
    """Return the pair of a candidate and its opponent."""
    return ChoicePair(f" between {name} and {opponent}", difference, opponent)
