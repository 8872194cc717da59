"""The loss that tells the right candidate from all others of a batch (Henderson et al. 2017, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from embassay.training import precision
from embassay.training.settings import Settings

OF_COSINES, OF_PRODUCTS = 20.0, 1.0
"""What similarities are multiplied by before the softmax, 1 / temperature: those within ±1, and those of any size."""


def telling_apart(model: Any, settings: Settings, similarity: str) -> tuple[Any, int, int]:
    """Return the loss as a torch module, the rows of a batch, and how many batches make a step.

    Where batches are accumulated they are compared as one batch, part by part (Gao et al. 2021): the same gradients as
    of one large batch, with the memory of a small one.
    """
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )
    from sentence_transformers.util import cos_sim, dot_score

    within_one = similarity != "dot" or _ends_at_unit_length(model)
    how = {
        "scale": OF_COSINES if within_one else OF_PRODUCTS,
        "similarity_fct": _in_float32(dot_score if similarity == "dot" else cos_sim),
    }
    if settings.accumulate == 1:
        return MultipleNegativesRankingLoss(model, **how), settings.batch, 1
    cached = type("Accumulated", (_Accumulated, CachedMultipleNegativesRankingLoss), {})
    return cached(model, mini_batch_size=settings.batch, **how), settings.batch * settings.accumulate, 1


class _Accumulated:
    """Goes through the model a second time as the first: that is in the backward pass, out of the trainer's sight."""

    model: Any

    def embed_minibatch(self, *args: Any, **kwargs: Any) -> Any:
        """Return the vectors of a part."""
        with precision.of_training(self.model.device.type):
            return super().embed_minibatch(*args, **kwargs)  # type: ignore[misc]


def _ends_at_unit_length(model: Any) -> bool:
    """Say whether the model's last module scales vectors to unit length, so that a dot product is a cosine."""
    from sentence_transformers.sentence_transformer.modules import Normalize

    return isinstance(list(model)[-1], Normalize)


def _in_float32(similarity: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a similarity of (n, d) and (m, d) vectors that is computed in float32, whatever they were computed in."""

    def of(a: Any, b: Any) -> Any:
        with precision.full(a.device.type):
            return similarity(a.float(), b.float())

    return of
