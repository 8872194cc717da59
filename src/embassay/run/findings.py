"""The findings of a whole run: those of its diagnostics, which encoders may be the best, and what limits the result.

Each diagnostic states findings about single encoders. This module adds those that all diagnostics have in common: the
candidates that may be the best, their comparisons with the lexical baseline, the minimum detectable difference and
truncated texts. Then it sorts all findings, the most important first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from embassay.corpora.queries.made import SOURCES as MADE_QUERIES
from embassay.formatting import counted, interval, names, number, p_value
from embassay.layout import Column, Format
from embassay.result import (
    SEVERITIES,
    CorpusRecord,
    EncoderRecord,
    Finding,
    Result,
    Row,
    Verdict,
    anchor,
    headline_rows,
)
from embassay.run.advice import WITH_UNIT_OPTION
from embassay.run.differences import Difference, read_difference, read_differences
from embassay.run.setting_findings import setting_findings

MAX_UNDEFINED = 0.05
"""A candidate with a larger share of undefined items is not ranked; see ``stats.best``."""
NAMED = 6
"""Candidates of the best set that a sentence names at most."""
NAMED_WORSE = 3
"""Worse candidates that a sentence names at most."""
OF_NEGATION = ("negated_antonyms", "minimal_pairs")
"""The diagnostics that show whether an encoder notices a negation."""
TARGETS = (0.15, 0.10, 0.05, 0.02)
"""Differences to aim at with more items, largest first; the first that is clearly below the detectable one is named."""
CLEARLY_BELOW = 0.7
"""A target is clearly below the minimum detectable difference if it is at most this share of it."""
MANY_TRUNCATED = 0.01
"""From this share of a corpus's texts on, truncation limits its result."""
WORDS_PER_TOKEN = 0.4
"""Words of a passage for each token that an encoder reads: text with code in it has about 2.5 tokens per word."""
UNIT_OF_QUESTIONS = "If the questions were written independently of each other, add unit=question to -c."


def findings_of(result: Result, headlines: Mapping[str, Column]) -> tuple[Finding, ...]:
    """Return all findings of a run, the most important first.

    Parameters
    ----------
    result
        The result with the findings of its diagnostics.
    headlines
        By diagnostic that ranks encoders, the name and format of its headline.

    Returns
    -------
    By severity; within one severity decisions first, then the diagnostics in the order of the run.
    """
    findings: list[Finding] = []
    for corpus in result.corpora:
        findings += _made_queries(corpus)
    findings += _decisions(result, headlines)
    findings += _best_first(result)
    if result.failures and all(encoder.baseline for encoder in result.encoders):
        # All requested encoders failed. What is known of the baselines is in the tables.
        findings = [finding for finding in findings if not finding.encoder]
    findings += _limits(result)
    # The sort is stable: within one severity the order stays.
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return tuple(_linked(finding) for finding in findings)


def _decisions(result: Result, headlines: Mapping[str, Column]) -> Iterator[Finding]:
    """Yield which encoders and settings to choose, for each verdict that ranks encoders."""
    for verdict in result.verdicts:
        if not verdict.quantity:
            continue
        headline = headlines[verdict.diagnostic]
        decision = Decision(result, verdict, headline)
        # In a run that varies settings, their comparison is the main question.
        if not decision.corpus.builtin:
            yield from setting_findings(result, verdict, headline)
        yield from decision.findings()


def _limits(result: Result) -> Iterator[Finding]:
    """Yield what limits the result: what was not tested, built-in corpora, few units, truncation, unknown words."""
    yield from _negation_not_tested(result)
    builtin_corpora = [corpus for corpus in result.corpora if corpus.builtin]
    if builtin_corpora:
        yield _builtin(has_own_data=len(builtin_corpora) < len(result.corpora))
    for corpus in result.corpora:
        yield from _few_units(corpus)
    for encoder in result.encoders:
        yield from _truncated(encoder, result)
        yield from _unknown_words(encoder, result)


def _best_first(result: Result) -> list[Finding]:
    """Return the findings of the diagnostics in the order of the report, those about the best encoders first.

    Within a section, findings about encoders with learnt parameters come before those about word counts, because users
    choose among the former; those about no single encoder come last.
    """
    models = {encoder.name for encoder in result.encoders if encoder.parameters}
    section_places: dict[tuple[str, str], int] = {}
    ranks: dict[tuple[str, str, str], int] = {}
    for section_place, verdict in enumerate(result.verdicts):
        section_places[verdict.diagnostic, verdict.corpus] = section_place
        # The candidates of a verdict are sorted, the highest value first.
        for rank, encoder in enumerate(verdict.candidates):
            ranks[verdict.diagnostic, verdict.corpus, encoder] = rank

    def order(finding: Finding) -> tuple[int, bool, int]:
        section = finding.diagnostic, finding.corpus
        section_place = section_places.get(section, len(section_places))
        is_no_model = finding.encoder not in models
        # Findings about all encoders, or about one that is no candidate, have no rank.
        rank = ranks.get((*section, finding.encoder), len(ranks))
        return section_place, is_no_model, rank

    return sorted(result.findings, key=order)


