"""Figures and findings in words, the same in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from embassay.layout import Column, Format
from embassay.result import FEW_UNITS, CorpusRecord, Result, Row, Verdict

DASH = "–"
ALPHA = 0.05
MAX_UNDEFINED = 0.05
"""A candidate with a larger share of undefined items is not ranked; see ``stats.best``."""
SHOWN = 6
"""Encoders that a sentence, or a list of comparisons, names at most."""


def number(value: float | None, style: Format = "percent", signed: bool = False) -> str:
    """Write one number: a share with one decimal, a number with three, a count with none; a dash for nothing."""
    if value is None:
        return DASH
    sign = "+" if signed else ""
    match style:
        case "percent":
            text = f"{100 * value:{sign}.1f}%"
        case "points":
            text = f"{100 * value:{sign}.1f} points"
        case "number":
            text = f"{value:{sign},.3f}"
        case "count":
            text = f"{value:{sign},.0f}"
    if not sign and not any(digit in text for digit in "123456789"):
        text = text.removeprefix("-")  # what rounds to 0 has no sign
    return text.replace("-", "−")


def interval(low: float | None, high: float | None, style: Format = "percent", signed: bool = False) -> str:
    """Write an interval without its unit: ``[1.4, 2.7]``; nothing for none."""
    if low is None or high is None:
        return ""
    ends = [number(end, style, signed).removesuffix("%").removesuffix(" points") for end in (low, high)]
    return f"[{', '.join(ends)}]"


def p_value(p: float | None) -> str:
    """Write a p-value with two digits, never as 0."""
    if p is None:
        return DASH
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def remark(row: Row) -> str:
    """Return what a reader must know about a value: why it is missing, few units, undefined items."""
    remarks = []
    if row.reason:
        remarks.append(row.reason)
    elif row.low is not None and row.units < FEW_UNITS:
        remarks.append(f"few units ({row.units})")
    if row.value is not None and row.undefined:
        remarks.append(f"{row.undefined} undefined")
    return "; ".join(remarks)


def names(labels: tuple[str, ...]) -> str:
    """Write a list: ``a, b and c``."""
    if len(labels) < 2:
        return "".join(labels)
    return f"{', '.join(labels[:-1])} and {labels[-1]}"


def counted(count: int, noun: str) -> str:
    """Write a number of things: ``1 item``, ``1,200 items``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def verdict(result: Result, found: Verdict, speed: Mapping[str, float], headline: Column) -> Iterator[str]:
    """Yield the verdict on one diagnostic and corpus, a sentence each.

    Parameters
    ----------
    headline
        How the figure that encoders are ranked by is called and written.
    speed
        Texts per second by encoder, where it was measured.
    """
    words = Words(result, found, headline)
    yield words.support()
    if not found.quantity:
        yield "This diagnostic does not rank encoders."
    elif words.corpus.builtin:
        yield "Built-in corpora are for trying things out: no best model is named."
    elif found.candidates:
        yield from words.ranking()
        yield from words.cost(speed)
        yield from words.against()
    elif found.undefined:
        yield f"Undefined for every item: {names(found.undefined)}."
    else:
        yield "The run has only baselines; add an encoder with -e."
    if found.smallest_difference is not None:
        difference = number(found.smallest_difference, words.difference_style)
        yield f"Minimum detectable difference: {difference} ({found.smallest_units:,} units, 80% power)."
    for note in found.notes:
        yield note if note.endswith(".") else f"{note}."
    yield from coverage(result)


def coverage(result: Result) -> Iterator[str]:
    """Say which encoders truncate texts, and which do not know all words."""
    together = " of all corpora together" if len(result.corpora) > 1 else ""
    for encoder in result.encoders:
        if encoder.truncated:
            limit = f"{encoder.name} reads {encoder.max_tokens} tokens"
            yield f"{limit}: {encoder.truncated:,} longer texts{together} were truncated."
        if encoder.unknown_words is not None:
            empty = f"; {encoder.without_words:,} texts have no known word" if encoder.without_words else ""
            yield f"{encoder.name} does not know {encoder.unknown_words:.1%} of the words{together}{empty}."


