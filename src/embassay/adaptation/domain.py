"""The corpora of an adaptation: those of the domain, the general ones beside them, and where their files may lie."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from embassay.adaptation.material import Material
from embassay.adaptation.order import Order
from embassay.diagnostics.base import meaning_of
from embassay.errors import SourceError, SpecError
from embassay.plugins import DIAGNOSTICS
from embassay.run.resolve import load_corpus
from embassay.run.specs import parse
from embassay.samples.retrieval import Question
from embassay.store.paths import source_path
from embassay.training.triplets import normalised
from embassay.types import Corpus

BUILT_IN = ("handbook", "opposites", "edits", "vignettes")
"""General corpora that join where none of their shape is given."""


def watched() -> dict[str, str]:
    """Return the diagnostic that looks at a general corpus of each shape: those of ours that have a headline."""
    names = [name for name in sorted(DIAGNOSTICS.own_names()) if meaning_of(name).title]
    return {DIAGNOSTICS.module(name).create().shape: name for name in names}


def check_outside(order: Order, base: Path) -> None:
    """Refuse a folder that holds what is adapted, or what it is adapted to: it could be removed with what is there.

    Raises
    ------
    SpecError
        If the base or a file of a corpus lies in it.
    """
    places = [(f"base {order.base!r}", base)]
    for source in (*listed(order.corpora), *listed(order.general)):
        if not isinstance(source, str):
            continue
        spec = parse(source, "corpus")
        # An option may name a file as well, such as that of the questions.
        for text in (spec.head, *map(str, spec.options.values())):
            places += [(f"corpus {spec.head!r}", path) for path in _path(text)]
    out = order.out.resolve()
    for what, place in places:
        if place.exists() and place.resolve().is_relative_to(out):
            raise SpecError(f"{what}: lies in {order.out}, which the variants are written to; choose another -o")


def _path(text: str) -> tuple[Path, ...]:
    """Return the path that an option may be; none for a text that cannot be one, such as a long licence."""
    try:
        return (source_path(text),)
    except SourceError:
        return ()


def loaded(corpora: Sequence[str | Corpus[Any]]) -> list[Corpus[Any]]:
    """Return corpora, or the one, read where their source is given."""
    for corpus in listed(corpora):
        if isinstance(corpus, Corpus):
            corpus.check()
    return [corpus if isinstance(corpus, Corpus) else load_corpus(corpus) for corpus in listed(corpora)]


def listed(corpora: Sequence[str | Corpus[Any]]) -> Sequence[str | Corpus[Any]]:
    """Return several as they are, one as a list."""
    return [corpora] if isinstance(corpora, (str, Corpus)) else corpora


def general(
    given: Sequence[str | Corpus[Any]], own: Sequence[Corpus[Any]], material: Material
) -> tuple[Corpus[Any], ...]:
    """Return the general corpora: those given, and the built-in ones of the shapes that none was given of.

    Parameters
    ----------
    own
        The corpora of the domain, whole.

    Raises
    ------
    SpecError
        For a corpus that is one of the domain's or has questions of it, or of a shape that no diagnostic here looks at.
    """
    found = loaded(given)
    ours = {corpus.fingerprint for corpus in own}
    learnt = {normalised(question.question) for question in (*material.train, *material.dev)}
    for corpus in found:
        known = watched()
        if corpus.shape not in known:
            raise SpecError(f"corpus {corpus.name!r} is of shape {corpus.shape}; known here: {', '.join(known)}")
        if corpus.fingerprint in ours:
            raise SpecError(f"corpus {corpus.name!r} is both adapted to and general; name another with --general")
        if shared := _shared(corpus, learnt):
            raise SpecError(
                f"corpus {corpus.name!r} is not general here: {shared:,} of its {len(corpus.samples):,} questions are "
                "learnt from or stopped by; leave them out of it, or name another with --general"
            )
    shapes = {corpus.shape for corpus in found}
    joining = (load_corpus(name) for name in BUILT_IN)
    found += [c for c in joining if c.shape not in shapes and c.fingerprint not in ours and not _shared(c, learnt)]
    return tuple(found)


def _shared(corpus: Corpus[Any], learnt: Collection[str]) -> int:
    """Return how many questions of a corpus are among those that are learnt from, in normalised form."""
    return sum(isinstance(s, Question) and normalised(s.question) in learnt for s in corpus.samples)
