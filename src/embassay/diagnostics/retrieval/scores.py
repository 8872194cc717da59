"""From vectors to what is kept of each question: similarities, where the right documents stand, transforms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.geometry import transforms
from embassay.geometry.closeness import paired
from embassay.geometry.isotropy import isotropy
from embassay.randomness import generator
from embassay.samples.retrieval import Document, Question
from embassay.stats.ranking import Places
from embassay.stats.units import Floats
from embassay.types import Corpus
from embassay.vectors import Found, Search, Vectors

RANDOM = 10
"""Random documents for each question, for ROE and for what a similarity means."""
FITTED = 200_000
"""Passages that a transform is fitted on, at most; more tell it nothing."""
ROWS = 65_536
"""Passages that are looked at together."""
DIGITS = 6
"""Significant digits of isotropy: what float32 vectors are good for."""
Ints = NDArray[np.int64]


def quantities(k: int) -> tuple[str, ...]:
    """Return the ranking metrics that encoders can be compared by, the headline first."""
    return (f"Success@{k}", f"R@{k}", "RR", "AP", "nDCG@10")


@dataclass(frozen=True)
class Asked:
    """A corpus's questions and passages as vectors, and where the right documents are.

    Attributes
    ----------
    starts
        (N,) the first passage of each document; None where each has one.
    pairs
        (R, 2) the places of each question and each of its right documents.
    """

    corpus: Corpus[Question]
    vectors: Vectors
    queries: Any
    passages: Any
    starts: Ints | None
    pairs: Ints

    @classmethod
    def of(cls, corpus: Corpus[Question], vectors: Vectors) -> Asked:
        """Take the vectors of a corpus's questions and passages."""
        queries = vectors.take((s.question for s in corpus.samples), "query")
        passages = vectors.take((p for d in corpus.documents for p in d.passages), "document")
        return cls(corpus, vectors, queries, passages, _starts(corpus.documents), pairs_of(corpus))


def similarities(asked: Asked, k: int, route: str) -> tuple[dict[str, Floats], dict[str, NDArray[np.str_]]]:
    """Find the nearest documents of each question and the places of the right ones.

    Returns
    -------
    values
        ``top`` (n, k) similarities, ``own`` (n,) that to the nearest right document, ``random`` (n, 10) to random ones,
        ``answered`` (n,) 1 where there is a right document, and the ranking metrics: NaN where there is none, or where
        the question's vector has no similarity to anything.
    labels
        ``nearest`` (n,) the document found first and the number of its passage, ``id#0``.
    """
    corpus, pairs = asked.corpus, asked.pairs
    found = _search(asked.vectors)(
        asked.queries,
        asked.passages,
        k=k,
        measure=asked.vectors.similarity,
        starts=asked.starts,
        pairs=pairs,
        route=route,
    )
    values = metrics(corpus, pairs, found, k)
    values |= {
        "top": found.similarity,
        "own": _largest(len(corpus.samples), pairs[:, 0], found.own),
        "random": _random(asked),
        "answered": np.array([float(bool(s.right)) for s in corpus.samples]),
    }
    labels = {"nearest": _nearest(corpus, found, asked.starts)}
    if found.route.startswith("approximate"):
        labels["search"] = np.full(len(corpus.samples), found.route)
    return values, labels


def pairs_of(corpus: Corpus[Question]) -> Ints:
    """Return (R, 2) the places of each question and each of its right documents."""
    place = {document.id: n for n, document in enumerate(corpus.documents)}
    found = [(n, place[name]) for n, sample in enumerate(corpus.samples) for name in sample.right]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def blind(corpus: Corpus[Question], k: int) -> float:
    """Return the success of blind choice: the mean over answered questions of 1 − C(N − r, k)/C(N, k)."""
    total = len(corpus.documents)
    right = [len(s.right) for s in corpus.samples if s.right]
    missed = {r: math.prod(max(total - r - n, 0) / (total - n) for n in range(k)) for r in set(right)}
    return 1 - sum(missed[r] for r in right) / max(len(right), 1)


def metrics(corpus: Corpus[Question], pairs: Ints, found: Found, k: int) -> dict[str, Floats]:
    """Return the ranking metrics of each question, expected over ties."""
    gains = [gain for s in corpus.samples for gain in (s.gains or (1,) * len(s.right))]
    places = Places(
        len(corpus.samples), pairs[:, 0], found.greater, np.maximum(found.tied, 0), np.array(gains, dtype=np.int64)
    )
    values = {f"Success@{n}": places.success(n) for n in sorted({1, k, 10}) if n < len(corpus.documents)}
    values |= {f"R@{k}": places.recall(k), "RR": places.reciprocal_rank(), "AP": places.average_precision()}
    values["nDCG@10"] = places.ndcg(10)
    # A question without any similarity is undefined, not missed.
    lost = np.isnan(found.similarity[:, 0])
    return {name: np.where(lost, np.nan, value) for name, value in values.items()}