def _linked(finding: Finding) -> Finding:
    """Return a finding with the link to its section of the report."""
    if not finding.diagnostic:
        return finding
    return replace(finding, link=f"#{anchor(finding.diagnostic, finding.corpus)}")


def _made_queries(corpus: CorpusRecord) -> Iterator[Finding]:
    """Yield a finding if the queries of a corpus were made by a program."""
    if corpus.source in MADE_QUERIES.values():
        yield Finding(
            "high",
            f"{corpus.name} has no questions: the results are of {corpus.items:,} {corpus.source}. They tell weak "
            "encoders from strong ones; they do not choose among the best, and they understate word matching (bm25).",
            "Queries that nobody asked",
            corpus=corpus.name,
            action=f"Add real questions: -c {corpus.name}=…,questions=questions.csv (a question and the id of its "
            "right document in each line).",
        )


def _builtin(*, has_own_data: bool) -> Finding:
    """Return the finding that no best encoder is named on built-in corpora."""
    action = ""
    if not has_own_data:
        action = (
            "To see which encoder may be the best, and whether it is better than bm25, run it on your own data: "
            "embassay run -c mine=./docs,questions=questions.csv"
        )
    return Finding(
        "low",
        "Built-in corpora are for trying things out: no best encoder is named on them.",
        "Built-in corpora",
        action=action,
    )


def _negation_not_tested(result: Result) -> Iterator[Finding]:
    """Yield a finding if the run tests search, but not whether an encoder notices a negation."""
    diagnostics = {verdict.diagnostic for verdict in result.verdicts}
    has_candidates = any(not encoder.baseline for encoder in result.encoders)
    if has_candidates and "retrieval" in diagnostics and diagnostics.isdisjoint(OF_NEGATION):
        yield Finding(
            "low",
            "Whether an encoder notices a negation was not tested.",
            "Negation was not tested",
            action="To see whether they notice a negation, add -c opposites (built in).",
        )


def _few_units(corpus: CorpusRecord) -> Iterator[Finding]:
    """Yield a finding if the effective number of units of a corpus is below half its items."""
    if corpus.effective_units >= corpus.items / 2 or corpus.builtin:
        return
    items = "questions" if corpus.documents else "items"
    action = ""
    if corpus.loader in WITH_UNIT_OPTION:
        action = UNIT_OF_QUESTIONS
    yield Finding(
        "medium",
        f"{corpus.name}: its {corpus.items:,} {items} depend on each other (they share texts, documents or a topic); "
        f"they form {corpus.units:,} units (effective number {corpus.effective_units:,.0f}).",
        "Few independent items",
        corpus=corpus.name,
        action=action,
    )


def _truncated(encoder: EncoderRecord, result: Result) -> Iterator[Finding]:
    """Yield the share of the texts of each corpus that an encoder truncates."""
    for corpus in result.corpora:
        truncated = encoder.truncated_in.get(corpus.name, 0)
        if not truncated:
            continue
        texts = encoder.texts_in.get(corpus.name, corpus.distinct_texts)
        share = truncated / texts
        severity = "low"
        action = ""
        if share >= MANY_TRUNCATED:
            severity = "medium"
            if corpus.loader in WITH_UNIT_OPTION and "passages=" not in encoder.setting:
                action = _shorter_passages(encoder)
        yield Finding(
            severity,
            f"{encoder.name} reads {encoder.max_tokens} tokens of a text: it truncates {truncated:,} of the "
            f"{texts:,} texts of {corpus.name} ({share:.1%}).",
            "Texts were truncated",
            corpus=corpus.name,
            encoder=encoder.name,
            consequence="Text after that point cannot be found.",
            action=action,
            value=share,
        )


def _unknown_words(encoder: EncoderRecord, result: Result) -> Iterator[Finding]:
    """Yield the share of the words that an encoder does not know; nothing for encoders that know all."""
    if encoder.unknown_words is None:
        return
    sentence = f"{encoder.name} does not know {encoder.unknown_words:.1%} of the words"
    if len(result.corpora) > 1:
        sentence += " of all corpora together"
    severity = "low"
    if encoder.without_words:
        severity = "medium"
        sentence += f"; {encoder.without_words:,} texts have no known word"
    yield Finding(severity, f"{sentence}.", "Unknown words", encoder=encoder.name, value=encoder.unknown_words)


