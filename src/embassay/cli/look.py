"""``embassay look`` and ``--dry-run``: how corpora are read, and what would have to be encoded."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from rich.console import Console
from rich.text import Text as RichText

from embassay.errors import EncoderError
from embassay.reports.terminal import stdout
from embassay.run.candidates import Entry
from embassay.run.plan import load_given_corpora, prepare
from embassay.run.request import RunRequest
from embassay.samples.base import Text
from embassay.store.cache import VectorCache
from embassay.types import SHOWN, Audit, Corpus, Encoder

SAMPLES = 3
BEGINNING = 60
"""Characters of a text that is longer than an encoder reads."""


def show(request: RunRequest, *, default: bool = False) -> None:
    """Print what each corpus was understood as and, for each encoder, the work it would be.

    Where no encoder was asked for there is none, or with ``default`` those that a run would take.
    """
    console = stdout()
    if not request.encoders and not default:
        for corpus in _corpora(request):
            _show_corpus(corpus, console)
        return
    plan = prepare(request, looking=True)
    for corpus in plan.corpora:
        _show_corpus(corpus, console)
    for remark in plan.remarks:
        console.print(RichText(remark), soft_wrap=True)
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
    lines = [
        f"{corpus.name}: {corpus.shape}, read by the loader {corpus.loader}"
        + (f", version {corpus.version}" if corpus.version else ""),
        f"  items {audit.items:,}, independent units {audit.units:,}{_worth(audit)}, "
        f"rows that repeat another {audit.duplicates:,}",
        f"  texts {audit.texts:,}, distinct {audit.distinct:,}"
        + (f"; documents {audit.documents:,}, passages {audit.passages:,}" if audit.documents else ""),
        f"  licence {corpus.licence}" + (f"; {corpus.source}" if corpus.source else ""),
        f"  fingerprint {corpus.fingerprint}",
        *([f"  filtered with {', '.join(corpus.filtered_with)}"] if corpus.filtered_with else []),
        *(f"  {note}" for note in corpus.notes),
    ]
    for sample in corpus.samples[:SAMPLES]:
        lines.append(f"  sample {sample.id}:")
        own, shown = sample.fields(), corpus.shown(sample.id)
        fields = {name: _begun(text) if own.get(name) == text else text for name, text in shown.items()}
        width = max(11, *map(len, fields))
        lines += [f"    {name:<{width}} {text}" for name, text in fields.items()]
    for line in lines:
        console.print(RichText(line), soft_wrap=True)


def _begun(text: str) -> str:
    """Return how a sample's own text begins; the texts that ``shown`` adds to it are cut there."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _worth(audit: Audit) -> str:
    """Say how many equal units very unequal ones are worth."""
    unequal = audit.effective_units < audit.units / 2
    return f" (worth {audit.effective_units:.0f} equal ones)" if unequal else ""


def _show_encoder(entry: Entry, corpora: tuple[Corpus[Any], ...], cache: VectorCache | None, console: Console) -> None:
    encoder, card = entry.encoder, entry.encoder.card
    texts = tuple(dict.fromkeys(text for corpus in corpora for text in corpus.texts()))
    parts = [f"{len(texts):,} distinct texts to encode"]
    todo = _open(encoder, texts, cache)
    if todo is not None:
        unchanged = " if the model has not changed" if card.remote else ""
        parts[0] += f", {len(texts) - len(todo):,} of them cached{unchanged}"
    todo = texts if todo is None else todo
    parts += _estimate(encoder, todo) if card.remote else _tokens(encoder, texts)
    console.print(RichText(f"{entry.label}: {'; '.join(parts)}"), soft_wrap=True)
    for role, prompt in card.prompts.items():
        console.print(RichText(f"  prompt before each {role}: {prompt!r}"), soft_wrap=True)
    for warning in card.warnings:
        console.print(RichText(f"  {warning}"), soft_wrap=True)


def _open(encoder: Encoder, texts: tuple[Text, ...], cache: VectorCache | None) -> tuple[Text, ...] | None:
    """Return the texts that are not in the cache, None where that is not known: a service is not asked for it."""
    card = encoder.card
    if cache is None or not card.cached or card.fitted:
        return None
    known: str | None = getattr(encoder, "known_fingerprint", None) if card.remote else encoder.fingerprint
    return cache.missing(known, texts) if known else None


def _estimate(encoder: Any, texts: tuple[Text, ...]) -> list[str]:
    """Say what a service will be sent and what that costs, as far as that can be told without asking it."""
    by_role = {role: [text for r, text in texts if r == role] for role in dict.fromkeys(r for r, _ in texts)}
    found = [encoder.estimate(some, role) for role, some in by_role.items()]
    costs = [cost for _, cost in found if cost is not None]
    price, limit = encoder.card.price, encoder.card.max_tokens
    total = sum(n for n, _ in found)
    lines = [f"about {total:,} tokens to send"]
    lines.append(f"about {sum(costs):,.4g} at {price:g} a million" if price is not None else "the cost with price=")
    if beyond := encoder.beyond_budget(total):
        lines.append(beyond)
    if limit:
        long = sum(int((encoder.estimate_tokens(some, role) > limit).sum()) for role, some in by_role.items())
        lines.append(f"about {long:,} texts longer than its {limit} tokens")
    return lines


def _tokens(encoder: Encoder, texts: tuple[Text, ...]) -> list[str]:
    count: Any = getattr(encoder, "count_tokens", None)
    if count is None:
        return []
    by_role = {role: [text for r, text in texts if r == role] for role in dict.fromkeys(r for r, _ in texts)}
    try:
        tokens = [
            (int(n), text) for role, own in by_role.items() for n, text in zip(count(own, role), own, strict=True)
        ]
    except EncoderError as error:
        return [str(error)]
    limit, total = encoder.card.max_tokens, f"{sum(n for n, _ in tokens):,} tokens"
    if not limit:
        return [total, "no length limit"]
    cut = [(n, text) for n, text in tokens if n > limit]
    most, longest = max(cut, default=(0, ""))
    which = f", the longest of {most:,}: {longest[:BEGINNING]!r}…" if cut else ""
    return [total, f"{len(cut):,} texts longer than its {limit} tokens{which}"]
