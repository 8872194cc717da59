"""Figures and findings in words, the same in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
    elif not found.candidates:
        asked = f"Undefined for every item: {names(found.undefined)}." if found.undefined else ""
        yield asked or "Only baselines took part; name an encoder with -e."
    else:
        yield from _ranking(result, found, headline)
        yield from _cost(found, speed, {e.name: e.price for e in result.encoders})
        yield from _against(found, headline)
    if found.smallest_difference is not None:
        style: Format = "points" if headline.format == "percent" else headline.format
        yield (
            f"Minimum detectable difference: {number(found.smallest_difference, style)} "
            f"({found.smallest_units:,} units, 80% power)."
        )
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
    return next((r for r in _headline_rows(result, found) if r.items), None)


def _headline_rows(result: Result, found: Verdict) -> Iterator[Row]:
    """Yield the rows of the quantity that encoders are ranked by."""
    key = (found.diagnostic, found.corpus, found.quantity, found.subset, found.condition)
    for row in result.rows:
        same = (row.diagnostic, row.corpus, row.quantity, row.subset, row.condition) == key
        if same and found.measure in ("", row.measure):
            yield row


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


def _ranking(result: Result, found: Verdict, headline: Column) -> Iterator[str]:
    """Say which candidates may be the best, and which are not ranked."""
    yield from _not_ranked(result, found)
    yield from _as_wrong(result, found, headline)
    ranked = tuple(name for name in found.candidates if name not in found.left_out)
    if len(found.candidates) == 1:
        (only,) = found.candidates
        yield f"One candidate: {only} ({_level(result, found, only, headline)}); name a second one with -e to compare."
    elif not found.best_set:
        yield f"No encoder is called best: {found.reason}."
    elif len(ranked) == 1:
        yield f"Only {ranked[0]} can be ranked ({_level(result, found, ranked[0], headline)})."
    else:
        yield from _best_set(result, found, ranked, headline)


def _best_set(result: Result, found: Verdict, ranked: tuple[str, ...], headline: Column) -> Iterator[str]:
    """Name the best set, and those that it excludes."""
    best = ", ".join(f"{name} ({_level(result, found, name, headline)})" for name in found.best_set[:SHOWN])
    more = f" and {len(found.best_set) - SHOWN} more" if len(found.best_set) > SHOWN else ""
    is_good = found.leader == "Best" and not _below_chance(found)
    yield f"May be the {'best' if is_good else 'highest'}, of {len(ranked)}: {best}{more} (95% confidence)."
    excluded = [name for name in ranked if name not in found.best_set]
    # The ranks rest on a test of two sides, the best set on one of one side: it may exclude more.
    below = tuple(name for name in excluded if found.rank_low.get(name, 1) > 1)
    if below:
        yield f"Significantly {'worse' if is_good else 'lower'} than another candidate: {names(below)}."
    if others := tuple(name for name in excluded if name not in below):
        word = "worse" if is_good else "lower"
        yield f"Unlikely to be the first, but not shown to be {word} than any one candidate: {names(others)}."


def _not_ranked(result: Result, found: Verdict) -> Iterator[str]:
    """Say which candidates are not ranked, and why."""
    if found.undefined:
        yield f"Undefined for every item, so not compared: {names(found.undefined)}."
    rows = {r.encoder: r for r in _headline_rows(result, found)}
    # Beside undefined items there is one other reason: a correlation needs values that vary on the common items.
    often_undefined = tuple(name for name in found.left_out if name not in rows or not _mostly_defined(rows[name]))
    if often_undefined:
        yield f"Undefined for more than {MAX_UNDEFINED:.0%} of the items, so not ranked: {names(often_undefined)}."
    if constant := tuple(name for name in found.left_out if name not in often_undefined):
        yield f"The same value for all items that are compared, so not ranked: {names(constant)}."


def _mostly_defined(row: Row) -> bool:
    return row.undefined <= MAX_UNDEFINED * (row.items + row.undefined)


def _below_chance(found: Verdict) -> bool:
    """Say whether even the first of the best set lies below chance: it is then no recommendation."""
    return found.chance is not None and found.high is not None and found.high < found.chance


def _level(result: Result, found: Verdict, name: str, headline: Column) -> str:
    """Write a candidate's headline figure; where its interval lies below chance, say so."""
    row = next((r for r in _headline_rows(result, found) if r.encoder == name), None)
    if row is None:
        return headline.heading
    figure = number(row.value, headline.format, signed=headline.format == "points")
    below = found.chance is not None and row.high is not None and row.high < found.chance
    return f"{figure} {headline.heading}" + (f", below the {number(found.chance)} of chance" if below else "")


def _as_wrong(result: Result, found: Verdict, headline: Column) -> Iterator[str]:
    """Say what the value is when undefined items count as wrong, of the candidates that have some."""
    undefined = {r.encoder: r.undefined for r in _headline_rows(result, found) if r.value is not None}
    fewest = min((undefined[name] for name in found.candidates if name in undefined), default=0)
    for name in found.candidates:
        if undefined.get(name, 0) > fewest and name in found.undefined_as_wrong:
            value = number(found.undefined_as_wrong[name], headline.format)
            yield f"{name} is undefined for {undefined[name]:,} items; counted as wrong, it has {value}."


def _cost(found: Verdict, speed: Mapping[str, float], price_of: Mapping[str, float | None]) -> Iterator[str]:
    """Say which of the candidates that may be the best is fastest, and what each costs."""
    if _below_chance(found):
        return
    known = {name: speed[name] for name in found.best_set if name in speed}
    if len(known) > 1 and len(known) == len(found.best_set):
        fastest = max(known, key=lambda name: known[name])
        yield f"Fastest of them: {fastest} ({known[fastest]:,.0f} texts/s here)."
    prices = {name: price for name in found.best_set if (price := price_of.get(name)) is not None}
    if prices:
        told = ", ".join(f"{name} {price:g}" for name, price in sorted(prices.items(), key=lambda item: item[1]))
        yield f"Price of a million tokens: {told}."


def _against(found: Verdict, headline: Column) -> Iterator[str]:
    """Say how the candidates stand to the lexical baseline and, where there are several, to the reference."""
    style: Format = "points" if headline.format == "percent" else headline.format
    higher, lower = ("better", "worse") if found.leader == "Best" else ("higher", "lower")
    opponents = {found.baseline: found.against_baseline}
    # A lexical baseline may be the reference, too: then both families ask the same.
    opponents.setdefault(found.reference, found.against_reference)
    for opponent, gaps in opponents.items():
        # The members of the best set first: the others are called worse than one of them already.
        order = sorted(gaps, key=lambda name: name not in found.best_set)
        for name in order[:SHOWN] if opponent else ():
            gap = gaps[name]
            if gap["difference"] is None or gap["p"] is None:
                continue
            amount = number(gap["difference"], style, signed=True)
            support = f"{amount} {interval(gap['low'], gap['high'], style, signed=True)}, p (Holm) {p_value(gap['p'])}"
            if gap["p"] <= ALPHA:
                yield f"{name} is {higher if gap['difference'] > 0 else lower} than {opponent}: {support}."
            else:
                yield f"{name} is not shown to be {higher} or {lower} than {opponent}: {support}."
