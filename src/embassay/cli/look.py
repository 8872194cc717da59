"""``embassay look`` and ``--dry-run``: how corpora are read, and what would be encoded.

Comes in: the request of a run. Goes out: lines in the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from embassay.core.errors import begun
from embassay.core.formatting import counted
from embassay.core.samples.base import Text
from embassay.core.types import AnyCorpus, Encoder, cache_key
from embassay.models.base import FullEncoder, adopted, encoder_of_vectors
from embassay.reports.findings.advice import advice, visible_differences
from embassay.reports.terminal import print_line, stdout
from embassay.run.cache.cache import VectorCache
from embassay.run.candidates import RunEncoder
from embassay.run.plan import distinct_texts, load_given_corpora, prepare
from embassay.run.request import RunRequest
from embassay.search.retrievers.base import Questions, Retriever

SAMPLES = 3
"""Samples of each corpus that are printed."""
NAME_WIDTH = 11
"""Characters of the column with the names of a sample's texts."""


def show(request: RunRequest, *, default: bool = False) -> None:
    """Print how each corpus is read and, for each encoder, what would be encoded.

    Without encoders in the request, show none or, with ``default``, those that a run would use.
    """
    entries: list[RunEncoder] = []
    remarks: Sequence[str] = ()
    if request.encoders or default:
        plan = prepare(request, will_score=False)
        corpora, remarks = plan.corpora, plan.remarks
        # Baselines, which set-ups may be built on, encode the same texts as the encoders.
        entries = [entry for entry in plan.entries if default or not entry.baseline]
    elif request.corpora:
        corpora = tuple(load_given_corpora(request.corpora, follow_links=request.follow_links))
    else:
        # A plan needs an encoder; "hashing" needs no weights.
        corpora = prepare(RunRequest(["hashing"], baselines=False)).corpora

    lines = [line for corpus in corpora for line in _corpus_lines(corpus)]
    lines += [f"  {remark}" for remark in remarks]
    for entry in entries:
        lines += _encoder_lines(entry, corpora, request.cache_folder)
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


def _encoder_lines(entry: RunEncoder, corpora: tuple[AnyCorpus, ...], cache: Path | None) -> Iterator[str]:
    """Yield how many texts an encoder would encode, their tokens or cost, its prompts and its warnings."""
    if entry.retriever:
        questions = [Questions(corpus, corpus.samples) for corpus in corpora if entry.suits(corpus)]
        yield f"{entry.label}: {'; '.join(_to_answer(entry.retriever, questions))}"
        return
    card, texts = entry.card, distinct_texts(corpora)
    count = f"{counted(len(texts), 'distinct text')} to encode"
    to_encode = _not_cached(entry.encoder, texts, cache)
    if to_encode is not None:
        count += f", {len(texts) - len(to_encode):,} of them cached"
        # The vectors of a service are those of its last known fingerprint.
        if card.remote:
            count += " if the model has not changed"
            # Only what is sent costs money; locally, texts with a cached vector may have been truncated too.
            texts = to_encode
    yield f"{entry.label}: {'; '.join([count, *_lengths(entry.encoder, texts)])}"
    for role, prompt in card.prompts.items():
        yield f"  prompt before each {role}: {prompt!r}"
    for warning in card.warnings:
        yield f"  {warning}"


def _to_answer(retriever: Retriever, corpora: Sequence[Questions]) -> Iterator[str]:
    """Yield how many questions a retriever would answer, and what that costs."""
    answers = f"{counted(sum(len(questions.samples) for questions in corpora), 'question')} to answer"
    if retriever.continues:
        # A reranker reads each question with so many documents.
        pairs = [len(one.samples) * min(retriever.depth, len(one.corpus.documents)) for one in corpora]
        answers += f" ({sum(pairs):,} pairs)"
    yield f"{answers}, unless the run has the lists"
    if retriever.spending is not None:
        yield from retriever.spending.outlook(sum(map(retriever.tokens, corpora)))


def _not_cached(encoder: Encoder, texts: tuple[Text, ...], folder: Path | None) -> tuple[Text, ...] | None:
    """Return the texts that are not in the cache.

    None if there is no cache, if the encoder does not use it, or if only a request to a service or fitting the encoder
    would tell which vectors are its own.
    """
    # Vectors that are cut or quantised are computed from the full ones.
    encoder = encoder_of_vectors(encoder)
    card = encoder.card
    if folder is None or not card.cached or card.fitted:
        return None
    # Computing the fingerprint of a service would send it a request.
    fingerprint: str | None = adopted(encoder).known_fingerprint()
    if not fingerprint:
        return None
    cache = VectorCache(folder)
    cached = cache.get(cache_key(fingerprint, card.route), texts)
    return tuple(text for text, vector in zip(texts, cached, strict=True) if vector is None)


def _lengths(encoder: FullEncoder, texts: tuple[Text, ...]) -> list[str]:
    """Return the tokens of texts and how many texts are truncated; for a service estimates, and what they cost.

    A service is sent nothing.
    """
    is_remote, limit = encoder.card.remote, encoder.card.max_tokens
    count = encoder.estimate_tokens if is_remote else encoder.count_tokens
    tokens: list[int] = []
    for role in sorted({role for role, _ in texts}):
        tokens_of_role = count([text for other, text in texts if other == role], role)
        if tokens_of_role is None:
            return []
        tokens += map(int, tokens_of_role)
    if is_remote:
        return encoder.outlook(sum(tokens))
    truncated = "no length limit"
    if limit:
        longer = counted(sum(number > limit for number in tokens), "text")
        truncated = f"{longer} longer than its limit of {limit} tokens"
    return [f"{sum(tokens):,} tokens", truncated]