@dataclass(frozen=True)
class Words:
    """A verdict with what its sentences need: the result that it is of, and how its headline figure is written."""

    result: Result
    verdict: Verdict
    headline: Column

    @cached_property
    def corpus(self) -> CorpusRecord:
        """The corpus of the verdict."""
        return next(corpus for corpus in self.result.corpora if corpus.name == self.verdict.corpus)

    @cached_property
    def rows(self) -> dict[str, Row]:
        """By encoder the row of the quantity that encoders are ranked by."""
        v = self.verdict
        key = (v.diagnostic, v.corpus, v.quantity, v.subset, v.condition)
        rows: dict[str, Row] = {}
        for row in self.result.rows:
            same = (row.diagnostic, row.corpus, row.quantity, row.subset, row.condition) == key
            if same and v.measure in ("", row.measure):
                rows.setdefault(row.encoder, row)
        return rows

    @property
    def difference_style(self) -> Format:
        """How a difference of two headline figures is written."""
        return "points" if self.headline.format == "percent" else self.headline.format

    @property
    def below_chance(self) -> bool:
        """Whether even the first of the best set lies below chance: it is then no recommendation."""
        v = self.verdict
        return v.chance is not None and v.high is not None and v.high < v.chance

    def support(self) -> str:
        """Say what the figures rest on."""
        corpus, v = self.corpus, self.verdict
        source = f" Source: {corpus.source}." if corpus.source else ""
        if (v.items, v.units) != (corpus.items, corpus.units):
            return f"Support: {counted(corpus.distinct_texts, 'distinct text')}.{source}"
        if corpus.documents:
            return f"Support: {self.search_support()}.{source}"
        duplicates = f" ({counted(corpus.duplicates, 'duplicate row')})" if corpus.duplicates else ""
        units = counted(v.units, "independent unit")
        if corpus.effective_units < v.units / 2:
            units += f" (effective number {corpus.effective_units:.0f})"
        texts = counted(corpus.distinct_texts, "distinct text")
        return f"Support: {counted(v.items, 'item')}{duplicates} in {units}, {texts}.{source}"

    def search_support(self) -> str:
        """Say how many questions were asked, and how many documents there were."""
        corpus, v = self.corpus, self.verdict
        units = "" if v.units == v.items else f" in {counted(v.units, 'independent unit')}"
        with_items = [row for row in self.rows.values() if row.items]
        if with_items:
            # Any row says how many questions have an answer: these are the same for all encoders.
            row = with_items[0]
            answerable = row.items + row.undefined
            if answerable < v.items:
                units = f", {answerable:,} of them answerable and in {counted(row.units, 'independent unit')}"
        documents = counted(corpus.documents, "document")
        if corpus.documents != corpus.passages:
            documents += f" → {counted(corpus.passages, 'passage')}"
        return f"{counted(v.items, 'question')}{units}, {documents}"

    def ranking(self) -> Iterator[str]:
        """Say which candidates may be the best, and which are not ranked."""
        v = self.verdict
        yield from self.not_ranked()
        yield from self.undefined_as_wrong()
        ranked = tuple(name for name in v.candidates if name not in v.left_out)
        if len(v.candidates) == 1:
            yield f"One candidate: {self.figure(v.candidates[0])}; add a second one with -e to compare."
        elif not v.best_set:
            yield f"No encoder is called best: {v.reason}."
        elif len(ranked) == 1:
            yield f"Only {ranked[0]} can be ranked ({self.level(ranked[0])})."
        else:
            yield from self.best_set(ranked)

    def best_set(self, ranked: tuple[str, ...]) -> Iterator[str]:
        """Name the best set, and those that it excludes."""
        v = self.verdict
        best = ", ".join(map(self.figure, v.best_set[:SHOWN]))
        more = f" and {len(v.best_set) - SHOWN} more" if len(v.best_set) > SHOWN else ""
        # The leader is called "Highest" where a higher value is not always a better one.
        is_good = v.leader == "Best" and not self.below_chance
        first, lower = ("best", "worse") if is_good else ("highest", "lower")
        yield f"May be the {first}, of {len(ranked)}: {best}{more} (95% confidence)."

        # The ranks rest on a test of two sides, the best set on one of one side: it may exclude more.
        excluded = [name for name in ranked if name not in v.best_set]
        significant = tuple(name for name in excluded if v.rank_low.get(name, 1) > 1)
        others = tuple(name for name in excluded if name not in significant)
        if significant:
            yield f"Significantly {lower} than another candidate: {names(significant)}."
        if others:
            yield f"Unlikely to be the {first}, but not shown to be {lower} than any single candidate: {names(others)}."

    def not_ranked(self) -> Iterator[str]:
        """Say which candidates are not ranked, and why."""
        v = self.verdict
        if v.undefined:
            yield f"Undefined for every item, so not compared: {names(v.undefined)}."
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
            yield f"Undefined for more than {share} of the items, so not ranked: {names(tuple(often_undefined))}."
        if constant:
            yield f"The same value for all compared items, so not ranked: {names(tuple(constant))}."

    def undefined_as_wrong(self) -> Iterator[str]:
        """Say what the value is when undefined items count as wrong, of the candidates that have more than another."""
        candidates = self.verdict.candidates
        as_wrong = self.verdict.undefined_as_wrong
        undefined = {name: row.undefined for name, row in self.rows.items() if row.value is not None}
        fewest = min((undefined[name] for name in candidates if name in undefined), default=0)
        for name in candidates:
            if undefined.get(name, 0) > fewest and name in as_wrong:
                value = number(as_wrong[name], self.headline.format)
                yield f"{name} is undefined for {undefined[name]:,} items; counted as wrong, the value is {value}."

    def figure(self, name: str) -> str:
        """Write a candidate with its headline figure."""
        return f"{name} ({self.level(name)})"

    def level(self, name: str) -> str:
        """Write a candidate's headline figure; where its interval lies below chance, say so."""
        row, chance = self.rows.get(name), self.verdict.chance
        if row is None:
            return self.headline.heading
        value = number(row.value, self.headline.format, signed=self.headline.format == "points")
        level = f"{value} {self.headline.heading}"
        if chance is not None and row.high is not None and row.high < chance:
            level += f", below chance ({number(chance)})"
        return level

    def cost(self, speed: Mapping[str, float]) -> Iterator[str]:
        """Say which of the candidates that may be the best is fastest, and what each costs."""
        best_set = self.verdict.best_set
        if self.below_chance:
            return
        if len(best_set) > 1 and all(name in speed for name in best_set):
            fastest = max(best_set, key=lambda name: speed[name])
            yield f"Fastest of them: {fastest} ({speed[fastest]:,.0f} texts/s here)."
        priced = [(encoder.price, encoder.name) for encoder in self.result.encoders if encoder.name in best_set]
        prices = sorted((price, best_set.index(name), name) for price, name in priced if price is not None)
        if prices:
            yield f"Price per million tokens: {', '.join(f'{name} {price:g}' for price, _, name in prices)}."

    def against(self) -> Iterator[str]:
        """Say how the candidates compare with the lexical baseline and, where there are several, with the reference."""
        v = self.verdict
        opponents = {v.baseline: v.against_baseline}
        # A lexical baseline may be the reference, too: then both families ask the same.
        opponents.setdefault(v.reference, v.against_reference)
        for opponent, gaps in opponents.items():
            if not opponent:
                continue
            # The members of the best set first: the others are called worse than one of them already.
            order = sorted(gaps, key=lambda name: name not in v.best_set)
            for name in order[:SHOWN]:
                if gaps[name]["difference"] is not None and gaps[name]["p"] is not None:
                    yield self.comparison(name, opponent, gaps[name])

    def comparison(self, name: str, opponent: str, gap: Mapping[str, float | None]) -> str:
        """Say whether a candidate is better than an opponent, with the difference and its p-value."""
        higher, lower = "higher", "lower"
        if self.verdict.leader == "Best":
            higher, lower = "better", "worse"
        difference = gap["difference"] or 0.0
        p = gap["p"]
        amount = number(difference, self.difference_style, signed=True)
        ends = interval(gap["low"], gap["high"], self.difference_style, signed=True)
        support = f"{amount} {ends}, p (Holm) {p_value(p)}"
        if p is None or p > ALPHA:
            return f"{name} is not shown to be {higher} or {lower} than {opponent}: {support}."
        if difference > 0:
            return f"{name} is {higher} than {opponent}: {support}."
        return f"{name} is {lower} than {opponent}: {support}."
