"""The loss that ranks the right candidate above all others in the batch (Henderson et al. 2017, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from embassay.training import precision
from embassay.training.settings import Settings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor
    from torch.nn import Module

Compare: TypeAlias = "Callable[[Tensor, Tensor], Tensor]"
"""Returns the (n, m) similarities of (n, d) and (m, d) vectors."""
COSINE_SCALE, PRODUCT_SCALE = 20.0, 1.0
"""Scale of the similarities before the softmax (1 / temperature): for values within ±1, and for unbounded values."""


def ranking_loss(model: SentenceTransformer, settings: Settings, similarity: str) -> Module:
    """Return the loss as a torch module. Its batches have ``batch`` × ``accumulate`` rows, and each makes one step.

    Accumulated batches are compared as one large batch, part by part (Gao et al. 2021). The gradients equal those of
    the large batch; the memory is that of a small one.
    """
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )
    from sentence_transformers.sentence_transformer.modules import Normalize
    from sentence_transformers.util import cos_sim, dot_score

    # Vectors of unit length have a dot product that is a cosine.
    within_one = similarity != "dot" or isinstance(list(model)[-1], Normalize)
    scale = PRODUCT_SCALE
    if within_one:
        scale = COSINE_SCALE
    similarity_fct = _in_float32(dot_score if similarity == "dot" else cos_sim)
    if settings.accumulate == 1:
        return MultipleNegativesRankingLoss(model, scale=scale, similarity_fct=similarity_fct)

    class Accumulated(CachedMultipleNegativesRankingLoss):  # type: ignore[misc]
        """The loss of a large batch. Its second forward pass runs inside the backward pass, not in the trainer."""

        def embed_minibatch(self, *args: object, **kwargs: object) -> tuple[Tensor, object]:
            """Return the vectors of a part, in the precision of the first pass."""
            with precision.of_training(self.model.device.type):
                vectors_and_state: tuple[Tensor, object] = super().embed_minibatch(*args, **kwargs)
            return vectors_and_state

    return Accumulated(model, scale=scale, similarity_fct=similarity_fct, mini_batch_size=settings.batch)


def _in_float32(similarity: Compare) -> Compare:
    """Return the similarity, computed in float32 whatever the vectors are."""

    def compare(a: Tensor, b: Tensor) -> Tensor:
        with precision.full(a.device.type):
            return similarity(a.float(), b.float())

    return compare