def transformed(asked: Asked, k: int, defined: NDArray[np.bool_]) -> tuple[dict[str, Floats], dict[str, float]]:
    """Return the success after each transform, and the isotropy of the passages before and after.

    Transforms are fitted on the passages and applied to passages and questions, which are compared by cosine. Sparse
    vectors are not transformed: they would no longer fit into memory.

    Parameters
    ----------
    defined
        (n,) which questions have a similarity at all; the others stay undefined.
    """
    corpus, passages = asked.corpus, asked.passages
    scalars = _isotropic(passages, "")
    values: dict[str, Floats] = {}
    if issparse(passages):
        return values, scalars
    sample = passages
    if len(passages) > FITTED:
        chosen = generator(0, "fitted on", corpus.fingerprint).choice(len(passages), FITTED, replace=False)
        sample = passages[np.sort(chosen)]
    for name in transforms.NAMES:
        try:
            fitted = transforms.fit(name, sample)
        except ValueError:
            values[f"Success@{k}/{name}"] = np.full(len(corpus.samples), np.nan)  # nothing is left of the vectors
            continue
        moved = [_applied(fitted, matrix) for matrix in (asked.queries, passages)]
        found = _search(asked.vectors)(*moved, k=k, measure="cosine", starts=asked.starts, pairs=asked.pairs)
        success = metrics(corpus, asked.pairs, found, k)[f"Success@{k}"]
        values[f"Success@{k}/{name}"] = np.where(defined, success, np.nan)
        scalars |= {**_isotropic(moved[1], name), f"rank/{name}": float(fitted.rank)}
    return values, scalars


def _starts(documents: Sequence[Document]) -> Ints | None:
    sizes = np.array([len(document.passages) for document in documents], dtype=np.int64)
    return None if (sizes == 1).all() else np.cumsum(sizes) - sizes


def _search(vectors: Vectors) -> Search:
    if vectors.search is None:
        raise ValueError("retrieval needs vectors that can be searched: Vectors(…, search=engine.topk.search)")
    return vectors.search


def _largest(size: int, place: Ints, values: Floats) -> Floats:
    """Return (size,) the largest value at each place; NaN where there is none."""
    found = np.full(size, -np.inf)
    np.maximum.at(found, place, np.where(np.isnan(values), -np.inf, values))
    return np.where(np.isinf(found), np.nan, found)


def _random(asked: Asked) -> Floats:
    """Return (n, 10) the similarity of each question to random documents, the same ones for every encoder."""
    corpus, measure = asked.corpus, asked.vectors.similarity
    number, total = len(corpus.samples), len(corpus.documents)
    drawn = generator(0, "random documents", corpus.fingerprint).integers(0, total, size=(number, RANDOM))
    first = np.arange(total) if asked.starts is None else asked.starts
    ends = np.append(first[1:], asked.passages.shape[0])
    found = np.empty((number, RANDOM))
    size = max(1, ROWS * total // (RANDOM * asked.passages.shape[0]))
    for block in range(0, number, size):
        inside = slice(block, min(block + size, number))
        rows, owner = _passages_of(first[drawn[inside].ravel()], ends[drawn[inside].ravel()])
        values = paired(asked.queries[block + owner // RANDOM], asked.passages[rows], [measure])[measure]
        found[inside] = _largest((inside.stop - block) * RANDOM, owner, values).reshape(-1, RANDOM)
    return found


def _passages_of(first: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return the passages first … end − 1 of each of several documents, and which document each is of."""
    sizes = end - first
    owner = np.repeat(np.arange(len(first)), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return first[owner] + within, owner


def _nearest(corpus: Corpus[Question], found: Found, starts: Ints | None) -> NDArray[np.str_]:
    """Return (n,) the document that is found first and the number of its passage; empty where there is none."""
    names = []
    for document, passage in zip(found.documents[:, 0].tolist(), found.passages[:, 0].tolist(), strict=True):
        inside = 0 if starts is None else passage - int(starts[document])
        names.append(f"{corpus.documents[document].id}#{inside}" if document >= 0 else "")
    return np.array(names, dtype=np.str_)


def _applied(fitted: transforms.Transform, matrix: Any) -> NDArray[np.float32]:
    """Apply a transform block by block; a row that is nothing after it is a zero vector, near to nothing."""
    blocks = [_one(fitted, matrix[rows]) for rows in _slices(len(matrix))]
    return np.concatenate(blocks) if blocks else np.zeros((0, 1), dtype=np.float32)


def _one(fitted: transforms.Transform, rows: Any) -> NDArray[np.float32]:
    return np.nan_to_num(fitted.apply(rows)).astype(np.float32)


def _slices(rows: int) -> Iterator[slice]:
    for start in range(0, rows, ROWS):
        yield slice(start, start + ROWS)


def _isotropic(passages: Any, condition: str) -> dict[str, float]:
    """Return I_A and IsoScore of the passages by ``quantity/condition``; undefined ones are missing.

    The unbiased IsoScore is of the vectors as they are: a transform fitted on the passages makes them depend on each
    other.
    """
    found = isotropy(passages)
    figures = {"i_a": found.i_a, "isoscore": found.isoscore}
    if not condition:
        figures["isoscore_unbiased"] = found.isoscore_unbiased
    return {f"{q}/{condition}": float(f"{v:.{DIGITS}g}") for q, v in figures.items() if np.isfinite(v)}
