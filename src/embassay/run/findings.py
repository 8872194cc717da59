"""The findings of a whole run: what its diagnostics found, who may be the best, and what limits all of it.

A diagnostic states what it finds about an encoder. Here the findings are added that are the same for all diagnostics:
the candidates that may be the best, their comparison with the lexical baseline, the differences that this many units
can show, texts that were truncated. Then all are put in order, the most important first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
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
from embassay.run.setting_findings import setting_findings

ALPHA = 0.05
MAX_UNDEFINED = 0.05
"""A candidate with a larger share of undefined items is not ranked; see ``stats.best``."""
NAMED = 6
"""Candidates of the best set that a sentence names at most."""
NAMED_WORSE = 3
"""Worse candidates that a sentence names at most."""
OF_NEGATION = ("negated_antonyms", "minimal_pairs")
"""The diagnostics that tell whether an encoder notices a negation."""
TARGETS = (0.15, 0.10, 0.05, 0.02)
"""Differences for which the number of questions is stated: the first that is clearly below what can be shown now."""
CLEARLY_BELOW = 0.7
"""A difference is named only if it is at most this share of what can be shown now."""
MANY_TRUNCATED = 0.01
"""From this share of a corpus's texts on, truncation limits its result."""
WORDS_PER_TOKEN = 0.4
"""Words for each token that a passage may have, so that text with code in it fits too."""
UNIT_OF_QUESTIONS = "If the questions were written independently of each other, add unit=question to -c."
Gap = Mapping[str, float | None]
"""A difference from an opponent: ``difference``, ``low``, ``high``, ``p`` and perhaps ``smallest_difference``."""


def findings_of(result: Result, headlines: Mapping[str, Column]) -> tuple[Finding, ...]:
    """Return all findings of a run, the most important first.

    Parameters
    ----------
    result
        Everything but the run's own findings; those of its diagnostics are in it.
    headlines
        By each diagnostic that ranks encoders, how its headline is called and written.

    Returns
    -------
    By severity; within one severity decisions first, then the diagnostics in the order of the run.
    """
    findings = [finding for corpus in result.corpora for finding in _made_queries(corpus)]
    for verdict in result.verdicts:
        if verdict.quantity:
            # Whoever varies settings asks about them first.
            if not _is_builtin(result, verdict.corpus):
                findings += setting_findings(result, verdict, headlines[verdict.diagnostic])
            findings += Decision(result, verdict, headlines[verdict.diagnostic]).findings()
    findings += _best_first(result)
    if all(encoder.baseline for encoder in result.encoders) and result.failures:
        # The user asked about other encoders. What was found about the baselines is in the tables.
        findings = [finding for finding in findings if not finding.encoder]
    findings += _negation_not_tested(result)
    if any(corpus.builtin for corpus in result.corpora):
        findings.append(_builtin(has_own_data=not all(corpus.builtin for corpus in result.corpora)))
    findings += [finding for corpus in result.corpora for finding in _few_units(corpus)]
    findings += [finding for encoder in result.encoders for finding in _coverage(encoder, result)]
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return tuple(_linked(finding) for finding in findings)


def _is_builtin(result: Result, corpus: str) -> bool:
    return any(record.builtin for record in result.corpora if record.name == corpus)


def _best_first(result: Result) -> list[Finding]:
    """Return the findings of the diagnostics, those of one diagnostic and corpus with its best encoders first.

    Encoders with learnt parameters come before word counts: users choose among them.
    """
    models = {encoder.name for encoder in result.encoders if encoder.parameters}
    section_order: dict[tuple[str, str], int] = {}
    encoder_order: dict[tuple[str, str, str], int] = {}
    for section_place, verdict in enumerate(result.verdicts):
        section_order[verdict.diagnostic, verdict.corpus] = section_place
        for place, encoder in enumerate(verdict.candidates):
            encoder_order[verdict.diagnostic, verdict.corpus, encoder] = place

    def order(finding: Finding) -> tuple[int, bool, int]:
        section = section_order.get((finding.diagnostic, finding.corpus), len(section_order))
        # A finding about all encoders comes after those about single ones.
        encoder = encoder_order.get((finding.diagnostic, finding.corpus, finding.encoder), len(encoder_order))
        return section, finding.encoder not in models, encoder

    return sorted(result.findings, key=order)


