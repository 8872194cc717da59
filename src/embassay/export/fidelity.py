"""What an exported model changes: the distance of its vectors from the original's, and the choices that flip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.negated_antonyms.negated_antonyms import KINDS, choices
from embassay.engine.topk import search
from embassay.errors import EncoderError
from embassay.geometry.closeness import paired_cosine
from embassay.run.resolve import load_corpus
from embassay.samples.base import Text
from embassay.types import Corpus, Encoder

BUILT_IN = ("opposites", "handbook")
"""The built-in corpora whose choices and hits are compared."""
K = 5
"""Documents that are looked at for each question."""


@dataclass(frozen=True)
class Changed:
    """How many decisions on a corpus are others than the original's.

    Attributes
    ----------
    what
        ``choices`` of negated antonyms, or ``hits``, the documents among the first five of a question.
    """

    corpus: str
    what: str
    differ: int
    total: int


@dataclass(frozen=True)
class Fidelity:
    """How near an exported model is to the original.

    Attributes
    ----------
    cosine_min, cosine_median
        Of each text's vector with the original's; 1 is best.
    largest_difference
        Of any coordinate, absolute.
    largest_norm
        Length of the original's longest vector, which differences are to be seen beside.
    undefined
        Texts without a cosine, because both vectors are zero. Where one of them is, the cosine counts as 0.
    """

    texts: int
    cosine_min: float
    cosine_median: float
    largest_difference: float
    largest_norm: float
    undefined: int
    changed: tuple[Changed, ...]

    def sentences(self) -> tuple[str, ...]:
        """Return it for people, one sentence each."""
        said = (
            f"cosine with the original on {self.texts:,} texts: lowest {_below(self.cosine_min)}, "
            f"median {_below(self.cosine_median)}; "
            f"largest difference of a coordinate {self.largest_difference:.2g}",
            *([f"{self.undefined:,} texts have zero vectors in both"] if self.undefined else []),
        )
        others = (f"{c.corpus}: {c.differ:,} of {c.total:,} {NAMED[c.what]} differ" for c in self.changed)
        return (*said, *others)


NAMED = {"choices": "choices (negated_antonyms)", "hits": f"documents among the first {K} (retrieval)"}


def measure(original: Encoder, exported: Encoder, corpora: Sequence[Corpus[Any]]) -> Fidelity:
    """Compare two encoders on the texts of corpora, and the decisions on these and on the built-in ones.

    Parameters
    ----------
    corpora
        Of any shape; the built-in ones where there are none.

    Raises
    ------
    EncoderError
        If an encoder fails, gives a vector that is not finite, or zero vectors for all texts.
    """
    built_in = [load_corpus(name) for name in BUILT_IN]
    texts = list(dict.fromkeys(text for corpus in corpora or built_in for text in corpus.texts()))
    others = [c for c in built_in if c.fingerprint not in {corpus.fingerprint for corpus in corpora}]
    every = list(dict.fromkeys([*texts, *(text for corpus in others for text in corpus.texts())]))
    mine, theirs = _encoded(original, every), _encoded(exported, every)
    row = {text: place for place, text in enumerate(every)}
    before, after = mine[: len(texts)], theirs[: len(texts)]
    cosine, empty = paired_cosine(before, after), ~before.any(axis=1) & ~after.any(axis=1)
    defined = np.nan_to_num(cosine[~empty])
    if not len(defined):
        raise EncoderError(f"{original.name}: no text has a vector other than zero, so there is nothing to compare")
    return Fidelity(
        len(texts),
        float(defined.min()),
        float(np.median(defined)),
        float(np.abs(before - after).max()),
        float(np.linalg.norm(before, axis=1).max()),
        int(empty.sum()),
        tuple(_changes([*corpora, *others], row, mine, theirs, exported.card.similarity)),
    )


def _encoded(encoder: Encoder, texts: Sequence[Text]) -> NDArray[np.float64]:
    """Return the (n, d) vectors of texts in their roles."""
    found: NDArray[np.float64] | None = None
    for role in dict.fromkeys(role for role, _ in texts):
        places = [place for place, (own, _) in enumerate(texts) if own == role]
        rows = encoder.encode([texts[place][1] for place in places], role)
        if not np.isfinite(rows).all():
            raise EncoderError(f"{encoder.name}: it gives vectors with NaN or infinity")
        found = np.zeros((len(texts), rows.shape[1])) if found is None else found
        found[places] = rows
    return np.zeros((0, 1)) if found is None else found


def _changes(
    corpora: Sequence[Corpus[Any]],
    row: dict[Text, int],
    mine: NDArray[np.float64],
    theirs: NDArray[np.float64],
    measure: Any,
) -> Iterator[Changed]:
    """Yield what differs on each corpus where something is chosen or found."""
    for corpus in corpora:
        if corpus.shape == "choice":
            a, b = (_chosen(corpus, row, vectors) for vectors in (mine, theirs))
            yield Changed(corpus.name, "choices", int((a != b).any(axis=1).sum()), len(a))
        if corpus.shape == "retrieval":
            hits, others = (_hits(corpus, row, vectors, measure) for vectors in (mine, theirs))
            lost = sum(len(set(x) - set(y)) for x, y in zip(hits.tolist(), others.tolist(), strict=True))
            yield Changed(corpus.name, "hits", lost, hits.size)


def _chosen(corpus: Corpus[Any], row: dict[Text, int], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n, 3) which candidate is chosen, as negated_antonyms does it; an undefined one is chosen by nobody."""
    texts = [[row["text", getattr(s, kind)] for s in corpus.samples] for kind in ("input", *KINDS)]
    cosine = [paired_cosine(vectors[texts[0]], vectors[places]) for places in texts[1:]]
    return np.nan_to_num(choices(np.stack(cosine, axis=1)))


def _hits(corpus: Corpus[Any], row: dict[Text, int], vectors: NDArray[np.float64], measure: Any) -> NDArray[np.int64]:
    """Return the (q, K) documents that are nearest to each question."""
    queries = vectors[[row["query", s.question] for s in corpus.samples]].astype(np.float32)
    passages = [row["document", text] for document in corpus.documents for text in document.passages]
    starts = np.cumsum([0, *(len(document.passages) for document in corpus.documents)])[:-1]
    k = min(K, len(corpus.documents))
    return search(queries, vectors[passages].astype(np.float32), k=k, measure=measure, starts=starts).documents


def _below(value: float) -> str:
    """Show a cosine to six digits, and what is missing to 1 where these do not tell."""
    if value < 1 - 1e-6:
        return f"{np.floor(value * 1e6) / 1e6:.6f}"
    return f"1 − {1 - value:.1g}" if 1 - value > 1e-15 else "1"
