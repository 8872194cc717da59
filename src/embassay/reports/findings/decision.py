"""The decision of one verdict in sentences: what to use, what instead, what not, how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from embassay.core.claims import Template
from embassay.core.formatting import (
    counted,
    difference_format,
    interval,
    names,
    number,
    of_100,
    size_in_points,
    two_digits,
)
from embassay.core.grouping import grouped
from embassay.core.layout import Column, Format
from embassay.core.result import (
    Comparison,
    CorpusRecord,
    EncoderRecord,
    Finding,
    Result,
    Row,
    Screening,
    Verdict,
    between,
    record_of,
    worse_systems,
)
from embassay.corpora.queries.made import SOURCE as MADE_QUERIES
from embassay.diagnostics.findings import against_chance
from embassay.reports.findings import templates
from embassay.reports.findings.advice import WITH_ABOUT_OPTION
from embassay.reports.findings.screenings import screening_sentence
from embassay.stats.decide import Shortlist, decide

FAR = 2.5
"""In margins: what is lower by more is not to be used, with or without a verdict."""
MOST_NAMED = 3
"""Candidates that are named as undecided or as not to be used, at most."""
PARTS = ("half", "a third of", "a quarter of", "a fifth of", "a sixth of", "a seventh of", "an eighth of", "a ninth of")
"""A half, a third … in words, and so on."""
CLOSE = 0.1
"""How far from 1/n a ratio may be that is written as such, as a share of 1/n."""


@dataclass(frozen=True)
class Decision:
    """A verdict with what its sentences need.

    Attributes
    ----------
    headline
        The name and the format of the headline.
    accept
        The loss at which a cheaper candidate is still used; None for the margin of the headline.
    decided_by
        The diagnostic by which the choice is made instead; empty if it is made by this one.
    """

    result: Result
    verdict: Verdict
    headline: Column
    accept: float | None = None
    decided_by: str = ""

    def findings(self) -> Iterator[Finding]:
        """Yield what to use, what instead and what not, what set-ups add, and how sure that is."""
        v = self.verdict
        if self.corpus.builtin:
            return
        if not v.candidates:
            yield self.without_candidates()
            return
        yield from self.same_encoders()
        yield from self.not_ranked()
        yield from self.undefined_as_wrong()
        if self.choice is None:
            return
        if self.decides:
            yield self.use(self.choice)
            yield from self.alternatives(self.choice)
            yield from self.undecided(self.choice)
            yield from self.rejected(self.choice)
        else:
            yield self.highest(self.choice)
        if self.decided_by:
            return
        yield from self.steps(self.choice)
        yield from self.screened(self.choice)
        yield from self.precision(self.choice)
        yield from self.about()

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

    @cached_property
    def values(self) -> dict[str, float]:
        """The headline value by encoder, where it has one."""
        return {name: row.value for name, row in self.rows.items() if row.value is not None}

    @cached_property
    def pairs(self) -> tuple[Comparison, ...]:
        """What pairs of encoders differ by on the headline."""
        return self.result.differences(self.verdict)

    @cached_property
    def undefined(self) -> list[str]:
        """The candidates without a value."""
        encoders = [name for name, one in self.encoders.items() if not one.baseline and not one.is_chance]
        return [name for name in encoders if name in self.rows and self.rows[name].value is None]

    @property
    def difference_style(self) -> Format:
        """The format of a difference of two headline values."""
        return difference_format(self.headline.format)

    @property
    def has_made_queries(self) -> bool:
        """Whether a program made the queries of the corpus."""
        return self.corpus.source == MADE_QUERIES

    @property
    def decides(self) -> bool:
        """Whether a higher value is a reason to choose an encoder: not if a program made the queries."""
        return self.verdict.is_of_right and not self.has_made_queries and not self.decided_by

    # The choice

    @cached_property
    def choice(self) -> Shortlist | None:
        """The decision over candidates and lexical baseline; None if none has a value.

        An index is chosen for a model, and a copy that lists the same stands for its original.
        """
        values = {name: self.values[name] for name in self.to_choose_from if name in self.values}
        if not values:
            return None
        margin = self.headline.margin
        accept = margin if self.accept is None else self.accept
        costs = {name: self.cost(name) for name in values}
        return decide(values, worse_systems(self.pairs), costs, accept=accept, far=max(FAR * margin, accept))

    @cached_property
    def to_choose_from(self) -> list[str]:
        """The candidates and the lexical baseline, in the order of the run, without what is judged beside a model."""
        v = self.verdict
        names_of_candidates = {name for name in v.candidates if name not in v.left_out} | {v.baseline}
        screened = {one.encoder for one in self.screenings if one.step == "index" or one.outcome != "differs"}
        return [name for name in self.encoders if name in names_of_candidates and name not in screened]

    def cost(self, name: str) -> tuple[float, float, float]:
        """Return what a candidate costs: the number of models and steps, parameters, bytes of its vectors.

        Parameters stand for the time of a question: measured times differ from run to run, and a decision must not.
        """
        parts = self.with_parts(name)
        parameters = [self.encoders[model].parameters for model in self.models(name)]
        known = [number for number in parameters if number is not None]
        size = self.encoders[name].index_bytes(self.verdict.corpus)
        return (
            float(len(parts)),
            float(sum(known)) if len(known) == len(parameters) else math.inf,
            math.inf if size is None else float(size),
        )

    def with_parts(self, name: str) -> set[str]:
        """Return what a set-up consists of: itself, and all that it is built on; a copy of a model is one thing."""
        record = self.encoders[name]
        if record.step not in ("fusion", "reranker"):
            return {name}
        return {name}.union(*(self.with_parts(part) for part in record.parts if part in self.encoders))

    def models(self, name: str) -> set[str]:
        """Return the models that a candidate runs: itself, or those that it is derived from."""
        parts = [part for part in self.encoders[name].parts if part in self.encoders]
        return set[str]().union(*map(self.models, parts)) or {name}

    def use(self, choice: Shortlist) -> Finding:
        """Return what to use."""
        row = self.rows[choice.use]
        template = templates.USE_NONE if self.is_below_chance(row) else templates.USE
        found = self.finding(template, encoder=choice.use, headline=self.said_headline(choice.use))
        return replace(found, value=row.value, low=row.low, high=row.high)

    def is_below_chance(self, row: Row) -> bool:
        """Return whether the interval of a value lies below chance; False if one of them is not known."""
        return against_chance(row, self.verdict.chance) == "below"

    def highest(self, choice: Shortlist) -> Finding:
        """Return which value is the highest, where that recommends nobody, and which are lower."""
        lower = [f" {self.versus(name, choice.highest)}." for name, better in choice.rejected.items() if better]
        more = "".join(lower[:MOST_NAMED])
        if self.decided_by:
            more = templates.DECIDED_BY.sentence(diagnostic=self.decided_by)
        headline = self.said_headline(choice.highest)
        return self.finding(templates.HIGHEST_VALUE, encoder=choice.highest, headline=headline, more=more)

    def alternatives(self, choice: Shortlist) -> Iterator[Finding]:
        """Yield what may be used instead, each with what it costs beside the one to use."""
        size_of_use = self.encoders[choice.use].index_bytes(self.verdict.corpus)
        for name in choice.others:
            said = self.versus(name, choice.use)
            size = self.encoders[name].index_bytes(self.verdict.corpus)
            if size and size_of_use and size != size_of_use:
                said += f", {written_ratio(size / size_of_use)} the bytes"
            yield self.with_difference(self.finding(templates.OR, encoder=name, others=said), name, choice.use)

    def undecided(self, choice: Shortlist) -> Iterator[Finding]:
        """Yield what is compared with the one to use, and neither shown to be worse nor named instead of it."""
        if others := self.undecided_names(choice):
            yield self.finding(templates.UNDECIDED, others=self.listed(dict.fromkeys(others, choice.use), choice))

    def undecided_names(self, choice: Shortlist) -> list[str]:
        """Return the candidates that a test does not tell from the one to use, without those named instead of it."""
        others = []
        for name in self.to_choose_from:
            pair = between(self.pairs, name, choice.use)
            # What a set-up adds to what it is derived from has a line of its own.
            if pair is None or pair.p_holm is None or pair.family == "step":
                continue
            is_worse = choice.rejected.get(name) is not None
            if not is_worse and name not in choice.others:
                others.append(name)
        return others

    def rejected(self, choice: Shortlist) -> Iterator[Finding]:
        """Yield what not to use: what is shown to be worse, and what is far lower and not tested."""
        if pairs := self.rejected_pairs(choice):
            yield self.finding(templates.NOT, rejected=self.listed(pairs, choice))

    def rejected_pairs(self, choice: Shortlist) -> dict[str, str]:
        """Return with what each rejected candidate is compared: the one to use, if that verdict is one against it."""
        compared = {}
        for name, better in choice.rejected.items():
            pair = between(self.pairs, name, choice.use)
            is_tested = pair is not None and pair.p_holm is not None
            is_shown = pair is not None and pair.is_significant
            # What a test does not tell from the one to use is undecided, or has a line of its own.
            if better is not None or not is_tested:
                compared[name] = choice.use if better is None or is_shown else better
        return compared

    def listed(self, pairs: dict[str, str], choice: Shortlist) -> str:
        """Write the differences of the first few pairs, those that are tested first, and how many more there are."""
        tested, others = list[str](), list[str]()
        for name, other in pairs.items():
            pair = between(self.pairs, name, other)
            text = self.versus(name, other, than=other != choice.use)
            if pair is not None and pair.p_holm is not None:
                tested.append(text)
            else:
                others.append(text + templates.NOT_TESTED.sentence())
        said = [*tested, *others][:MOST_NAMED]
        if len(pairs) > MOST_NAMED:
            said.append(f"And {len(pairs) - MOST_NAMED:,} more")
        return ". ".join(said)

    def with_difference(self, finding: Finding, name: str, other: str) -> Finding:
        """Return a finding with the figure of a pair, if the two are compared."""
        pair = between(self.pairs, name, other)
        if pair is None:
            return finding
        return replace(
            finding,
            value=pair.difference,
            low=pair.low,
            high=pair.high,
            p=pair.p_holm,
            format=self.difference_style,
        )

    def versus(self, name: str, other: str, *, than: bool = False) -> str:
        """Write how a candidate differs from another one: what was observed, its interval, items won and lost."""
        return templates.VERSUS.sentence(encoder=name, difference=self.difference(name, other, than=than))

    def difference(self, name: str, other: str, *, than: bool = False) -> str:
        """Write ``3.3 points lower [−9.1, +2.4] (2 won, 4 lost)``.

        Parameters
        ----------
        than
            Whether the other one is named.
        """
        pair = between(self.pairs, name, other)
        if pair is None:
            difference = self.values.get(name, 0.0) - self.values.get(other, 0.0)
            pair = Comparison(**vars(self.verdict.key), a=name, b=other, difference=difference)
        size = pair.difference or 0.0
        style = self.difference_style
        written = number(abs(size), style)
        text, word = f"{written} {'lower' if size < 0 else 'higher'}", "than"
        if not any(digit in written for digit in "123456789"):
            text, word = "the same value", "as"
        if than:
            text += f" {word} {other}"
        text = f"{text} {interval(pair.low, pair.high, style, signed=True)}".rstrip()
        # Items of a share are won and lost.
        if self.headline.format == "percent" and pair.family != "all":
            text += f" ({pair.won:,} won, {pair.lost:,} lost)"
        return text

    # Beside it

    def steps(self, choice: Shortlist) -> Iterator[Finding]:
        """Yield what a fusion, a reranker and other set-ups add, where no other line says it."""
        said = self.said_pairs(choice)
        screened = {one.encoder for one in self.screenings}
        for pair in self.pairs:
            is_said = pair.a in screened or frozenset((pair.a, pair.b)) in said
            if pair.family == "step" and not is_said:
                is_open = pair.p_holm is not None and not pair.is_significant
                finding = self.finding(
                    templates.STEP,
                    encoder=pair.a,
                    unsure=", not shown to differ" if is_open else "",
                    step=pair.step,
                    question=pair.step.capitalize(),
                    difference=self.difference(pair.a, pair.b, than=True),
                )
                yield self.with_difference(finding, pair.a, pair.b)

    def said_pairs(self, choice: Shortlist) -> set[frozenset[str]]:
        """Return the pairs whose difference stands with the choice."""
        if not self.decides:
            return set()
        others = {frozenset((choice.use, name)) for name in (*choice.others, *self.undecided_names(choice))}
        return others | {frozenset(pair) for pair in self.rejected_pairs(choice).items()}

    @property
    def screenings(self) -> list[Screening]:
        """What was judged without labels on the corpus."""
        return [one for one in self.result.screenings if one.corpus == self.verdict.corpus]

    def screened(self, choice: Shortlist) -> Iterator[Finding]:
        """Yield what indexes and copies of a model list of what the exact search of the original finds."""
        said = self.said_pairs(choice)
        for question, is_index in ((templates.INDEX, True), (templates.COPIES, False)):
            sentences = []
            for one in self.screenings:
                if (one.step == "index") == is_index:
                    sentences.append(screening_sentence(one))
                    # What the labels say stands beside it, never in front.
                    if one.outcome == "differs" and frozenset((one.encoder, one.base)) not in said:
                        difference = self.difference(one.encoder, one.base)
                        sentences.append(templates.BY_LABELS.sentence(difference=difference))
            if sentences:
                yield self.finding(templates.SCREENED, sentences=" ".join(sentences), question=question)

    def precision(self, choice: Shortlist) -> Iterator[Finding]:
        """Yield which difference could be detected, and how many items a smaller one needs; or why none can."""
        v = self.verdict
        if v.reason:
            yield self.finding(templates.NO_REASON, reason=v.reason)
            return
        pair = self.deciding_pair(choice)
        if pair is None or pair.smallest_difference is None:
            return
        style = self.difference_style
        more = ""
        # More queries of a program would not make up for real questions.
        if pair.target is not None and pair.items_needed is not None and not self.has_made_queries:
            target = size_in_points(pair.target) if style == "points" else number(pair.target, style)
            items = counted(pair.items_needed, "question" if self.corpus.documents else "item")
            more = templates.MORE_ITEMS.sentence(target=target, items=items)
        found = self.finding(
            templates.DATA, smallest=number(pair.smallest_difference, style), a=pair.a, b=pair.b, more=more
        )
        yield replace(found, value=pair.smallest_difference, format=style)

    def deciding_pair(self, choice: Shortlist) -> Comparison | None:
        """Return the pair that the choice depends on most: with the next best, else the main one, else any."""
        of_choice = [between(self.pairs, choice.use, name) for name in (*choice.others, *choice.rejected)]
        main = [pair for pair in self.pairs if pair.family == "main"]
        for pair in (*of_choice, *main, *self.pairs):
            if pair is not None and pair.smallest_difference is not None:
                return pair
        return None

    def about(self) -> Iterator[Finding]:
        """Yield what the verdict is about, of questions on documents."""
        if self.corpus.loader not in WITH_ABOUT_OPTION or self.has_made_queries:
            return
        if self.corpus.settings.get("about") == "these-documents":
            yield self.finding(templates.ABOUT_THESE, pages=f"{self.corpus.document_noun}s")
        elif self.corpus.most_right and not self.verdict.reason:
            yield self.finding(templates.ABOUT_OTHERS, pages=f"{self.corpus.document_noun}s")

    def said_headline(self, name: str) -> str:
        """Write a candidate's headline value as a clause that begins with a capital letter."""
        row = self.rows[name]
        style = self.headline.format
        value = f"{number(row.value, style, signed=style == 'points')} {interval(row.low, row.high, style)}".rstrip()
        said = (self.headline.says or f"{{value}} {self.headline.heading}").format(
            value=value, of_100=of_100(row.value, row.low, row.high, row.items), document=self.corpus.document_noun
        )
        below = ""
        if self.is_below_chance(row):
            reference = self.headline.level
            # Other names tell the value by themselves.
            if reference == "chance":
                reference = f"chance ({number(self.verdict.chance, style)})"
            below = templates.BELOW_LEVEL.sentence(level=reference)
        return f"{said[:1].upper()}{said[1:]}{below}"

    # What cannot be ranked

    def without_candidates(self) -> Finding:
        """Return why there is no candidate."""
        if self.undefined:
            return self.finding(templates.UNDEFINED, undefined=self.said_undefined())
        return self.finding(templates.NO_CANDIDATE if self.result.failed else templates.ONLY_BASELINES)

    def same_encoders(self) -> Iterator[Finding]:
        """Yield which labels stand for one encoder."""

        def identity(name: str) -> tuple[str, str, str]:
            encoder = self.encoders[name]
            return encoder.fingerprint, encoder.similarity, encoder.setting

        for same in grouped(self.verdict.candidates, identity).values():
            if len(same) > 1:
                yield self.finding(templates.SAME_ENCODER, encoders=names(same))

    def not_ranked(self) -> Iterator[Finding]:
        """Yield which candidates are not ranked, and why."""
        if self.undefined:
            yield self.finding(templates.NOT_COMPARED, undefined=self.said_undefined())
        if self.verdict.left_out:
            yield self.finding(templates.OFTEN_UNDEFINED, encoders=names(self.verdict.left_out))

    def said_undefined(self) -> str:
        """Name the candidates without a value, with the reasons in brackets; each such row has one."""
        reasons = dict.fromkeys(self.rows[name].reason or "" for name in self.undefined)
        return f"{names(self.undefined)} ({'; '.join(reasons)})"

    def undefined_as_wrong(self) -> Iterator[Finding]:
        """Yield the value with undefined items counted as wrong, for each candidate with more of them than another."""
        undefined = {name: self.rows[name].undefined for name in self.verdict.candidates if name in self.values}
        fewest = min(undefined.values(), default=0)
        as_wrong = self.verdict.undefined_as_wrong
        for name, count in undefined.items():
            # Items that are undefined for all candidates favour none.
            if count > fewest and name in as_wrong:
                value = number(as_wrong[name], self.headline.format)
                yield self.finding(templates.UNDEFINED_ITEMS, encoder=name, items=counted(count, "item"), value=value)


def written_ratio(ratio: float) -> str:
    """Write a ratio before a noun: ``half``, ``a third of``, ``12% of``, ``2.5 times``."""
    if ratio > 1:
        return f"{two_digits(ratio)} times"
    whole = round(1 / ratio)
    if 2 <= whole < len(PARTS) + 2 and abs(ratio * whole - 1) <= CLOSE:
        return PARTS[whole - 2]
    return f"{two_digits(100 * ratio).removesuffix('.0')}% of"