def _linked(finding: Finding) -> Finding:
    """Return a finding with the link to its section of the report."""
    if not finding.diagnostic:
        return finding
    return replace(finding, link=f"#{anchor(finding.diagnostic, finding.corpus)}")


def _made_queries(corpus: CorpusRecord) -> Iterator[Finding]:
    """Yield that no person asked the queries of a corpus."""
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
    """Return that built-in corpora decide nothing."""
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
    """Yield that a search test alone does not tell whether an encoder notices a negation."""
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
    """Yield that items depend on each other so much that they count as far fewer."""
    if corpus.effective_units >= corpus.items / 2 or corpus.builtin:
        return
    items = "questions" if corpus.documents else "items"
    yield Finding(
        "medium",
        f"{corpus.name}: its {corpus.items:,} {items} depend on each other (they share texts, documents or a topic); "
        f"they form {corpus.units:,} units (effective number {corpus.effective_units:,.0f}).",
        "Few independent items",
        corpus=corpus.name,
        action=UNIT_OF_QUESTIONS if corpus.loader in WITH_UNIT_OPTION else "",
    )


def _coverage(encoder: EncoderRecord, result: Result) -> Iterator[Finding]:
    """Yield which share of each corpus an encoder truncates, and how many words it does not know."""
    for corpus in result.corpora:
        truncated = encoder.truncated_in.get(corpus.name, 0)
        if truncated:
            texts = encoder.texts_in.get(corpus.name, corpus.distinct_texts)
            share = truncated / texts
            is_many = share >= MANY_TRUNCATED
            can_be_shorter = corpus.loader in WITH_UNIT_OPTION and "passages=" not in encoder.setting
            yield Finding(
                "medium" if is_many else "low",
                f"{encoder.name} reads {encoder.max_tokens} tokens of a text: it truncates {truncated:,} of the "
                f"{texts:,} texts of {corpus.name} ({share:.1%}).",
                "Texts were truncated",
                corpus=corpus.name,
                encoder=encoder.name,
                consequence="Text after that point cannot be found.",
                action=_shorter_passages(encoder) if is_many and can_be_shorter else "",
                value=share,
            )
    together = " of all corpora together" if len(result.corpora) > 1 else ""
    if encoder.unknown_words is not None:
        empty = f"; {encoder.without_words:,} texts have no known word" if encoder.without_words else ""
        yield Finding(
            "medium" if encoder.without_words else "low",
            f"{encoder.name} does not know {encoder.unknown_words:.1%} of the words{together}{empty}.",
            "Unknown words",
            encoder=encoder.name,
            value=encoder.unknown_words,
        )


def _shorter_passages(encoder: EncoderRecord) -> str:
    """Say how to cut documents so that an encoder reads them whole; a word has about two tokens and a half in code."""
    words = max(10, 10 * round((encoder.max_tokens or 0) * WORDS_PER_TOKEN / 10))
    return f"Cut documents into shorter passages: add passages={words} to -c."


@dataclass(frozen=True)
class Pair:
    """Two encoders whose difference decides.

    Attributes
    ----------
    name
        `` between a and b``, as it follows a difference; may be empty.
    detectable
        The minimum detectable difference.
    significant
        Whether the present difference is significant.
    """

    name: str
    detectable: float
    significant: bool


