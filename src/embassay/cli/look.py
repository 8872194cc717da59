"""``embassay look`` and ``--dry-run``: how corpora are read, and what would be encoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console

from embassay.core.errors import EncoderError, begun
from embassay.core.formatting import counted, visible
from embassay.core.samples.base import Text
from embassay.core.samples.choice import Choice
from embassay.core.types import AnyCorpus, Encoder, cache_key
from embassay.models.base import FullEncoder, adopted, encoder_of_vectors
from embassay.reports.findings.advice import advice, effective_units, visible_differences
from embassay.reports.terminal import print_line, stdout
from embassay.run.cache.cache import VectorCache
from embassay.run.candidates import RunEncoder
from embassay.run.plan import distinct_texts, load_given_corpora, prepare
from embassay.run.request import RunRequest
from embassay.search.retrievers.base import Questions, Retriever

SAMPLES = 3
"""Samples of each corpus that are printed."""
NAME_WIDTH = 11
"""Characters of the column with the names of a sample's texts, at least."""
MOST_LABELS = 5
"""Right documents that are named with the number of their questions, at most."""
BEGINNING = 60
"""Characters of a text that is longer than an encoder reads."""


def show(request: RunRequest, *, default: bool = False) -> None:
    """Print how each corpus is read and, for each encoder, what would be encoded.

    Without encoders in the request, show none or, with ``default``, those that a run would use.
    """
    console = stdout()
    if not request.encoders and not default:
        for corpus in _corpora(request):
            _show_corpus(corpus, console)
        return
    plan = prepare(request, will_score=False)
    for corpus in plan.corpora:
        _show_corpus(corpus, console)
    for remark in plan.remarks:
        print_line(console, remark, indent=2)
    for entry in plan.entries:
        # Baselines, which set-ups may be built on, encode the same texts as the encoders.
        if default or not entry.baseline:
            for line in _show_encoder(entry, plan.corpora, request.cache_folder):
                print_line(console, line, indent=4)


def _corpora(request: RunRequest) -> tuple[AnyCorpus, ...]:
    """Return the corpora of the request; the built-in ones if it has none."""
    if request.corpora:
        return tuple(load_given_corpora(request.corpora, follow_links=request.follow_links))
    # A plan needs an encoder; "hashing" needs no weights.
    return prepare(RunRequest(["hashing"], baselines=False)).corpora


def _show_corpus(corpus: AnyCorpus, console: Console) -> None:
    """Print how a corpus is read, its counts, notes and advice, and its first samples."""
    for line in _corpus_lines(corpus):
        print_line(console, line, indent=4)
    for sample in corpus.samples[:SAMPLES]:
        print_line(console, f"  sample {sample.id}:", indent=4)
        fields = corpus.shown(sample.id)
        width = max(NAME_WIDTH, *map(len, fields))
        for name, text in fields.items():
            print_line(console, f"    {name:<{width}} {begun(text)}", indent=width + 5)


def _corpus_lines(corpus: AnyCorpus) -> list[str]:
    """Return the lines about a corpus as a whole."""
    audit = corpus.audit()
    head = f"{corpus.key}: {corpus.shape}, read by the loader {corpus.loader}"
    if corpus.version:
        head += f", version {corpus.version}"
    number = effective_units(corpus)
    units = f"independent units {audit.units:,}"
    # Where their sizes differ, or items are in several.
    if number < audit.units / 2:
        units += f" (effective number {number:.0f})"
    items = f"  items {audit.items:,}, {units}, duplicate rows {audit.duplicates:,}"
    texts = f"  texts {audit.texts:,}, distinct {audit.distinct:,}"
    if audit.documents:
        texts += f"; documents {audit.documents:,}, passages {audit.passages:,}"
    words = {word for sample in corpus.samples if isinstance(sample, Choice) for word in sample.pair.split("–")}
    if words:
        texts += f"; replaced words {len(words):,}"
    licence = f"  licence {corpus.licence}"
    if corpus.source:
        licence += f"; {corpus.source}"
    lines = [head, items, texts, *_labels(corpus), licence, f"  fingerprint {corpus.fingerprint}"]
    if corpus.filtered_with:
        lines.append(f"  filtered with {', '.join(corpus.filtered_with)}")
    remarks = (*corpus.notes, *advice(corpus), *visible_differences(corpus))
    lines += [f"  {remark}" for remark in remarks]
    return lines


def _labels(corpus: AnyCorpus) -> list[str]:
    """Return how many questions share each right document, those with most first; nothing where none share any."""
    questions_of = Counter(name for sample in corpus.samples for name in set(getattr(sample, "right", ())))
    shared = [f"{visible(name)} {count:,}" for name, count in questions_of.most_common(MOST_LABELS) if count > 1]
    if not shared:
        return []
    more = sum(count > 1 for count in questions_of.values()) - len(shared)
    if more:
        shared.append(f"and {more:,} more")
    return [f"  right documents {len(questions_of):,}; questions that share one: {', '.join(shared)}"]


def _show_encoder(entry: RunEncoder, corpora: tuple[AnyCorpus, ...], cache: Path | None) -> Iterator[str]:
    """Yield how many texts an encoder would encode, their tokens or cost, its prompts and its warnings."""
    if entry.retriever:
        yield f"{entry.label}: {'; '.join(_questions(entry.retriever, filter(entry.suits, corpora)))}"
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


def _questions(retriever: Retriever, corpora: Iterable[AnyCorpus]) -> list[str]:
    """Return how many questions a retriever would answer, and what that costs."""
    asked = [Questions(corpus, corpus.samples) for corpus in corpora]
    pairs = ""
    if retriever.continues:
        # A reranker reads each question with so many documents.
        read = sum(len(one.samples) * min(retriever.depth, len(one.corpus.documents)) for one in asked)
        pairs = f" ({read:,} pairs)"
    number = sum(len(questions.samples) for questions in asked)
    parts = [f"{counted(number, 'question')} to answer{pairs}, unless the run has the lists"]
    if retriever.spending is not None:
        parts += retriever.spending.outlook(sum(map(retriever.tokens, asked)))
    return parts


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
    # (tokens, text) of each text
    lengths: list[tuple[int, str]] = []
    for role in dict.fromkeys(role for role, _ in texts):
        texts_of_role = [text for other, text in texts if other == role]
        try:
            counts = count(texts_of_role, role)
        except EncoderError as error:
            # For example a tokenizer that cannot be loaded: the reason takes the place of the counts.
            return [str(error)]
        if counts is None:
            return []
        lengths += zip(map(int, counts), texts_of_role, strict=True)
    total = sum(tokens for tokens, _ in lengths)
    truncated = [(tokens, text) for tokens, text in lengths if limit and tokens > limit]
    longer = f"{counted(len(truncated), 'text')} longer than its limit of {limit} tokens"
    if is_remote:
        return encoder.outlook(total) + ([f"about {longer}"] if limit else [])
    if truncated:
        most, longest = max(truncated)
        longer += f", the longest with {most:,}: {longest[:BEGINNING]!r}…"
    return [f"{total:,} tokens", longer if limit else "no length limit"]
