"""A CrossEncoder of sentence-transformers; it is loaded for the first pair."""

from __future__ import annotations

from functools import partial
from typing import cast

from embassay.core.errors import EncoderError
from embassay.core.types import Runtime
from embassay.models.base import changed_options
from embassay.models.limits import Count
from embassay.models.neural.library import LibraryRunner
from embassay.models.neural.model import configured_model
from embassay.models.rerank.pairs import PairScorer, one_by_one

EXTRA = "rerank"
REQUIRES = ("torch", "transformers", "sentence_transformers")


def of_model(
    target: str, runtime: Runtime, *, revision: str = "", max_length: Count | None = None, device: str = ""
) -> PairScorer:
    """Find the model's files; nothing is loaded yet.

    Parameters
    ----------
    revision
        A branch, tag or commit of the hub's repository.
    max_length
        Truncate question and text together after this many tokens; by default the model's own limit.
    device
        Where to run; the run's device by default.

    Raises
    ------
    ModelNotFoundError
        If the model is not available.
    SpecError
        If it needs code of its own that is not trusted.
    """
    options = changed_options(of_model, **locals())
    model = configured_model("CrossEncoder", "rerank", target, runtime, options)

    def score(query: str, texts: list[str]) -> object:
        library = cast("LibraryRunner", model.model).model
        if library.num_labels != 1:
            raise EncoderError(f"{target} has {library.num_labels} scores for a pair, but a reranker has one")
        return library.predict([(query, text) for text in texts], show_progress_bar=False)

    return PairScorer(
        name=target,
        spec=model.card.spec,
        fingerprint=model.fingerprint,
        each=partial(one_by_one, score),
        release=model.release,
    )
