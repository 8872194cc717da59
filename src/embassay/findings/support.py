"""What stands beside tables in words: what the figures rest on, findings, and what an encoder costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from embassay.findings import templates
from embassay.findings.decision import is_below
from embassay.findings.speed import MeasuredTimes, fastest
from embassay.findings.step_costs import Latency, costs_of_steps
from embassay.formatting import counted, p_value, two_digits
from embassay.result import FEW_UNITS, Answer, CorpusRecord, Finding, Result, Row, Verdict, record_of


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


def statement(finding: Finding) -> str:
    """Return a finding with its p-value, what it means and what to do, as one paragraph."""
    return " ".join(filter(None, (finding.sentence, tested(finding), finding.consequence, finding.action)))


def asked(finding: Finding) -> str:
    """Return the question of an answer, to be written before it; an empty text for another finding."""
    if not isinstance(finding, Answer):
        return ""
    return f"{finding.question} " if finding.question.endswith("?") else f"{finding.question}: "


def tested(finding: Finding) -> str:
    """Return the p-value that a finding rests on, as a sentence; an empty text where there is none."""
    return "" if finding.p is None else f"p (Holm) {p_value(finding.p)}."


def findings_of(result: Result, verdict: Verdict) -> list[Finding]:
    """Return the findings about the diagnostic and corpus of a verdict."""
    return [f for f in result.statements if (f.diagnostic, f.corpus) == (verdict.diagnostic, verdict.corpus)]


def support(result: Result, verdict: Verdict) -> Iterator[str]:
    """Yield what the figures of a verdict rest on, and why no encoder is named where none is."""
    yield _support(result, verdict)
    if not verdict.metric:
        yield templates.UNRANKED.sentence()
    elif record_of(result.corpora, verdict.corpus).builtin:
        yield templates.NO_BEST_ON_BUILTIN.sentence()


def verdict(result: Result, verdict: Verdict, times: Mapping[str, MeasuredTimes], latency: Latency) -> Iterator[str]:
    """Yield the verdict on one diagnostic and corpus, a paragraph each.

    Parameters
    ----------
    times
        For the same texts, by encoder, where they were measured.
    latency
        Of one question, by encoder and corpus.
    """
    yield from support(result, verdict)
    times_of = costs_of_steps(result, verdict, latency)
    for finding in findings_of(result, verdict):
        cost_of_step = times_of.get((asked(finding).rstrip(), finding.encoder), "")
        yield f"{asked(finding)}{statement(finding)} {cost_of_step}".rstrip()
    yield from cost(result, verdict, times, latency)


def whole_run(result: Result) -> Iterator[str]:
    """Yield the findings that belong to no single diagnostic."""
    for finding in result.statements:
        if not finding.diagnostic:
            yield statement(finding)


def cost(result: Result, verdict: Verdict, times: Mapping[str, MeasuredTimes], latency: Latency) -> Iterator[str]:
    """Yield how long one text takes, which of the candidates that may be the best is fastest, and what each costs."""
    if is_below(verdict.high, verdict.chance):
        return
    best_set = verdict.best_set
    first = next(iter(best_set or verdict.candidates), "")
    steps = {encoder.name for encoder in result.encoders if encoder.step}
    if (first, "") in latency and first not in steps:
        yield templates.LATENCY.sentence(encoder=first, milliseconds=two_digits(latency[first, ""]))
    if sentence := fastest(best_set, times):
        yield sentence
    price_of = {encoder.name: encoder.price for encoder in result.encoders if encoder.price is not None}
    priced = [name for name in best_set if name in price_of]
    # The cheapest first; the sort is stable, so equal prices stay in the order of the best set.
    priced.sort(key=lambda name: price_of[name])
    # The answer on the cost has that of the first.
    if len(priced) > 1:
        prices = ", ".join(f"{name} {price_of[name]:g}" for name in priced)
        yield templates.PRICES.sentence(prices=prices)


def _support(result: Result, verdict: Verdict) -> str:
    """Say how many items, units and texts there are, and where they come from."""
    corpus = record_of(result.corpora, verdict.corpus)
    source = f" Source: {corpus.source}." if corpus.source else ""
    return f"Support: {rests_on(result, verdict)}.{source}"


def rests_on(result: Result, verdict: Verdict) -> str:
    """Say how many items, units and texts a verdict rests on."""
    corpus = record_of(result.corpora, verdict.corpus)
    texts = counted(corpus.distinct_texts, "distinct text")
    # The items of some verdicts are not those of the corpus, so only the texts can be counted.
    if (verdict.items, verdict.units) == (corpus.items, corpus.units):
        if corpus.documents:
            texts = _search(result, verdict, corpus)
        else:
            items = counted(verdict.items, "item")
            if corpus.duplicates:
                items += f" ({counted(corpus.duplicates, 'duplicate row')})"
            units = counted(verdict.units, "independent unit")
            if corpus.effective_units < verdict.units / 2:
                units += f" (effective number {corpus.effective_units:.0f})"
            texts = f"{items} in {units}, {texts}"
    return texts


def _search(result: Result, verdict: Verdict, corpus: CorpusRecord) -> str:
    """Return the numbers of questions, units and documents."""
    questions = counted(verdict.items, "question")
    if verdict.units != verdict.items:
        questions += f" in {counted(verdict.units, 'independent unit')}"
    # The number of answerable questions is the same for all encoders.
    for row in result.headline(verdict).values():
        answerable = row.items + row.undefined
        if row.items and answerable < verdict.items:
            questions = f"{counted(answerable, 'answered question')} ({counted(row.units, 'independent unit')})"
            break
    documents = counted(corpus.documents, "document")
    # A corpus may vary how documents are cut.
    passages = {
        encoder.vectors[corpus.name]
        for encoder in result.encoders
        if corpus.name in encoder.vectors and not encoder.baseline
    }
    if len(passages) > 1:
        documents += f" → {min(passages):,} to {max(passages):,} passages"
    elif corpus.documents != corpus.passages:
        documents += f" → {counted(corpus.passages, 'passage')}"
    return f"{questions}, {documents}"
