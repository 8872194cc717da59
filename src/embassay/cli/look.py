"""``embassay look`` and ``--dry-run``: how corpora are read, and what would be encoded."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from rich.console import Console

from embassay.encoders.base import CountsTokens, Remote, encoder_of_vectors
from embassay.errors import EncoderError
from embassay.reports.terminal import print_line, stdout
from embassay.run.advice import advice, visible_differences
from embassay.run.candidates import Entry
from embassay.run.plan import distinct_texts, load_given_corpora, prepare
from embassay.run.request import RunRequest
from embassay.samples.base import Role, Text
from embassay.store.cache import VectorCache
from embassay.types import SHOWN, Audit, Corpus, Encoder

SAMPLES = 3
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
    folder = request.cache_folder
    with VectorCache(folder) if folder else nullcontext() as cache:
        for entry in plan.entries:
            _show_encoder(entry, plan.corpora, cache, console)


def _corpora(request: RunRequest) -> tuple[Corpus[Any], ...]:
    if request.corpora:
        return tuple(load_given_corpora(request))
    return prepare(RunRequest(["hashing"], baselines=False)).corpora


def _show_corpus(corpus: Corpus[Any], console: Console) -> None:
    audit = corpus.audit()
    version = f", version {corpus.version}" if corpus.version else ""
    documents = f"; documents {audit.documents:,}, passages {audit.passages:,}" if audit.documents else ""
    source = f"; {corpus.source}" if corpus.source else ""
    units = f"independent units {audit.units:,}{_effective_units(audit)}"
    lines = [
        f"{corpus.name}: {corpus.shape}, read by the loader {corpus.loader}{version}",
        f"  items {audit.items:,}, {units}, duplicate rows {audit.duplicates:,}",
        f"  texts {audit.texts:,}, distinct {audit.distinct:,}{documents}",
        f"  licence {corpus.licence}{source}",
        f"  fingerprint {corpus.fingerprint}",
    ]
    if corpus.filtered_with:
        lines.append(f"  filtered with {', '.join(corpus.filtered_with)}")
    lines += [f"  {note}" for note in (*corpus.notes, *advice(corpus), *visible_differences(corpus))]
    for line in lines:
        print_line(console, line, indent=4)
    for sample in corpus.samples[:SAMPLES]:
        print_line(console, f"  sample {sample.id}:", indent=4)
        sample_fields = sample.fields()
        fields = corpus.shown(sample.id)
        width = max(11, *map(len, fields))
        for name, text in fields.items():
            # Texts that the corpus adds to those of the sample are already truncated.
            if sample_fields.get(name) == text:
                text = _truncated(text)
            print_line(console, f"    {name:<{width}} {text}", indent=width + 5)


def _truncated(text: str) -> str:
    """Return a text, or its first characters if it is long."""
    if len(text) <= SHOWN:
        return text
    return f"{text[:SHOWN]}…"


def _effective_units(audit: Audit) -> str:
    """Return the effective number of units if their sizes differ much."""
    if audit.effective_units >= audit.units / 2:
        return ""
    return f" (effective number {audit.effective_units:.0f})"


def _show_encoder(entry: Entry, corpora: tuple[Corpus[Any], ...], cache: VectorCache | None, console: Console) -> None:
    encoder = entry.encoder
    card = encoder.card
    texts = distinct_texts(corpora)
    to_encode = _not_cached(encoder, texts, cache)
    if to_encode is None:
        parts = [f"{len(texts):,} distinct texts to encode"]
        to_encode = texts
    else:
        unchanged = " if the model has not changed" if card.remote else ""
        cached = f"{len(texts) - len(to_encode):,} of them cached{unchanged}"
        parts = [f"{len(texts):,} distinct texts to encode, {cached}"]
    if card.remote:
        parts += _estimate(encoder, to_encode)
    else:
        parts += _tokens(encoder, texts)
    lines = [f"{entry.label}: {'; '.join(parts)}"]
    for role, prompt in card.prompts.items():
        lines.append(f"  prompt before each {role}: {prompt!r}")
    lines += [f"  {warning}" for warning in card.warnings]
    for line in lines:
        print_line(console, line, indent=4)


def _not_cached(encoder: Encoder, texts: tuple[Text, ...], cache: VectorCache | None) -> tuple[Text, ...] | None:
    """Return the texts that are not in the cache, or None if that is unknown without asking a service."""
    # Vectors that are cut or quantised are computed from the full ones.
    encoder = encoder_of_vectors(encoder)
    card = encoder.card
    if cache is None or not card.cached or card.fitted:
        return None
    # Computing the fingerprint of a service would send it a request.
    fingerprint: str | None = encoder.known_fingerprint if isinstance(encoder, Remote) else encoder.fingerprint
    if not fingerprint:
        return None
    return cache.missing(fingerprint, texts)


def _by_role(texts: tuple[Text, ...]) -> dict[Role, list[str]]:
    """Return the texts of each role."""
    by_role: dict[Role, list[str]] = {}
    for role, text in texts:
        by_role.setdefault(role, []).append(text)
    return by_role


def _estimate(encoder: Any, texts: tuple[Text, ...]) -> list[str]:
    """Estimate the tokens and the cost of a service without sending it anything."""
    price = encoder.card.price
    limit = encoder.card.max_tokens
    tokens, cost, too_long = 0, 0.0, 0
    for role, of_role in _by_role(texts).items():
        tokens_of_role, cost_of_role = encoder.estimate(of_role, role)
        tokens += tokens_of_role
        cost += cost_of_role or 0.0
        if limit:
            too_long += int((encoder.estimate_tokens(of_role, role) > limit).sum())
    parts = [f"about {tokens:,} tokens to send"]
    if price is None:
        parts.append("pass price= for the cost")
    else:
        parts.append(f"about {cost:,.4g} at {price:g} per million tokens")
    over_budget = encoder.beyond_budget(tokens)
    if over_budget:
        parts.append(over_budget)
    if limit:
        parts.append(f"about {too_long:,} texts longer than its limit of {limit} tokens")
    return parts


def _tokens(encoder: Encoder, texts: tuple[Text, ...]) -> list[str]:
    """Count the tokens that a local encoder reads and the texts that it truncates."""
    if not isinstance(encoder, CountsTokens):
        return []
    lengths: list[tuple[int, str]] = []
    try:
        for role, of_role in _by_role(texts).items():
            counts = map(int, encoder.count_tokens(of_role, role))
            lengths += zip(counts, of_role, strict=True)
    except EncoderError as error:
        return [str(error)]
    total = f"{sum(tokens for tokens, _ in lengths):,} tokens"
    limit = encoder.card.max_tokens
    if not limit:
        return [total, "no length limit"]
    truncated = [(tokens, text) for tokens, text in lengths if tokens > limit]
    longer = f"{len(truncated):,} texts longer than its limit of {limit} tokens"
    if truncated:
        most, longest = max(truncated)
        longer += f", the longest with {most:,}: {longest[:BEGINNING]!r}…"
    return [total, longer]
