"""The findings of a whole run, the most important first.

Each diagnostic states findings about single encoders, and :mod:`embassay.reports.findings.decision` those on the choice
between them. This module adds what limits the whole result, such as truncated texts, and sorts all findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from embassay.core.formatting import counted
from embassay.core.layout import Column
from embassay.core.result import ANSWER_KINDS, SEVERITIES, Answer, CorpusRecord, EncoderRecord, Finding, Result, anchor
from embassay.corpora.queries.made import SOURCE as MADE_QUERIES
from embassay.diagnostics.metrics.metric import meaning_of
from embassay.reports.findings import templates
from embassay.reports.findings.advice import WITH_ABOUT_OPTION
from embassay.reports.findings.decision import Decision

MANY_TRUNCATED = 0.01
"""From this share of the tokens of the documents on (of the texts, without documents), truncation limits a result."""
MUCH_UNREAD = 0.1
"""From this share of the tokens of all documents on, shorter passages are advised; less explains few misses."""
PASSAGES = "passages"
"""The step between candidates that differ in how documents are cut."""
SHORTER_PASSAGES = "Cut documents into shorter passages: set passages=100 in -c."
"""Most encoders read 256 tokens or more, and text with code in it has about 2.5 tokens per word."""


def findings_of(result: Result, headlines: Mapping[str, Column], accept: float | None = None) -> tuple[Finding, ...]:
    """Return all findings of a run, the most important first.

    Parameters
    ----------
    result
        The result with the findings of its diagnostics.
    headlines
        By diagnostic that ranks encoders, the name and format of its headline.
    accept
        The loss at which a cheaper candidate is still used; None for the margin of each headline.

    Returns
    -------
    Answers first, in the order in which they are read, then the others by severity and in the order of the run.
    """
    findings: list[Finding] = []
    for corpus in result.corpora:
        if corpus.source == MADE_QUERIES:
            findings.append(
                templates.MADE_QUERIES.finding(corpus=corpus.name, items=corpus.items, source=corpus.source)
            )
        if corpus.mismatch:
            findings.append(templates.FEW_SHARED_WORDS.finding(corpus=corpus.name, mismatch=corpus.mismatch))
    deciding = _deciding(result)
    for verdict in result.verdicts:
        if verdict.metric:
            other = deciding.get((verdict.diagnostic, verdict.corpus), "")
            findings += Decision(result, verdict, headlines[verdict.diagnostic], accept, other).findings()
    use = {(one.diagnostic, one.corpus): one.encoder for one in findings if is_decision(one)}
    findings += _of_use(_best_first(result), use)
    if result.failed and all(encoder.baseline for encoder in result.encoders):
        # All requested encoders failed. What is known of the baselines is in the tables.
        findings = [finding for finding in findings if not finding.encoder]
    findings += _limits(result)
    sections = [(verdict.diagnostic, verdict.corpus) for verdict in result.verdicts]
    kinds = list(ANSWER_KINDS)

    def place(finding: Finding) -> tuple[int, ...]:
        if not isinstance(finding, Answer):
            return len(sections), SEVERITIES.index(finding.severity)
        section = (finding.diagnostic, finding.corpus)
        is_of_other = finding.encoder != use.get(section, finding.encoder)
        return sections.index(section), kinds.index(finding.kind), finding.kind == "own" and is_of_other

    # The sort is stable: what has one place stays in the order above.
    return tuple(_linked(finding) for finding in sorted(findings, key=place))


def _deciding(result: Result) -> dict[tuple[str, str], str]:
    """Return the diagnostic that decides instead, by each diagnostic and corpus whose choice another one makes.

    One choice is made on a corpus: by the answers that are read, which a right document need not show; by the right
    documents if documents are cut in one way and most questions have no answer.
    """
    deciding = dict[tuple[str, str], str]()
    are_cut = {one.corpus for one in result.comparisons if one.step == PASSAGES}
    questions = {}
    for verdict in result.verdicts:
        rows = result.headline(verdict).values()
        questions[verdict.diagnostic, verdict.corpus] = max((row.items for row in rows), default=0)
    for (diagnostic, corpus), number in questions.items():
        other = meaning_of(diagnostic).instead_of
        if (other, corpus) in questions:
            has_answers = 2 * number >= questions[other, corpus]
            by, instead_of = (diagnostic, other) if has_answers or corpus in are_cut else (other, diagnostic)
            deciding[instead_of, corpus] = by
    return deciding


def _of_use(findings: Iterable[Finding], use: dict[tuple[str, str], str]) -> Iterator[Finding]:
    """Yield findings, of those about missed questions only that about the encoder to use, or the first one."""
    for finding in findings:
        if isinstance(finding, Answer) and finding.kind == "misses":
            place = finding.diagnostic, finding.corpus
            if use.setdefault(place, finding.encoder) != finding.encoder:
                continue
        yield finding


def is_decision(finding: Finding) -> bool:
    """Return whether a finding names the encoder to use, or the highest one where none is recommended."""
    return isinstance(finding, Answer) and finding.kind in ("use", "highest")


def _limits(result: Result) -> Iterator[Finding]:
    """Yield what limits the result: what was not tested, built-in corpora, few units, truncation, unknown words."""
    yield from _negation_not_tested(result)
    builtin_corpora = [corpus for corpus in result.corpora if corpus.builtin]
    if builtin_corpora:
        action = ""
        if len(builtin_corpora) == len(result.corpora):
            action = (
                "To see which encoder may be the best, and whether it is better than bm25, run it on your own data: "
                "embassay run -c mine=./docs,questions=questions.csv"
            )
        yield templates.BUILTIN.finding(action=action)
    for corpus in result.corpora:
        yield from _few_units(corpus)
    for encoder in result.encoders:
        if encoder.missing_prompts:
            yield templates.MISSING_PROMPTS.finding(
                encoder=encoder.name, missing=encoder.missing_prompts, spec=encoder.spec
            )
        yield from _truncated(encoder, result)
        yield from _unknown_words(encoder, result)


def _best_first(result: Result) -> list[Finding]:
    """Return the findings of the diagnostics in the order of the report, those about the best encoders first.

    Within a section, findings about encoders with learnt parameters come before those about word counts, because users
    choose among the former; those about no single encoder come last.
    """
    models = {encoder.name for encoder in result.encoders if encoder.parameters}
    # A section of the report is one diagnostic on one corpus; its candidates are sorted, the highest value first.
    candidates = {(verdict.diagnostic, verdict.corpus): verdict.candidates for verdict in result.verdicts}
    sections = list(candidates)

    def order(finding: Finding) -> tuple[int, bool, int]:
        section = finding.diagnostic, finding.corpus
        section_place = sections.index(section) if section in candidates else len(sections)
        # Findings about all encoders, or about one that is no candidate, have the last rank.
        ranked = [*candidates.get(section, ()), finding.encoder]
        return section_place, finding.encoder not in models, ranked.index(finding.encoder)

    return sorted(result.findings, key=order)


def _linked(finding: Finding) -> Finding:
    """Return a finding with the link to its section of the report."""
    if not finding.diagnostic:
        return finding
    return replace(finding, link=f"#{anchor(finding.diagnostic, finding.corpus)}")


def _negation_not_tested(result: Result) -> Iterator[Finding]:
    """Yield a finding if the run tests search, but not whether an encoder notices a negation."""
    tested = {topic for verdict in result.verdicts for topic in meaning_of(verdict.diagnostic).about}
    has_candidates = any(not encoder.baseline for encoder in result.encoders)
    if has_candidates and "search" in tested and "negation" not in tested:
        yield templates.NEGATION_NOT_TESTED.finding()


def _few_units(corpus: CorpusRecord) -> Iterator[Finding]:
    """Yield a finding if the effective number of units of a corpus is below half its items."""
    # How many the questions on documents count as stands in the heading.
    if corpus.effective_units >= corpus.items / 2 or corpus.builtin or corpus.documents:
        return
    yield templates.FEW_INDEPENDENT.finding(
        corpus=corpus.name,
        items=f"{corpus.items:,} items",
        units=counted(corpus.units, "unit"),
        effective=corpus.effective_units,
    )


def _truncated(encoder: EncoderRecord, result: Result) -> Iterator[Finding]:
    """Yield the share of the documents of each corpus that an encoder truncates; of texts where it has none."""
    for corpus in result.corpora:
        truncated = encoder.truncated_in.get(corpus.name, 0)
        if not truncated:
            continue
        texts = encoder.texts_in[corpus.name]
        share = truncated / texts
        noun, unread, weight = "text", "", share
        if corpus.name in encoder.unread_in:
            is_cut = corpus.passages > corpus.documents
            noun = "passage" if is_cut else corpus.document_noun
            weight = encoder.unread_in[corpus.name]
            unread = f", and misses {weight:.0%} of all tokens" if weight >= MANY_TRUNCATED else ""
        severity = "low"
        action = ""
        if weight >= MANY_TRUNCATED:
            severity = "medium"
            # Paragraphs and sentences are short already. With made queries, each passage is a document of its own.
            is_whole = corpus.passages == corpus.documents and corpus.source != MADE_QUERIES
            can_be_cut = is_whole and corpus.loader in WITH_ABOUT_OPTION and "passages=" not in encoder.setting
            if weight >= MUCH_UNREAD and can_be_cut and not corpus.mismatch:
                action = SHORTER_PASSAGES
        finding = templates.TRUNCATED.finding(
            severity=severity,
            encoder=encoder.name,
            tokens=encoder.max_tokens,
            truncated=truncated,
            texts=counted(texts, noun),
            unread=unread,
            corpus=corpus.name,
            share=share,
            action=action,
        )
        yield replace(finding, value=share)


def _unknown_words(encoder: EncoderRecord, result: Result) -> Iterator[Finding]:
    """Yield the share of the words that an encoder does not know; nothing for encoders that know all."""
    if encoder.unknown_words is None:
        return
    where = " of all corpora together" if len(result.corpora) > 1 else ""
    severity, texts = "low", ""
    if encoder.without_words:
        severity = "medium"
        texts = f"; {counted(encoder.without_words, 'text has', 'texts have')} no known word"
    finding = templates.UNKNOWN_WORDS.finding(
        severity=severity, encoder=encoder.name, share=encoder.unknown_words, where=where, texts=texts
    )
    yield replace(finding, value=encoder.unknown_words)
