"""``embassay look`` and ``--dry-run``: how corpora are read, and what would be encoded.

Comes in: the request of a run. Goes out: lines in the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from embassay.core.errors import begun
from embassay.core.formatting import counted
from embassay.core.types import AnyCorpus
from embassay.models.services.spending import Spending, guess
from embassay.reports.findings.advice import advice, visible_differences
from embassay.reports.terminal import print_line, stdout
from embassay.run.candidates import RunEncoder
from embassay.run.engine.encode import tokens_of
from embassay.run.plan import distinct_texts, load_corpora, load_diagnostics, prepare
from embassay.run.request import RunRequest
from embassay.search.retrievers.base import Questions

SAMPLES = 3
"""Samples of each corpus that are printed."""
NAME_WIDTH = 11
"""Characters of the column with the names of a sample's texts."""


def show(request: RunRequest, *, default: bool = False) -> None:
    """Print how each corpus is read and, for each encoder, what would be encoded.

    Without encoders in the request, show none or, with ``default``, those that a run would use.
    """
    lines: list[str] = []
    if request.encoders or default:
        plan = prepare(request, will_score=False)
        for corpus in plan.corpora:
            lines += _corpus_lines(corpus)
        lines += [f"  {remark}" for remark in plan.remarks]
        for entry in plan.entries:
            # Baselines, which set-ups may be built on, encode the same texts as the encoders.
            if not entry.baseline:
                lines += _encoder_lines(entry, plan.corpora)
    else:
        for corpus in load_corpora(request, load_diagnostics((), request.profile)):
            lines += _corpus_lines(corpus)
    console = stdout()
    for line in lines:
        print_line(console, line, indent=4)


def _corpus_lines(corpus: AnyCorpus) -> Iterator[str]:
    """Yield how a corpus is read, its counts, notes and advice, and its first samples."""
    yield f"{corpus.key}: {corpus.shape}, read by the loader {corpus.loader}"
    counts = ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in vars(corpus.audit()).items())
    yield f"  {counts}"
    yield "; ".join(filter(None, (f"  licence {corpus.licence}", corpus.source)))
    yield f"  fingerprint {corpus.fingerprint}"
    if corpus.filtered_with:
        yield f"  filtered with {', '.join(corpus.filtered_with)}"
    for remark in (*corpus.notes, *advice(corpus), *visible_differences(corpus)):
        yield f"  {remark}"
    for sample in corpus.samples[:SAMPLES]:
        yield f"  sample {sample.id}:"
        for name, text in corpus.shown(sample).items():
            yield f"    {name:<{NAME_WIDTH}} {begun(text)}"


def _encoder_lines(entry: RunEncoder, corpora: Sequence[AnyCorpus]) -> Iterator[str]:
    """Yield how many texts an encoder would encode, their tokens or cost, its prompts and its warnings."""
    card = entry.card
    if entry.retriever:
        questions = [Questions(corpus, corpus.samples) for corpus in corpora if entry.suits(corpus)]
        facts = [f"{counted(sum(len(one.samples) for one in questions), 'question')} to answer"]
        if entry.retriever.spending:
            facts += entry.retriever.spending.outlook(sum(map(entry.retriever.tokens, questions)))
    else:
        texts = distinct_texts(corpora)
        facts = [f"{counted(len(texts), 'distinct text')} to encode"]
        if card.remote:
            facts[0] += ", fewer if some are cached"
            # An estimate, for which nothing is sent.
            tokens = sum(guess(card.prompts.get(role, "") + text) for role, text in texts)
            facts += Spending(card.price).outlook(tokens)
        elif lengths := tokens_of(texts, entry.encoder.count_tokens).values():
            facts.append(f"{sum(lengths):,} tokens")
            if card.max_tokens:
                longer = counted(sum(length > card.max_tokens for length in lengths), "text")
                facts.append(f"{longer} longer than its limit of {card.max_tokens} tokens")
    yield f"{entry.label}: {'; '.join(facts)}"
    for role, prompt in card.prompts.items():
        yield f"  prompt before each {role}: {prompt!r}"
    for warning in card.warnings:
        yield f"  {warning}"
