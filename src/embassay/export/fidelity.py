"""What an exported model changes: the distance of its vectors from the original's, and the decisions that flip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.negated_antonyms.negated_antonyms import KINDS, choices
from embassay.engine.topk import search
from embassay.errors import EncoderError
from embassay.geometry.closeness import paired_cosine
from embassay.run.resolve import load_corpus
from embassay.samples.base import Text
from embassay.types import AnyCorpus, Card, Encoder

BUILT_IN = ("opposites", "handbook")
"""The built-in corpora whose choices and hits are compared."""
K = 5
"""Documents that are looked at for each question."""


@dataclass(frozen=True)
class Changed:
    """How many decisions on a corpus differ from the original's.

    Attributes
    ----------
    what
        ``choices`` of negated antonyms, or ``hits``, the documents among the first five of a question.
    """

    corpus: str
    what: str
    differ: int
    total: int

    def sentence(self) -> str:
        """Return it for people."""
        decisions = "choices (negated_antonyms)"
        if self.what == "hits":
            decisions = f"top-{K} documents (retrieval)"
        return f"{self.corpus}: {self.differ:,} of {self.total:,} {decisions} differ"


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
        Length of the original's longest vector, with which differences are compared.
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
        sentences = [
            f"cosine with the original on {self.texts:,} texts: lowest {_rounded_down(self.cosine_min)}, "
            f"median {_rounded_down(self.cosine_median)}; "
            f"largest difference in any coordinate {self.largest_difference:.2g}"
        ]
        if self.undefined:
            sentences.append(f"{self.undefined:,} texts have zero vectors in both models")
        sentences += [changed.sentence() for changed in self.changed]
        return tuple(sentences)


@dataclass(frozen=True)
class _TextVectors:
    """The (n, d) vectors of an encoder, and the row of each text in its role."""

    matrix: NDArray[np.float64]
    row: dict[Text, int]

    @classmethod
    def of(cls, encoder: Encoder, texts: Sequence[Text]) -> _TextVectors:
        """Encode texts."""
        blocks: list[np.ndarray] = []
        row: dict[Text, int] = {}
        for role in dict.fromkeys(role for role, _ in texts):
            texts_of_role = [text for text in texts if text[0] == role]
            block = encoder.encode([text for _, text in texts_of_role], role)
            if not np.isfinite(block).all():
                raise EncoderError(f"{encoder.name}: the vectors contain NaN or infinity")
            for text in texts_of_role:
                row[text] = len(row)
            blocks.append(block)
        return cls(np.concatenate(blocks).astype(np.float64), row)

    def take(self, texts: Sequence[Text]) -> NDArray[np.float64]:
        """Return the vectors of some texts."""
        return self.matrix[[self.row[text] for text in texts]]


def measure(original: Encoder, exported: Encoder, corpora: Sequence[AnyCorpus]) -> Fidelity:
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
    given = {corpus.fingerprint for corpus in corpora}
    decided = [*corpora, *(corpus for corpus in built_in if corpus.fingerprint not in given)]
    texts = _distinct_texts(corpora or built_in)
    every = _distinct_texts(decided)
    before, after = _TextVectors.of(original, every), _TextVectors.of(exported, every)

    rows, exported_rows = before.take(texts), after.take(texts)
    undefined = ~rows.any(axis=1) & ~exported_rows.any(axis=1)
    cosine = np.nan_to_num(paired_cosine(rows, exported_rows)[~undefined])
    if not len(cosine):
        raise EncoderError(f"{original.name}: all vectors are zero, so there is nothing to compare")
    changes = []
    for corpus in decided:
        if corpus.shape == "choice":
            changes.append(_changed_choices(corpus, before, after))
        elif corpus.shape == "retrieval":
            changes.append(_changed_hits(corpus, before, after, exported.card))
    return Fidelity(
        texts=len(texts),
        cosine_min=float(cosine.min()),
        cosine_median=float(np.median(cosine)),
        largest_difference=float(np.abs(rows - exported_rows).max()),
        largest_norm=float(np.linalg.norm(rows, axis=1).max()),
        undefined=int(undefined.sum()),
        changed=tuple(changes),
    )


def _distinct_texts(corpora: Sequence[AnyCorpus]) -> list[Text]:
    return list(dict.fromkeys(text for corpus in corpora for text in corpus.texts()))


def _changed_choices(corpus: AnyCorpus, before: _TextVectors, after: _TextVectors) -> Changed:
    differ = (_choices(corpus, before) != _choices(corpus, after)).any(axis=1)
    return Changed(corpus.name, "choices", int(differ.sum()), len(differ))


def _choices(corpus: AnyCorpus, vectors: _TextVectors) -> NDArray[np.float64]:
    """Return (n, 3) which candidate is chosen, as negated_antonyms does it; an undefined one is never chosen."""
    inputs = vectors.take([("text", sample.input) for sample in corpus.samples])
    cosines = []
    for kind in KINDS:
        candidates = vectors.take([("text", getattr(sample, kind)) for sample in corpus.samples])
        cosines.append(paired_cosine(inputs, candidates))
    return np.nan_to_num(choices(np.stack(cosines, axis=1)))


def _changed_hits(corpus: AnyCorpus, before: _TextVectors, after: _TextVectors, card: Card) -> Changed:
    hits, exported_hits = _hits(corpus, before, card), _hits(corpus, after, card)
    lost = sum(len(np.setdiff1d(a, b)) for a, b in zip(hits, exported_hits, strict=True))
    return Changed(corpus.name, "hits", lost, hits.size)


def _hits(corpus: AnyCorpus, vectors: _TextVectors, card: Card) -> NDArray[np.int64]:
    """Return the (q, K) documents that are nearest to each question."""
    queries = vectors.take([("query", sample.question) for sample in corpus.samples])
    starts: list[int] = []
    texts: list[Text] = []
    for document in corpus.documents:
        starts.append(len(texts))
        texts += [("document", passage) for passage in document.passages]
    found = search(
        queries.astype(np.float32),
        vectors.take(texts).astype(np.float32),
        k=min(K, len(corpus.documents)),
        measure=card.similarity,
        starts=np.array(starts, dtype=np.int64),
    )
    return found.documents


def _rounded_down(cosine: float) -> str:
    """Show a cosine to six digits, or its distance from 1 where six digits do not show it."""
    if cosine < 1 - 1e-6:
        return f"{np.floor(cosine * 1e6) / 1e6:.6f}"
    return f"1 − {1 - cosine:.1g}" if 1 - cosine > 1e-15 else "1"