def _shorter_passages(encoder: EncoderRecord) -> str:
    """Say how to cut documents so that an encoder reads them whole; the number of words is a multiple of ten."""
    readable_words = (encoder.max_tokens or 0) * WORDS_PER_TOKEN
    tens = round(readable_words / 10)
    words = max(10, 10 * tens)
    return f"Cut documents into shorter passages: add passages={words} to -c."


@dataclass(frozen=True)
class Pair:
    """Two encoders whose difference matters for a choice.

    Attributes
    ----------
    name
        `` between a and b``, to be written after a difference; may be empty.
    detectable
        The minimum detectable difference.
    is_significant
        Whether the observed difference is significant.
    """

    name: str
    detectable: float
    is_significant: bool


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
            yield from self.not_ranked()
            yield from self.undefined_as_wrong()
            yield from self.ranking()
            yield from self.comparisons()
            yield from self.precision()
        elif v.undefined:
            yield self.finding("medium", "Undefined", f"Undefined for every item: {names(v.undefined)}.")
        elif self.result.failures:
            sentence = "No candidate finished; the figures are of baselines."
            yield self.finding("high", "No candidate finished", sentence)
        else:
            sentence = "The run has only baselines."
            yield self.finding("medium", "Only baselines", sentence, action="Add an encoder with -e.")

    def finding(
        self,
        severity: str,
        title: str,
        sentence: str,
        encoder: str = "",
        action: str = "",
    ) -> Finding:
        """Return a finding about the headline, without a figure."""
        v = self.verdict
        return Finding(
            severity,
            sentence,
            title,
            diagnostic=v.diagnostic,
            corpus=v.corpus,
            encoder=encoder,
            action=action,
            quantity=v.quantity,
            subset=v.subset,
            condition=v.condition,
            format=self.headline.format,
        )

    @cached_property
    def corpus(self) -> CorpusRecord:
        """The corpus of the verdict."""
        return next(corpus for corpus in self.result.corpora if corpus.name == self.verdict.corpus)

    @cached_property
    def rows(self) -> dict[str, Row]:
        """By encoder the row of the quantity that encoders are ranked by."""
        return headline_rows(self.result, self.verdict)

    @property
    def difference_style(self) -> Format:
        """The format of a difference of two headline values."""
        return "points" if self.headline.format == "percent" else self.headline.format

    @property
    def is_good(self) -> bool:
        """Whether a high value recommends an encoder: not where higher is not better, or the first is below chance."""
        v = self.verdict
        if v.leader != "Best":
            return False
        return not _is_below(v.high, v.chance)

    @property
    def decides(self) -> bool:
        """Whether the ranking is a reason to choose an encoder: not if its queries were made by a program."""
        return self.is_good and self.corpus.source not in MADE_QUERIES.values()

    @property
    def ranked(self) -> list[str]:
        """The candidates that are ranked, highest value first."""
        return [name for name in self.verdict.candidates if name not in self.verdict.left_out]

    def ranking(self) -> Iterator[Finding]:
        """Yield which candidates may be the best, and which are excluded."""
        v = self.verdict
        ranked = self.ranked
        if len(v.candidates) == 1:
            sentence = f"One candidate: {self.named_headline(v.candidates[0])}."
            action = "Add a second encoder with -e to compare."
            yield self.finding("medium", "One candidate", sentence, v.candidates[0], action=action)
        elif not v.best_set:
            yield self.finding("medium", "No encoder is called best", f"No encoder is called best: {v.reason}.")
        elif len(ranked) == 1:
            sentence = f"Only {ranked[0]} can be ranked ({self.headline_value(ranked[0])})."
            yield self.finding("medium", "One ranked candidate", sentence, ranked[0])
        else:
            yield self.best_set(ranked)

    def best_set(self, ranked: list[str]) -> Finding:
        """Return the best set, with those that it excludes."""
        v = self.verdict
        # The heading is written once, with the first candidate.
        parts = [self.named_headline(v.best_set[0])]
        for name in v.best_set[1:NAMED]:
            value = self.headline_value(name, with_heading=False)
            parts.append(f"{name} ({value})")
        best = ", ".join(parts)
        if len(v.best_set) > NAMED:
            best += f" and {len(v.best_set) - NAMED} more"
        if self.is_good:
            first, lower = "best", "worse"
        else:
            first, lower = "highest", "lower"
        sentence = f"May be the {first} of {len(ranked)} candidates: {best} (95% confidence)."

        # The ranks rest on a two-sided test, the best set on a one-sided one, which may exclude more encoders.
        significant = []
        others = []
        for name in ranked:
            if name in v.best_set:
                continue
            if v.rank_low.get(name, 1) > 1:
                significant.append(name)
            else:
                others.append(name)
        if significant:
            sentence += f" Significantly {lower} than another candidate: {_some(significant)}."
        if others:
            sentence += f" Unlikely to be the {first}, but not significantly {lower} than any single candidate: "
            sentence += f"{_some(others)}."
        encoder = v.best_set[0] if len(v.best_set) == 1 else ""
        severity = "high" if self.decides else "medium"
        return self.finding(severity, f"May be the {first}", sentence, encoder)

    def not_ranked(self) -> Iterator[Finding]:
        """Yield which candidates are not ranked, and why."""
        v = self.verdict
        if v.undefined:
            sentence = f"Undefined for every item, so not compared: {names(v.undefined)}."
            yield self.finding("medium", "Not ranked", sentence)
        # The only other reason is a constant: a correlation needs values that vary on the common items.
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
            sentence = f"Undefined for more than {share} of the items, so not ranked: {names(often_undefined)}."
            yield self.finding("medium", "Not ranked", sentence)
        if constant:
            sentence = f"The same value for all compared items, so not ranked: {names(constant)}."
            yield self.finding("medium", "Not ranked", sentence)

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
                sentence = f"{name} is undefined for {count:,} items; counted as wrong, the value is {value}."
                yield self.finding("medium", "Undefined items", sentence, name)

    def named_headline(self, name: str) -> str:
        """Write a candidate with its headline value."""
        return f"{name} ({self.headline_value(name)})"

    def headline_value(self, name: str, *, with_heading: bool = True) -> str:
        """Write a candidate's headline value and its heading; where its interval lies below chance, say so."""
        row = self.rows.get(name)
        if row is None:
            return self.headline.heading
        style = self.headline.format
        text = number(row.value, style, signed=style == "points")
        if with_heading:
            text += f" {self.headline.heading}"
        if _is_below(row.high, self.verdict.chance):
            text += f", below chance ({number(self.verdict.chance, style)})"
        return text

    def comparisons(self) -> Iterator[Finding]:
        """Yield how the candidates compare with the lexical baseline and, where there are several, with the reference.

        The baseline decides whether a candidate is worth its price, so the best set's comparisons with it come first.
        """
        v = self.verdict
        if v.baseline:
            second_differences = read_differences(v.against_second_baseline)
            for name, difference in self._best_set_first(read_differences(v.against_baseline)).items():
                is_first = name in v.best_set or len(v.candidates) == 1
                severity = "high" if self.decides and is_first else "low"
                comparison = self.comparison(severity, name, v.baseline, difference)
                # Where bm25 is not the best lexical baseline, the sentence names it, too.
                if v.second_baseline and name in second_differences:
                    relation = f"{self.relation(v.second_baseline, second_differences[name])}."
                    comparison = replace(comparison, sentence=f"{comparison.sentence} It is {relation}")
                yield comparison
        # Where a lexical baseline is the reference, both families hold the same comparisons.
        if v.reference and v.reference != v.baseline:
            for name, difference in self._best_set_first(read_differences(v.against_reference)).items():
                yield self.comparison("low", name, v.reference, difference)

    def _best_set_first(self, differences: Mapping[str, Difference]) -> dict[str, Difference]:
        """Return differences by candidate, those of the best set first and in its order."""
        best_set = [name for name in self.verdict.best_set if name in differences]
        others = [name for name in differences if name not in best_set]
        return {name: differences[name] for name in [*best_set, *others]}

    def comparison(self, severity: str, name: str, opponent: str, difference: Difference) -> Finding:
        """Return whether a candidate is better than an opponent, with the difference and its p-value."""
        relation = self.relation(opponent, difference)
        title = relation.partition(":")[0]
        title = title[0].upper() + title[1:]
        finding = self.finding(severity, title, f"{name} is {relation}.", name)
        return replace(
            finding, value=difference.value, low=difference.low, high=difference.high, format=self.difference_style
        )

    def relation(self, opponent: str, difference: Difference) -> str:
        """Say how a candidate compares with an opponent, with the difference, its interval and its p-value."""
        if self.verdict.leader == "Best":
            better, worse = "better", "worse"
        else:
            better, worse = "higher", "lower"
        if not difference.is_significant:
            relation = f"not significantly {better} or {worse} than {opponent}"
        elif difference.value > 0:
            relation = f"{better} than {opponent}"
        else:
            relation = f"{worse} than {opponent}"
        amount = number(difference.value, self.difference_style, signed=True)
        ends = interval(difference.low, difference.high, self.difference_style, signed=True)
        return f"{relation}: {amount} {ends} of {self.headline.heading}, p (Holm) {p_value(difference.p)}"

    def precision(self) -> Iterator[Finding]:
        """Yield the minimum detectable differences of the deciding pairs, and how many items a smaller one needs."""
        units = self.verdict.smallest_units
        if self.verdict.smallest_difference is None or units is None:
            return
        pairs = self.deciding_pairs()
        style = self.difference_style
        parts = [f"{number(pair.detectable, style)}{pair.name}" for pair in pairs]
        sentence = f"Minimum detectable difference: {', '.join(parts)} ({counted(units, 'unit')}, 80% power)."
        # Where a difference is significant, the present number of items was enough.
        undecided = [pair for pair in pairs if not pair.is_significant]
        severity = "low"
        action = ""
        if undecided:
            severity = "medium"
            action = self.more_items(undecided[0], units)
        finding = self.finding(severity, "Minimum detectable difference", sentence, action=action)
        yield replace(finding, value=pairs[0].detectable, format=style)

    def deciding_pairs(self) -> list[Pair]:
        """Return the pairs that a choice depends on.

        They are the first candidate against the best lexical baseline, and the first candidate against the reference.
        If the first candidate is itself the reference, the runner-up takes the place of the reference. If none of these
        pairs was tested, return the least precise pair with the reference, without a name.
        """
        v = self.verdict
        ranked = self.ranked or list(v.candidates)
        first = ranked[0]
        pairs: list[Pair] = []
        if v.baseline and first in v.against_baseline:
            pairs += _pair(first, v.baseline, v.against_baseline[first])
        if v.reference == first:
            runners_up = [name for name in ranked if name in v.against_reference]
            if runners_up:
                pairs += _pair(first, runners_up[0], v.against_reference[runners_up[0]])
        elif v.reference and v.reference != v.baseline and first in v.against_reference:
            pairs += _pair(first, v.reference, v.against_reference[first])
        if pairs:
            return pairs
        return [Pair("", v.smallest_difference or 0.0, is_significant=False)]

    def more_items(self, pair: Pair, units: int) -> str:
        """Say how many items to add to detect a smaller difference of a pair; nothing if it is small already."""
        smaller = [target for target in TARGETS if target <= CLEARLY_BELOW * pair.detectable]
        if not smaller:
            return ""
        target = smaller[0]
        # The standard error of a difference is proportional to 1/√units.
        growth = (pair.detectable / target) ** 2 - 1
        wanted = number(target, self.difference_style)
        return f"To show a difference of {wanted}{pair.name}, add {self.further_items(growth, units)}."

    def further_items(self, growth: float, units: int) -> str:
        """Say how many items must be added.

        Parameters
        ----------
        growth
            The number to add, as a multiple of the present number.
        units
            The present number of independent units.
        """
        items = "questions" if self.corpus.documents else "items"
        further_items = _round_up(growth * self.verdict.items)
        sentence = f"about {further_items:,} {items}"
        if self.verdict.items > units:
            further_units = _round_up(growth * units)
            sentence += f" ({further_units:,} independent units; there are {units:,} now)"
        return sentence


def _is_below(high: float | None, chance: float | None) -> bool:
    """Return whether the upper end of an interval is below chance; False if one of them is not known."""
    return high is not None and chance is not None and high < chance


def _pair(name: str, opponent: str, entry: Mapping[str, float | None]) -> Iterator[Pair]:
    """Yield the pair of a verdict's entry, if its minimum detectable difference is known."""
    detectable = entry.get("smallest_difference")
    if detectable is not None:
        difference = read_difference(entry)
        is_significant = difference is not None and difference.is_significant
        yield Pair(f" between {name} and {opponent}", detectable, is_significant)


def _some(labels: Sequence[str]) -> str:
    """Write a list of encoders; if there are many, name the first ones and count the others."""
    if len(labels) <= NAMED_WORSE + 1:
        return names(labels)
    return f"{', '.join(labels[:NAMED_WORSE])} and {len(labels) - NAMED_WORSE} more"


def _round_up(number: float) -> int:
    """Return the next whole number; a number that is whole except for rounding errors stays."""
    return math.ceil(number * (1 - 1e-9))
