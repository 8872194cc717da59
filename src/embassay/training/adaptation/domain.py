"""The corpora of an adaptation: those of the domain, the general ones, and the paths of their files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from embassay.core.errors import SpecError
from embassay.core.randomness import generator
from embassay.core.samples.retrieval import Question
from embassay.core.types import AnyCorpus, Corpus
from embassay.diagnostics.metrics.metric import ranking_diagnostics
from embassay.run.resolve import load_corpus
from embassay.training.adaptation.material import Material
from embassay.training.adaptation.request import AdaptRequest
from embassay.training.triplets import normalised

BUILT_IN = ("handbook", "opposites", "edits", "vignettes")
"""General corpora that are added for each shape for which the user names no corpus."""


def check_outside(request: AdaptRequest, base: Path) -> None:
    """Refuse an output folder that contains the base, which ``--overwrite`` would remove.

    Raises
    ------
    SpecError
        If the base lies in it.
    """
    if base.resolve().is_relative_to(request.out.resolve()):
        raise SpecError(
            f"base {request.base!r} is inside the output folder {request.out}; choose another folder with -o"
        )


def load_corpora(corpora: Sequence[str | AnyCorpus]) -> list[AnyCorpus]:
    """Load the corpora that are sources, and check those that were made in Python."""
    loaded = []
    for corpus in corpora:
        if isinstance(corpus, Corpus):
            corpus.check()
            loaded.append(corpus)
        else:
            loaded.append(load_corpus(corpus))
    return loaded


def with_fewer_documents(corpus: AnyCorpus, number: int, seed: int) -> AnyCorpus:
    """Keep at most this many randomly chosen documents, and the questions whose right documents are all among them."""
    corpus.need_texts("adaptation")
    if len(corpus.documents) <= number:
        return corpus
    order = generator(seed, "documents", corpus.fingerprint).permutation(len(corpus.documents))
    documents = tuple(corpus.documents[place] for place in sorted(order[:number].tolist()))
    names = {document.id for document in documents}
    samples = tuple(sample for sample in corpus.samples if sample.right and names.issuperset(sample.right))
    note = f"{number:,} of {len(corpus.documents):,} documents, chosen at random, and the questions that they answer"
    return replace(corpus, samples=samples, documents=documents, notes=(*corpus.notes, note))


def general_corpora(sources: Sequence[str | AnyCorpus], material: Material) -> tuple[AnyCorpus, ...]:
    """Return the general corpora: those that the user names, and built-in ones of the other shapes.

    Raises
    ------
    SpecError
        If a corpus has questions that are learnt, or has a shape that no diagnostic examines.
    """
    corpora = load_corpora(sources)
    learnt = set(map(normalised, material.learnt))
    shapes = ranking_diagnostics().keys()
    for corpus in corpora:
        if corpus.shape not in shapes:
            raise SpecError(
                f"corpus {corpus.name!r} has shape {corpus.shape}; --general takes the shapes {', '.join(shapes)}"
            )
        if shared := _count_shared(corpus, learnt):
            raise SpecError(
                f"corpus {corpus.name!r} cannot be a general corpus: {shared:,} of its {len(corpus.samples):,} "
                "questions are training or dev questions; remove them, or name another corpus with --general"
            )
    named_shapes = {corpus.shape for corpus in corpora}
    for name in BUILT_IN:
        corpus = load_corpus(name)
        if corpus.shape not in named_shapes and not _count_shared(corpus, learnt):
            corpora.append(corpus)
    return tuple(corpora)


def _count_shared(corpus: AnyCorpus, learnt: Collection[str]) -> int:
    """Return how many questions of a corpus are training or dev questions, compared in normalised form."""
    questions = [sample.question for sample in corpus.samples if isinstance(sample, Question)]
    return sum(normalised(question) in learnt for question in questions)
