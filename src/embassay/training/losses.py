"""The losses of domain adaptation: those of sentence-transformers, and masked language modelling on its models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from embassay.models.neural.modules import modules
from embassay.training.base_model import Base
from embassay.training.options import FinetuneOptions, SentenceRecipe

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor
    from torch.nn import Module

COSINE_SCALE, PRODUCT_SCALE = 20.0, 1.0
"""Scale of the similarities before the softmax (1 / temperature): for values within ±1, and for unbounded values."""
MARGIN = 0.2
"""The margin of the ``triplet`` loss, a difference of cosines (Schroff et al. 2015)."""
UNMASKED = -100
"""The label of tokens that are not predicted, as in transformers and torch."""


def finetuning_loss(model: SentenceTransformer, recipe: FinetuneOptions, similarity: str) -> Module:
    """Return the loss of fine-tuning."""
    from sentence_transformers.sentence_transformer import losses

    if recipe.loss == "mnr":
        return ranking_loss(model, recipe, similarity)
    return losses.TripletLoss(model, distance_metric=losses.TripletDistanceMetric.COSINE, triplet_margin=MARGIN)


def ranking_loss(model: SentenceTransformer, recipe: SentenceRecipe, similarity: str) -> Module:
    """Return the loss that ranks the right candidate above all others (Henderson et al. 2017, section 4).

    Its batches have ``batch`` × ``accumulate`` rows, and each makes one step. Accumulated batches are compared as one
    large batch, part by part (Gao et al. 2021): the gradients equal those of the large batch, and the memory is that of
    a small one.
    """
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.modules import Normalize
    from sentence_transformers.util import cos_sim, dot_score

    options = {"scale": COSINE_SCALE, "similarity_fct": cos_sim}
    if similarity == "dot":
        options["similarity_fct"] = dot_score
        # Vectors of unit length have a dot product that is a cosine.
        if not isinstance(list(model)[-1], Normalize):
            options["scale"] = PRODUCT_SCALE
    if recipe.accumulate == 1:
        return losses.MultipleNegativesRankingLoss(model, **options)
    return losses.CachedMultipleNegativesRankingLoss(model, mini_batch_size=recipe.batch, **options)


def masked_loss(encoder: Base, model: SentenceTransformer) -> tuple[Module, tuple[str, ...]]:
    """Return the loss of masked language modelling (Devlin et al. 2019, section 3.1) as a torch module, and notes.

    The head is the one among the base's weights, or a new one. If the architecture ties them, its last layer shares the
    weights of the embeddings. The head reads the masked positions only, a seventh of all, because its product with the
    whole vocabulary costs about as much as all layers of a small model.
    """
    import torch
    from transformers import AutoModelForMaskedLM

    place = modules(encoder.found.folder)[0][1]
    whole, report = AutoModelForMaskedLM.from_pretrained(
        place, dtype=torch.float32, output_loading_info=True, local_files_only=True
    )
    body = whole.base_model_prefix
    # The model in training replaces the copy that was loaded with the head.
    setattr(whole, body, model.transformers_model)
    whole.tie_weights()
    whole.to(model.device)
    has_head = all(str(name).startswith(f"{body}.") for name in report["missing_keys"])
    note = "mlm: the base has no head for masked words; a new one is trained with it and then discarded"
    heads = [child for name, child in whole.named_children() if name != body]

    class MaskedLoss(torch.nn.Module):  # type: ignore[misc]
        """Cross-entropy of the masked words, given the others."""

        def __init__(self) -> None:
            super().__init__()
            self.model, self.whole = model, whole

        def forward(self, features: Iterable[Mapping[str, Tensor]], labels: object) -> Tensor:
            """Return the mean over the masked positions of a batch; 0 if nothing is masked."""
            inputs = dict(next(iter(features)))
            targets = inputs.pop("labels")
            masked = targets != UNMASKED
            if len(heads) == 1:
                # A head with one module accepts any rows. Heads with several modules need the whole model.
                scores = heads[0](self.model(inputs)["token_embeddings"][masked])
            else:
                scores = self.whole(**inputs).logits[masked]
            total = torch.nn.functional.cross_entropy(scores.float(), targets[masked], reduction="sum")
            return total / masked.sum().clamp(min=1)

    return MaskedLoss(), () if has_head else (note,)
