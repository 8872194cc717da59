"""A CrossEncoder of sentence-transformers; it is loaded for the first pair."""

from __future__ import annotations

from embassay.core.errors import EncoderError
from embassay.core.types import Runtime
from embassay.models.base import spec_of
from embassay.models.neural.library_model import LibraryModel
from embassay.models.rerank.pairs import PairScorer

EXTRA = "rerank"
REQUIRES = ("torch", "transformers", "sentence_transformers")


def of_model(
    target: str, runtime: Runtime, *, revision: str = "", max_length: int | None = None, device: str = ""
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
    found = LibraryModel.of("CrossEncoder", target, runtime, "-e rerank:", revision, device, max_length)

    def score(query: str, texts: list[str]) -> object:
        labels = found.model.num_labels
        if labels != 1:
            raise EncoderError(f"{target} has {labels} scores for a pair, and a reranker has one")
        return found.model.predict([(query, text) for text in texts], show_progress_bar=False)

    return PairScorer(
        name=target,
        spec=spec_of(f"rerank:{target}", {"revision": revision, "max_length": max_length}),
        fingerprint=found.fingerprint,
        score=score,
        release=found.release,
    )