@dataclass(frozen=True)
class Decision:
    """A verdict with what its findings need: the result that it is of, and how its headline is called and written."""

    result: Result
    verdict: Verdict
    headline: Column

    def findings(self) -> Iterator[Finding]:
        """Yield who may be the best, who is better than whom, and which differences cannot be seen."""
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
        consequence: str = "",
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
            consequence=consequence,
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
        """How a difference of two headline figures is written."""
        return "points" if self.headline.format == "percent" else self.headline.format

    @property
    def is_good(self) -> bool:
        """Whether a high value recommends an encoder: not where higher is not better, or the first is below chance."""
        v = self.verdict
        below_chance = v.chance is not None and v.high is not None and v.high < v.chance
        return v.leader == "Best" and not below_chance

    @property
    def decides(self) -> bool:
        """Whether the ranking is a reason to choose an encoder: queries that nobody asked are none."""
        return self.is_good and self.corpus.source not in MADE_QUERIES.values()

    def ranking(self) -> Iterator[Finding]:
        """Yield which candidates may be the best, and which are excluded."""
        v = self.verdict
        ranked = [name for name in v.candidates if name not in v.left_out]
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
        first_name, *other_names = v.best_set[:NAMED]
        # The name of the figure is written once, with the first candidate.
        parts = [self.named_headline(first_name)]
        parts += [f"{name} ({self.headline_value(name, with_heading=False)})" for name in other_names]
        best = ", ".join(parts)
        if len(v.best_set) > NAMED:
            best += f" and {len(v.best_set) - NAMED} more"
        # "Highest" where a higher value is not always a better one.
        first, lower = "highest", "lower"
        if self.is_good:
            first, lower = "best", "worse"
        sentence = f"May be the {first} of {len(ranked)} candidates: {best} (95% confidence)."

        # The ranks rest on a test of two sides, the best set on one of one side: it may exclude more.
        excluded = [name for name in ranked if name not in v.best_set]
        significant = [name for name in excluded if v.rank_low.get(name, 1) > 1]
        others = [name for name in excluded if name not in significant]
        if significant:
            sentence += f" Significantly {lower} than another candidate: {_some(significant)}."
        if others:
            sentence += f" Unlikely to be the {first}, but not significantly {lower} than any single candidate: "
            sentence += f"{_some(others)}."
        encoder = v.best_set[0] if len(v.best_set) == 1 else ""
        return self.finding("high" if self.decides else "medium", f"May be the {first}", sentence, encoder)

    def not_ranked(self) -> Iterator[Finding]:
        """Yield which candidates are not ranked, and why."""
        v = self.verdict
        if v.undefined:
            sentence = f"Undefined for every item, so not compared: {names(v.undefined)}."
            yield self.finding("medium", "Not ranked", sentence)
        # Beside undefined items there is one other reason: a correlation needs values that vary on the common items.
        often_undefined, constant = [], []
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
        """Write a candidate's headline value and what it is called; where its interval lies below chance, say so."""
        row, chance = self.rows.get(name), self.verdict.chance
        if row is None:
            return self.headline.heading
        text = number(row.value, self.headline.format, signed=self.headline.format == "points")
        if with_heading:
            text += f" {self.headline.heading}"
        if chance is not None and row.high is not None and row.high < chance:
            text += f", below chance ({number(chance, self.headline.format)})"
        return text

    def comparisons(self) -> Iterator[Finding]:
        """Yield how the candidates compare with the lexical baseline and, where there are several, with the reference.

        The baseline decides whether a candidate is worth its price, so the best set's comparisons with it come first.
        """
        v = self.verdict
        if v.baseline:
            for name, gap in self._in_order(v.against_baseline):
                is_first = name in v.best_set or len(v.candidates) == 1
                severity = "high" if self.decides and is_first else "low"
                yield self.with_second_baseline(self.comparison(severity, name, v.baseline, gap))
        # A lexical baseline may be the reference, too: then both families ask the same.
        if v.reference and v.reference != v.baseline:
            for name, gap in self._in_order(v.against_reference):
                yield self.comparison("low", name, v.reference, gap)

    def with_second_baseline(self, finding: Finding) -> Finding:
        """Return a comparison with the best lexical baseline, completed by that with bm25 where it is not the best."""
        opponent = self.verdict.second_baseline
        gap = self.verdict.against_second_baseline.get(finding.encoder)
        if not opponent or not gap or gap["difference"] is None or gap["p"] is None:
            return finding
        return replace(finding, sentence=f"{finding.sentence} It is {self.relation(opponent, gap)}.")

    def _in_order(self, gaps: Mapping[str, Gap]) -> Iterator[tuple[str, Gap]]:
        """Yield the defined differences by candidate, those of the best set first and in its order."""
        best_first = [name for name in self.verdict.best_set if name in gaps]
        best_first += [name for name in gaps if name not in best_first]
        for name in best_first:
            gap = gaps[name]
            if gap["difference"] is not None and gap["p"] is not None:
                yield name, gap

    def comparison(self, severity: str, name: str, opponent: str, gap: Gap) -> Finding:
        """Return whether a candidate is better than an opponent, with the difference and its p-value."""
        relation = self.relation(opponent, gap)
        title = relation.partition(":")[0]
        comparison = self.finding(severity, title[0].upper() + title[1:], f"{name} is {relation}.", name)
        return replace(
            comparison, value=gap["difference"], low=gap["low"], high=gap["high"], format=self.difference_style
        )

    def relation(self, opponent: str, gap: Gap) -> str:
        """Say how a candidate compares with an opponent, with the difference, its interval and its p-value."""
        better, worse = "higher", "lower"
        if self.verdict.leader == "Best":
            better, worse = "better", "worse"
        difference = gap["difference"] or 0.0
        if not _is_significant(gap):
            relation = f"not significantly {better} or {worse} than {opponent}"
        elif difference > 0:
            relation = f"{better} than {opponent}"
        else:
            relation = f"{worse} than {opponent}"
        amount = number(difference, self.difference_style, signed=True)
        ends = interval(gap["low"], gap["high"], self.difference_style, signed=True)
        return f"{relation}: {amount} {ends} of {self.headline.heading}, p (Holm) {p_value(gap['p'])}"

    def precision(self) -> Iterator[Finding]:
        """Yield the minimum detectable differences of the pairs that decide, and how many items a smaller one takes."""
        units = self.verdict.smallest_units
        if self.verdict.smallest_difference is None or units is None:
            return
        pairs = self.deciding_pairs()
        style = self.difference_style
        parts = [f"{number(pair.detectable, style)}{pair.name}" for pair in pairs]
        sentence = f"Minimum detectable difference: {', '.join(parts)} ({counted(units, 'unit')}, 80% power)."
        # Where a difference is significant, the present number of items was enough.
        undecided = next((pair for pair in pairs if not pair.significant), None)
        severity, action = "low", ""
        if undecided is not None:
            severity, action = "medium", self.more_items(undecided, units)
        precision = self.finding(severity, "Minimum detectable difference", sentence, action=action)
        yield replace(precision, value=pairs[0].detectable, format=style)

    def deciding_pairs(self) -> list[Pair]:
        """Return the pairs that a choice depends on.

        They are the first candidate against the best lexical baseline, and against the reference or, where it is the
        reference itself, the runner-up against it. Where none of them was tested, it is the least precise pair with the
        reference, without a name.
        """
        v = self.verdict
        ranked = [name for name in v.candidates if name not in v.left_out] or list(v.candidates)
        first = ranked[0]
        chosen: list[tuple[str, str, Gap]] = []
        if v.baseline and first in v.against_baseline:
            chosen.append((first, v.baseline, v.against_baseline[first]))
        if v.reference == first:
            runner_up = next((name for name in ranked if name in v.against_reference), None)
            if runner_up is not None:
                chosen.append((first, runner_up, v.against_reference[runner_up]))
        elif v.reference and v.reference != v.baseline and first in v.against_reference:
            chosen.append((first, v.reference, v.against_reference[first]))
        pairs = []
        for name, opponent, gap in chosen:
            detectable = gap.get("smallest_difference")
            if detectable is not None:
                pairs.append(Pair(f" between {name} and {opponent}", detectable, _is_significant(gap)))
        return pairs or [Pair("", v.smallest_difference or 0.0, significant=False)]

    def more_items(self, pair: Pair, units: int) -> str:
        """Say how many items to add to detect a smaller difference of a pair; nothing if that of now is small."""
        smaller = [target for target in TARGETS if target <= CLEARLY_BELOW * pair.detectable]
        if not smaller:
            return ""
        target = smaller[0]
        # The error of a difference falls with the square root of the number of units.
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
        further = f"about {_rounded_up(growth * self.verdict.items):,} {items}"
        if self.verdict.items > units:
            return f"{further} ({_rounded_up(growth * units):,} independent units; there are {units:,} now)"
        return further


def _is_significant(gap: Gap) -> bool:
    """Return whether a difference is significant after Holm's correction."""
    p = gap["p"]
    return p is not None and p <= ALPHA


def _some(labels: list[str]) -> str:
    """Write a list of encoders; of many the first ones, and how many there are besides."""
    if len(labels) <= NAMED_WORSE + 1:
        return names(labels)
    return f"{', '.join(labels[:NAMED_WORSE])} and {len(labels) - NAMED_WORSE} more"


def _rounded_up(number: float) -> int:
    """Return the next whole number; one that is whole but for rounding errors stays."""
    return math.ceil(number * (1 - 1e-9))
