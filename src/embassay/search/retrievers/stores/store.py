"""A vector store with its approximate index, over the vectors of an encoder: ``store:KIND,encoder=LABEL``.

The vectors of all passages are written to a collection of its own, which is removed at the end, and the store is asked
one question after the other, each with its time. Scores and order are those of the store: what an index loses is seen
beside the encoder itself, which is searched exactly, and beside ``index=none``.

Where documents have several passages, each counts with its best one. The store is asked for four times as many passages
as documents, and again for four times more while too few documents are among them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.core.errors import EncoderError, MissingExtraError, SpecError, UnknownNameError
from embassay.core.formatting import counted, names
from embassay.core.types import Runtime, content_hash
from embassay.core.vectors import Indices
from embassay.models.base import changed_options, spec_of
from embassay.models.limits import Count
from embassay.search.retrievers.base import PARTS_HINT, Lists, Questions, Retriever
from embassay.search.retrievers.stores.index import NUMBERS, Ask, Collection, Nearest, Numbers, Rows
from embassay.search.retrievers.stores.on_faiss import in_faiss
from embassay.search.retrievers.stores.on_lancedb import in_lancedb
from embassay.search.retrievers.stores.on_pgvector import in_pgvector

Holding: TypeAlias = Callable[[Collection], AbstractContextManager[tuple[Ask, Numbers]]]
TARGET = "KIND"
OPTIONS_HINT = PARTS_HINT
EXTRA = "stores"
PACKAGES = {"faiss": ("faiss",), "lancedb": ("lancedb",), "pgvector": ("psycopg", "pgvector")}
"""The packages of each kind of store."""
DEPTH = 10
"""How many documents are asked for: more would make an index search more thoroughly than in use."""
MORE = 4
"""How many times more passages are asked for where documents have several, and again where these were too few."""


def create(
    target: str,
    runtime: Runtime,
    *,
    encoder: str = "",
    index: Literal["hnsw", "ivf", "ivf_pq", "none"] = "hnsw",
    m: Count | None = None,
    ef_construction: Count | None = None,
    ef_search: Count | None = None,
    lists: Count | None = None,
    probes: Count | None = None,
    depth: Count = DEPTH,
    dsn_env: str = "",
) -> Store:
    """Make it; nothing is written yet.

    Parameters
    ----------
    encoder
        The label of the encoder of the run whose vectors are searched.
    index
        ``none`` compares each question with all passages, in the store.
    m, ef_construction, ef_search
        Of ``hnsw``: neighbours in the graph, candidates when it is built, and when it is searched. Those that
        are left out are the store's own.
    lists, probes
        Of ``ivf`` and ``ivf_pq``: how many lists there are, and how many are searched.
    depth
        How many documents are asked for.
    dsn_env
        Of pgvector: the environment variable with the connection string.

    Raises
    ------
    SpecError
        If options do not fit each other; an unknown kind is an UnknownNameError, a missing package MissingExtraError.
    """
    if target not in PACKAGES:
        raise UnknownNameError("store", target, PACKAGES)
    place = f"encoder 'store:{target}'"
    if not all(map(find_spec, PACKAGES[target])):
        raise MissingExtraError(place, EXTRA)
    if not encoder:
        raise SpecError(f"{place}: add encoder=LABEL, the encoder of the run whose vectors it is to search")
    needs_dsn = target == "pgvector"
    # The name of a variable; a connection string may have a password.
    if needs_dsn and not dsn_env.isidentifier():
        raise SpecError(f"{place}: set dsn_env= to the name of an environment variable with the connection string")
    if index == "ivf_pq" and target != "lancedb":
        raise SpecError(f"{place}, option 'index': only LanceDB has ivf_pq; take ivf")
    numbers = changed_options(
        create, m=m, ef_construction=ef_construction, ef_search=ef_search, lists=lists, probes=probes
    )
    known = (*NUMBERS[index], "depth", *(["dsn_env"] if needs_dsn else []))
    for name in (*numbers, *(["dsn_env"] if dsn_env else [])):
        if name not in known:
            raise SpecError(f"{place}, option {name!r}: with index={index} it has {names(known)}; remove it")

    options = {"index": index, **numbers, "depth": depth}
    holding: dict[str, Holding] = {
        "faiss": in_faiss,
        "lancedb": in_lancedb,
        "pgvector": partial(in_pgvector, dsn_env=dsn_env),
    }
    return Store(
        name=target,
        spec=spec_of(f"store:{target}", {"encoder": encoder, **options, "dsn_env": dsn_env}),
        fingerprint=content_hash(["store", target, options, dsn_env]),
        parts=(encoder,),
        # Searched exactly inside a store, the same documents are found.
        step="" if index == "none" else "index",
        depth=depth,
        needs_vectors=True,
        holding=holding[target],
        index=index,
        numbers=numbers,
    )


@dataclass(frozen=True, kw_only=True)
class Store(Retriever):
    """A store over the vectors of an encoder.

    Attributes
    ----------
    holding
        Holds the collection in the store as long as it is open.
    index, numbers
        See :class:`~embassay.search.retrievers.stores.index.Collection`.
    """

    holding: Holding
    index: str
    numbers: Mapping[str, int]

    def retrieve(self, questions: Questions) -> Iterator[Lists]:
        """Yield the list of each question; one whose vector is zero, which has no cosine, gets none.

        Raises
        ------
        EncoderError
            If the vectors are sparse, there are more lists than vectors, or the store fails.
        """
        label = self.parts[0]
        vectors = questions.vectors[label]
        if issparse(vectors.matrix):
            raise EncoderError(f"the vectors of {label!r} are sparse; name an encoder with dense vectors")
        passages: Rows = vectors.take(questions.passages, "document")
        queries: Rows = vectors.take(questions.texts, "query")
        is_dot = vectors.similarity == "dot"
        stored = np.flatnonzero(passages.any(axis=1) | is_dot)
        document_of_row = np.searchsorted(questions.first_passages, stored, side="right") - 1
        # Rows with the same vector have the same number.
        vector_of_row = np.unique([hash(row.tobytes()) for row in passages[stored]], return_inverse=True)[1]
        lists = self.numbers.get("lists", 0)
        if lists > len(stored):
            raise EncoderError(f"lists={lists} are more than its {counted(len(stored), 'vector')}; set fewer")
        count = self.depth * MORE if questions.corpus.is_cut else self.depth
        collection = Collection(passages[stored], vectors.similarity, self.index, self.numbers)
        with self.holding(collection) as (ask, numbers):
            facts = (f"depth={self.depth}", *(f"index/{name}={number}" for name, number in sorted(numbers.items())))
            for row in np.flatnonzero(queries.any(axis=1) | is_dot).tolist():
                began = time.perf_counter()
                places, scores = self._nearest(ask, queries[row], document_of_row, count)
                seconds = time.perf_counter() - began
                places, scores = with_ties(places, scores, vector_of_row, document_of_row)
                yield Lists(
                    np.array([row]),
                    document_of_row[places][None],
                    scores[None],
                    stored[places][None],
                    np.array([seconds]),
                    facts=facts,
                )

    def _nearest(self, ask: Ask, query: Rows, document_of_row: Indices, count: int) -> Nearest:
        """Return the place of the best row of each of the nearest documents, and its similarity.

        Parameters
        ----------
        count
            How many rows are asked for at first.
        """
        while True:
            places, scores = ask(query, min(count, len(document_of_row)))
            # The first row of a document is its best.
            best = np.sort(np.unique(document_of_row[places], return_index=True)[1])[: self.depth]
            if len(best) == self.depth or len(places) < count:
                return places[best], scores[best]
            count *= MORE


def with_ties(
    places: Indices, scores: NDArray[np.float64], vector_of_row: Indices, document_of_row: Indices
) -> Nearest:
    """Return a list with all documents that have the vector of its last one, which are tied with it.

    The list had room for some of them only, and which ones is chance.
    """
    same = np.flatnonzero(vector_of_row == vector_of_row[places[-1]])
    first_of_document = same[np.unique(document_of_row[same], return_index=True)[1]]
    more = first_of_document[~np.isin(document_of_row[first_of_document], document_of_row[places])]
    return np.concatenate([places, more]), np.concatenate([scores, np.repeat(scores[-1], len(more))])
