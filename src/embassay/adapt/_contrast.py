"""The loss that tells the right candidate from all others of a batch (Henderson et al. 2017, section 4)."""

from __future__ import annotations

from typing import Any

from embassay.adapt.settings import Settings

SCALE = {"cosine": 20.0, "dot": 1.0}
"""What similarities are multiplied by before the softmax: 1 / temperature."""


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

    how = {"scale": SCALE[similarity], "similarity_fct": dot_score if similarity == "dot" else cos_sim}
    if settings.accumulate == 1:
        return MultipleNegativesRankingLoss(model, **how), settings.batch, 1
    cached = CachedMultipleNegativesRankingLoss(model, mini_batch_size=settings.batch, **how)
    return cached, settings.batch * settings.accumulate, 1
