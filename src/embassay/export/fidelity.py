"""The differences between an exported model and the original: of vectors, and of decisions based on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.negated_antonyms.negated_antonyms import NegatedAntonyms, choices
from embassay.diagnostics.retrieval.scores import EncodedCorpus
from embassay.engine.encode import encode
from embassay.engine.search.top import search
from embassay.errors import EncoderError
from embassay.geometry.closeness import paired_cosine
from embassay.run.resolve import load_corpus
from embassay.samples.base import Text
from embassay.types import AnyCorpus, Encoder, Origin
from embassay.vectors import Vectors

BUILT_IN = ("opposites", "handbook")
"""The built-in corpora on which decisions are compared."""
K = 5
"""Number of documents that are compared for each question."""


@dataclass(frozen=True)
class Changed:
    """The number of decisions on a corpus that differ between the two models.

    Attributes
    ----------
    what
        ``choices`` of the diagnostic negated_antonyms, or ``hits``: the :data:`K` nearest documents of each question.
    """

    corpus: str
    what: str
    differ: int
    total: int

    def sentence(self) -> str:
        """Return the numbers as a sentence."""
        decisions = "choices (negated_antonyms)"
        if self.what == "hits":
            decisions = f"top-{K} documents (retrieval)"
        return f"{self.corpus}: {self.differ:,} of {self.total:,} {decisions} differ"


@dataclass(frozen=True)
class Fidelity:
    """The similarity of an exported model's vectors to those of the original.

    Attributes
    ----------
    cosine_min, cosine_median
        Minimum and median over texts of the cosine between the two vectors of a text; 1 is best.
    largest_difference
        The largest absolute difference of a coordinate.
    largest_norm
        The norm of the original's longest vector, for comparison with ``largest_difference``.
    undefined
        Number of texts whose cosine is undefined because both vectors are zero. If only one is zero, the cosine is 0.
    changed
        The differences in decisions, one entry per corpus.
    """

    texts: int
    cosine_min: float
    cosine_median: float
    largest_difference: float
    largest_norm: float
    undefined: int
    changed: tuple[Changed, ...]

    def sentences(self) -> tuple[str, ...]:
        """Return the figures as sentences."""
        sentences = [
            f"cosine with the original on {self.texts:,} texts: lowest {_rounded_down(self.cosine_min)}, "
            f"median {_rounded_down(self.cosine_median)}; "
            f"largest difference in any coordinate {self.largest_difference:.2g}"
        ]
        if self.undefined:
            sentences.append(f"{self.undefined:,} texts have zero vectors in both models")
        sentences += [changed.sentence() for changed in self.changed]
        return tuple(sentences)


def measure(original: Encoder, exported: Encoder, corpora: Sequence[AnyCorpus]) -> Fidelity:
    """Compare the vectors of two encoders, and decisions based on them.

    Parameters
    ----------
    corpora
        Vectors are compared on the texts of these corpora, of any shape, or of the built-in ones if there are none.
        Decisions are compared on these corpora and on the built-in ones.

    Raises
    ------
    EncoderError
        If an encoder fails, if a vector is not finite, or if all vectors are zero.
    """
    built_in = [load_corpus(name) for name in BUILT_IN]
    # A user may have named a built-in corpus; its decisions are counted once.
    fingerprints = {corpus.fingerprint for corpus in corpora}
    all_corpora = [*corpora]
    all_corpora += [corpus for corpus in built_in if corpus.fingerprint not in fingerprints]
    all_texts = _distinct_texts(all_corpora)
    before = _encoded(original, all_texts)
    after = _encoded(exported, all_texts)

    texts = _distinct_texts(corpora or built_in)
    places = [before.row[text] for text in texts]
    rows, exported_rows = before.matrix[places], after.matrix[places]
    undefined = ~rows.any(axis=1) & ~exported_rows.any(axis=1)
    cosines = paired_cosine(rows, exported_rows)[~undefined]
    # If only one of two vectors is zero, their cosine is NaN and counts as 0.
    cosines = np.nan_to_num(cosines)
    if not len(cosines):
        raise EncoderError(f"{original.name}: all vectors are zero, so there is nothing to compare")
    changes = []
    for corpus in all_corpora:
        if corpus.shape == "choice":
            changes.append(_changed_choices(corpus, before, after))
        elif corpus.shape == "retrieval":
            changes.append(_changed_hits(corpus, before, after))
    return Fidelity(
        texts=len(texts),
        cosine_min=float(cosines.min()),
        cosine_median=float(np.median(cosines)),
        largest_difference=float(np.abs(rows - exported_rows).max()),
        largest_norm=float(np.linalg.norm(rows, axis=1).max()),
        undefined=int(undefined.sum()),
        changed=tuple(changes),
    )


def _distinct_texts(corpora: Sequence[AnyCorpus]) -> list[Text]:
    """Return the distinct (role, text) of some corpora, in their order."""
    texts: dict[Text, None] = {}
    for corpus in corpora:
        texts.update(dict.fromkeys(corpus.texts()))
    return list(texts)


def _encoded(encoder: Encoder, texts: Sequence[Text]) -> Vectors:
    """Return the float64 vectors of distinct (role, text), in their order; an error names the encoder."""
    try:
        vectors, _ = encode(encoder, texts)
    except EncoderError as error:
        raise EncoderError(f"{encoder.name}: {error}") from error
    # Cosines of nearly equal vectors differ from 1 by less than float32 resolves.
    return replace(vectors, matrix=vectors.matrix.astype(np.float64))


def _changed_choices(corpus: AnyCorpus, before: Vectors, after: Vectors) -> Changed:
    """Count the items of a corpus of shape ``choice`` on which the two models choose differently."""
    differ = (_choices(corpus, before) != _choices(corpus, after)).any(axis=1)
    return Changed(corpus.name, "choices", int(differ.sum()), len(differ))


def _choices(corpus: AnyCorpus, vectors: Vectors) -> NDArray[np.float64]:
    """Return (n, 3): 1 for the chosen candidate of each item, as in negated_antonyms; ties share the 1.

    An item with an undefined cosine has only zeros.
    """
    origin = Origin("negated_antonyms", "", corpus.name, corpus.fingerprint, "", "")
    scores = NegatedAntonyms().score(corpus, vectors, origin)
    # NaN is never equal to NaN, so an undefined item would count as a difference.
    return np.nan_to_num(choices(scores.values["cosine"]))


def _changed_hits(corpus: AnyCorpus, before: Vectors, after: Vectors) -> Changed:
    """Count the nearest documents by the original that are not among the nearest by the exported model."""
    hits, exported_hits = _hits(corpus, before), _hits(corpus, after)
    lost = 0
    for documents, exported_documents in zip(hits, exported_hits, strict=True):
        lost += len(np.setdiff1d(documents, exported_documents))
    return Changed(corpus.name, "hits", lost, hits.size)


def _hits(corpus: AnyCorpus, vectors: Vectors) -> NDArray[np.int64]:
    """Return the (q, K) indices of the documents nearest to each question."""
    encoded = EncodedCorpus.of(corpus, vectors)
    nearest = search(
        encoded.queries,
        encoded.passages,
        k=min(K, len(corpus.documents)),
        similarity_function=vectors.similarity,
        starts=encoded.starts,
    )
    return nearest.documents


def _rounded_down(cosine: float) -> str:
    """Format a cosine with six digits, rounded down; if it is closer to 1 than that, as the distance from 1."""
    # Rounded down, so that a cosine below 1 is never printed as 1.000000.
    if cosine < 1 - 1e-6:
        return f"{np.floor(cosine * 1e6) / 1e6:.6f}"
    distance = 1 - cosine
    if distance > 1e-15:
        return f"1 − {distance:.1g}"
    return "1"
