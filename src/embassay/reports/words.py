"""Figures and findings in words, the same in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from embassay.layout import Column, Format
from embassay.result import FEW_UNITS, CorpusRecord, Result, Row, Verdict

DASH = "–"


def number(value: float | None, style: Format = "percent", signed: bool = False) -> str:
    """Write one number: a share with one decimal, a number with three, a count with none; a dash for nothing."""
    if value is None:
        return DASH
    sign = "+" if signed else ""
    if style in ("percent", "points"):
        text = f"{100 * value:{sign}.1f}{'%' if style == 'percent' else ' points'}"
    else:
        text = f"{value:{sign},.{3 if style == 'number' else 0}f}"
    if not sign and not any(digit in text for digit in "123456789"):
        text = text.removeprefix("-")  # what rounds to 0 has no sign
    return text.replace("-", "−")


def interval(low: float | None, high: float | None, style: Format = "percent", signed: bool = False) -> str:
    """Write an interval without its unit: ``[1.4, 2.7]``; nothing for none."""
    if low is None or high is None:
        return ""
    ends = (number(end, style, signed).removesuffix("%").removesuffix(" points") for end in (low, high))
    return f"[{', '.join(ends)}]"


def p_value(p: float | None) -> str:
    """Write a p-value with two digits, never as 0."""
    if p is None:
        return DASH
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def remark(row: Row) -> str:
    """Say what a reader must know of a figure beside its value: why it is missing, few units, undefined items."""
    found = [row.reason] if row.reason else []
    if row.low is not None and not row.reason and row.units < FEW_UNITS:
        found.append(f"few units ({row.units})")
    if row.value is not None and row.undefined:
        found.append(f"{row.undefined} undefined")
    return "; ".join(found)


def names(labels: tuple[str, ...]) -> str:
    """Write a list: ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(labels[:-1]), labels[-1]])) if labels else ""


def verdict(result: Result, found: Verdict, speed: Mapping[str, float], headline: Column) -> Iterator[str]:
    """Yield the verdict on one diagnostic and corpus, a sentence each.

    Parameters
    ----------
    headline
        How the figure that encoders are ranked by is called and written.
    speed
        Texts per second by encoder, where it was measured.
    """
    corpus = next(c for c in result.corpora if c.name == found.corpus)
    yield _support(corpus, found, _headline(result, found))
    if not found.quantity:
        yield "No encoder is put before another here."
    elif corpus.builtin:
        yield "A built-in corpus, for trying things out: no best model is named on it."
    elif found.best is None:
        asked = f"Undefined for every item: {names(found.undefined)}." if found.undefined else ""
        yield asked or "Only baselines took part; name an encoder with -e."
    else:
        yield from _best(found, speed, {e.name: e.price for e in result.encoders}, headline)
    if found.above:
        label = "baseline" if len(found.above) == 1 else "baselines"
        yield f"Significantly higher than {found.best}: the {label} {names(found.above)}."
    if found.smallest_difference is not None:
        style: Format = "points" if headline.format == "percent" else headline.format
        gap = number(found.smallest_difference, style)
        yield f"{found.smallest_units:,} units show gaps above {gap} (power 80%); smaller ones may go unseen."
    yield from (note if note.endswith(".") else f"{note}." for note in found.notes)
    together = " of all corpora together" if len(result.corpora) > 1 else ""
    for encoder in result.encoders:
        if encoder.truncated:
            cut = f"{encoder.truncated:,} longer texts{together} were cut."
            yield f"{encoder.name} reads {encoder.max_tokens} tokens: {cut}"
        if encoder.unknown_words is not None:
            empty = f"; {encoder.without_words:,} texts have no other" if encoder.without_words else ""
            yield f"{encoder.name} does not know {encoder.unknown_words:.1%} of the words{together}{empty}."


def _headline(result: Result, found: Verdict) -> Row | None:
    """Return some encoder's row of the quantity that encoders are ranked by, if there is one."""
    key = (found.diagnostic, found.corpus, found.quantity, found.subset, found.condition)
    rows = (r for r in result.rows if (r.diagnostic, r.corpus, r.quantity, r.subset, r.condition) == key)
    return next((r for r in rows if r.items), None)


def _support(corpus: CorpusRecord, found: Verdict, headline: Row | None) -> str:
    """Say what the figures rest on."""
    source = f" Source: {corpus.source}." if corpus.source else ""
    if (found.items, found.units) != (corpus.items, corpus.units):
        return f"Support: {_counted(corpus.distinct_texts, 'distinct text')}.{source}"
    if corpus.documents:
        return _searched(corpus, found, headline, source)
    duplicates = f" ({_counted(corpus.duplicates, 'duplicate row')})" if corpus.duplicates else ""
    worth = f" (worth {corpus.effective_units:.0f} equal ones)" if corpus.effective_units < found.units / 2 else ""
    return (
        f"Support: {_counted(found.items, 'item')}{duplicates} in {_counted(found.units, 'independent unit')}{worth}, "
        f"{_counted(corpus.distinct_texts, 'distinct text')}.{source}"
    )


def _searched(corpus: CorpusRecord, found: Verdict, headline: Row | None, source: str) -> str:
    """Say what was asked, and what there was to be found."""
    whole = corpus.documents == corpus.passages
    passages = "" if whole else f" → {_counted(corpus.passages, 'passage')}"
    units = f" in {_counted(found.units, 'independent unit')}" if found.units != found.items else ""
    if headline is not None and (answered := headline.items + headline.undefined) < found.items:
        units = f", {answered:,} of them answerable and in {_counted(headline.units, 'independent unit')}"
    documents = _counted(corpus.documents, "document")
    return f"Support: {_counted(found.items, 'question')}{units}, {documents}{passages}.{source}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _best(
    found: Verdict, speed: Mapping[str, float], price_of: Mapping[str, float | None], headline: Column
) -> Iterator[str]:
    below = found.chance is not None and found.high is not None and found.high < found.chance
    figure = number(found.value, headline.format, signed=headline.format == "points")
    level = f"{figure} {headline.heading}" + (f", below the {number(found.chance)} of chance" if below else "")
    if found.undefined:
        yield f"Undefined for every item, so not compared: {names(found.undefined)}."
    if len(found.candidates) < 2:
        yield f"One encoder: {found.best} ({level}); name a second one with -e to compare."
        return
    others = found.not_separable[1:]
    tail = f"not separable from it: {names(others)}" if others else "every other encoder is separable from it"
    yield f"{'Highest' if below else found.leader}: {found.best} ({level}); {tail}."
    known = {name: speed[name] for name in found.not_separable if name in speed}
    if others and not below and len(known) == len(found.not_separable):
        fastest = max(known, key=lambda name: known[name])
        yield f"Fastest of them: {fastest} ({known[fastest]:,.0f} texts/s here)."
    prices = {name: price for name in found.not_separable if (price := price_of.get(name)) is not None}
    if prices:
        told = ", ".join(f"{name} {price:g}" for name, price in sorted(prices.items(), key=lambda item: item[1]))
        yield f"Price of a million tokens: {told}."
