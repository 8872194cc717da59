"""What stands beside tables in words: what the figures are based on, and the findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from embassay.core.formatting import counted, p_value, visible
from embassay.core.result import FEW_UNITS, Answer, CorpusRecord, Finding, Result, Row, Verdict, record_of
from embassay.reports.findings import templates
from embassay.reports.findings.limits import is_decision

MANY_RIGHT = 0.1
"""A document that is right for this share of the questions or more is named."""


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


def answered(finding: Finding) -> str:
    """Return a finding as one paragraph, an answer with its question before it."""
    if not isinstance(finding, Answer):
        return statement(finding)
    question = finding.question if finding.question.endswith("?") else f"{finding.question}:"
    return f"{question} {statement(finding)}"


def tested(finding: Finding) -> str:
    """Return the p-value that a finding rests on, as a sentence; an empty text where there is none."""
    return "" if finding.p is None else f"p {p_value(finding.p)}."


def findings_of(result: Result, verdict: Verdict) -> list[Finding]:
    """Return the findings about the diagnostic and corpus of a verdict."""
    return [f for f in result.statements if (f.diagnostic, f.corpus) == (verdict.diagnostic, verdict.corpus)]


def support(result: Result, verdict: Verdict) -> Iterator[str]:
    """Yield what the figures of a verdict rest on, and why no encoder is named where none is."""
    corpus = record_of(result.corpora, verdict.corpus)
    source = f" Source: {corpus.source}." if corpus.source else ""
    yield f"Support: {rests_on(result, verdict)}.{source}"
    if not verdict.metric:
        yield templates.UNRANKED.sentence()
    elif corpus.builtin:
        yield templates.NO_BEST_ON_BUILTIN.sentence()


def verdict(result: Result, verdict: Verdict) -> Iterator[str]:
    """Yield the verdict on one diagnostic and corpus, a paragraph each."""
    yield from support(result, verdict)
    for finding in findings_of(result, verdict):
        yield answered(finding)


def use_of(statements: Iterable[Finding]) -> str:
    """Return the encoder that the answers recommend, or the highest one; an empty text where they name none."""
    return next((one.encoder for one in statements if is_decision(one)), "")


def whole_run(result: Result) -> Iterator[str]:
    """Yield the findings that belong to no single diagnostic."""
    for finding in result.statements:
        if not finding.diagnostic:
            yield statement(finding)


def rests_on(result: Result, verdict: Verdict) -> str:
    """Say how many items and texts a verdict rests on, and how many independent items they count as."""
    corpus = record_of(result.corpora, verdict.corpus)
    texts = counted(corpus.distinct_texts, "distinct text")
    # The items of some verdicts are not those of the corpus, so only the texts can be counted.
    if (verdict.items, verdict.units) == (corpus.items, corpus.units):
        if corpus.documents:
            return _search(result, verdict, corpus)
        items = counted(verdict.items, "item")
        if corpus.duplicates:
            items += f" ({counted(corpus.duplicates, 'duplicate row')})"
        texts = f"{items} in {counted(verdict.units, 'independent unit')}{_counts_as(verdict, verdict.items)}, {texts}"
    return texts


def _counts_as(verdict: Verdict, items: int, more: str = "") -> str:
    """Say in brackets how many independent items some items count as, where that is less."""
    number = verdict.effective_items
    parts = []
    if number is not None and not verdict.reason and round(number) < items:
        parts.append(f"they count as {number:,.0f}")
    if more:
        parts.append(more)
    return f" ({'; '.join(parts)})" if parts else ""


def _search(result: Result, verdict: Verdict, corpus: CorpusRecord) -> str:
    """Return the numbers of answered questions and of documents, and the document that is right for many."""
    # The number of answerable questions is the same for all encoders.
    row = next(iter(result.headline(verdict).values()), None)
    answered = row.items + row.undefined if row else verdict.items
    most = ""
    for name, count in corpus.most_right.items():
        if count >= MANY_RIGHT * answered:
            most = f"{visible(name)} is a right {corpus.document_noun} of {count:,}"
    documents = f"{corpus.right_documents:,} of {counted(corpus.documents, corpus.document_noun)}"
    return f"{counted(answered, 'question')} about {documents}{_counts_as(verdict, answered, most)}"
