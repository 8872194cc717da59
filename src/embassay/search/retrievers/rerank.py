"""The first documents of a candidate, ordered by a model that reads question and text together: ``rerank:MODEL``.

``rerank:MODEL`` is a CrossEncoder of sentence-transformers, ``rerank:api:MODEL`` a service, and
``rerank:python:module:callable`` a function of your own. Of a document, the passage by which it was found is read.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from embassay.core.errors import MissingExtraError, SpecError, UnknownNameError
from embassay.core.plugins import RETRIEVERS
from embassay.core.samples.base import Text
from embassay.core.types import Runtime, content_hash
from embassay.core.vectors import Indices
from embassay.models.base import Route, changed_options, spec_of
from embassay.models.limits import Amount, AmountOrZero, Count
from embassay.models.rerank import cross_encoder, function, service
from embassay.models.rerank.pairs import PairScorer, pair
from embassay.models.services.spending import guess
from embassay.search.retrievers.base import PARTS_HINT, Lists, Questions, Retriever

TARGET = "MODEL, api:MODEL or python:module:callable"
OPTIONS_HINT = PARTS_HINT
DEPTH = 50
"""How many documents are reranked by default, or all if there are fewer."""
PAIRS = 400
"""Approximate number of pairs that are scored before lists are given and kept."""
KINDS: dict[str, tuple[Any, Any]] = {
    "": (cross_encoder, cross_encoder.of_model),
    "api": (service, service.of_service),
    "python": (function, function.of_function),
}
"""By the text before the first colon, the module of a kind of reranker and its function."""


def create(
    target: str,
    runtime: Runtime,
    *,
    over: str = "",
    depth: Count = DEPTH,
    version: str | None = None,
    revision: str | None = None,
    max_length: Count | None = None,
    device: str | None = None,
    base_url: str | None = None,
    key_env: str | None = None,
    price: AmountOrZero | None = None,
    budget: Amount | None = None,
    timeout: Amount | None = None,
    concurrency: Count | None = None,
) -> Reranker:
    """Make the reranker; nothing is loaded or sent yet.

    Parameters
    ----------
    over
        The label of the candidate whose first documents are reranked.
    depth
        How many of them, or all if there are fewer.

    The others are those of the kind of reranker: of a model ``revision``, ``max_length`` and ``device``
    (:func:`~embassay.models.rerank.cross_encoder.of_model`), of a function ``version``, and of a service the rest
    (:func:`~embassay.models.rerank.service.of_service`).

    Raises
    ------
    InputError
        If ``over`` is missing, an option is not of this kind, or the kind refuses it.
    """
    place = f"encoder 'rerank:{target}'"
    if not over:
        raise SpecError(f"{place}: set over=, the label of the candidate whose first documents are reranked")
    kind, colon, rest = target.partition(":")
    if not colon or kind not in KINDS:
        kind, rest = "", target
    module, make = KINDS[kind]
    options = changed_options(
        create,
        version=version,
        revision=revision,
        max_length=max_length,
        device=device,
        base_url=base_url,
        key_env=key_env,
        price=price,
        budget=budget,
        timeout=timeout,
        concurrency=concurrency,
    )
    known = {*inspect.signature(make).parameters, "over", "depth"} - {"target", "runtime"}
    for name in options:
        if name not in known:
            raise UnknownNameError(f"option of {place}:", name, known)
    if RETRIEVERS.is_missing(module):
        raise MissingExtraError(place, module.EXTRA)
    scorer = make(rest, runtime, **options)
    return Reranker(
        name=scorer.name,
        spec=spec_of(scorer.spec, {"over": over, **changed_options(create, depth=depth)}),
        fingerprint=content_hash(["rerank", scorer.fingerprint, depth]),
        parts=(over,),
        step="reranker",
        depth=depth,
        continues=over,
        warnings=() if scorer.cached else ("its scores are kept for this run only; with version= other runs use them",),
        spending=scorer.spending,
        scorer=scorer,
        remembered=runtime.remembered,
    )


@dataclass(frozen=True, kw_only=True)
class Reranker(Retriever):
    """Gives the first documents of a part in the order of their scores; equal scores are ties.

    Attributes
    ----------
    remembered
        Keeps the time of a pair for lists whose scores are all in the cache.
    """

    scorer: PairScorer
    remembered: MutableMapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def retrieve(self, questions: Questions) -> Iterator[Lists]:
        """Yield the lists of some questions at a time.

        Raises
        ------
        EncoderError
            If there is not one finite score for each text.
        """
        number, size = len(questions.samples), max(1, PAIRS // self.depth)
        for start in range(0, number, size):
            yield self._reranked(questions, np.arange(start, min(start + size, number)))

    def tokens(self, questions: Questions) -> int:
        """Return the estimated number of tokens of all pairs, with passages of mean length."""
        of_passage = np.mean([guess(passage) for passage in questions.passages])
        of_questions = sum(map(guess, questions.texts))
        pairs = min(self.depth, len(questions.corpus.documents))
        return round(pairs * (of_questions + len(questions.samples) * float(of_passage)))

    def route(self) -> Route:
        """Return what scoring took, for ``run.json``."""
        return self.scorer.route()

    def release(self) -> None:
        """Release the model, or close connections."""
        self.scorer.release()

    def _reranked(self, questions: Questions, rows: Indices) -> Lists:
        """Return the lists of some questions."""
        part = questions.parts[self.continues]
        # The engine has given it.
        assert questions.encode is not None  # noqa: S101
        documents, passages = part.documents[rows], np.asarray(part.passages)[rows]
        is_listed = documents >= 0
        texts: list[Text] = []
        for row, column in np.argwhere(is_listed):
            text = questions.passages[passages[row, column]]
            texts.append(("text", pair(questions.samples[rows[row]].question, text)))
        vectors = questions.encode(self.scorer, list(dict.fromkeys(texts)))
        scores = np.full(documents.shape, np.nan)
        scores[is_listed] = [vectors.matrix[vectors.row[text], 0] for text in texts]
        # Stable: equal scores keep the order of the part.
        order = np.argsort(-scores, axis=1, kind="stable")
        documents, scores, passages = (
            np.take_along_axis(array, order, axis=1) for array in (documents, scores, passages)
        )
        return Lists(rows, documents, scores, passages, self._seconds_of_pair() * is_listed.sum(axis=1))

    def _seconds_of_pair(self) -> float:
        """Return how long a pair takes, also where all scores were in the cache; NaN where no run has measured it.

        It is measured once for all depths: a second measurement could make 20 pairs faster than 10.
        """
        key = content_hash(["seconds of a pair", self.scorer.fingerprint])
        if self.scorer.rates and key not in self.remembered:
            self.remembered[key] = str(np.median(self.scorer.rates))
        return float(self.remembered.get(key, "nan"))
