"""The loss of masked language modelling on a sentence-transformers model (Devlin et al. 2019, section 3.1).

The head that predicts the words reads the masked positions only, a seventh of all positions, because its product with
the whole vocabulary costs about as much as all layers of a small model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from embassay.encoders.neural.locations import modules
from embassay.encoders.neural.st import SentenceTransformersEncoder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor
    from torch.nn import Module

UNMASKED = -100
"""The label of tokens that are not predicted, as in transformers and torch."""


def masked_loss(encoder: SentenceTransformersEncoder, model: SentenceTransformer) -> tuple[Module, tuple[str, ...]]:
    """Return the loss of a model as a torch module, and notes.

    The head is the one among the base's weights, or a new one. If the architecture ties them, its last layer shares the
    weights of the embeddings.
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
            self.encoder, self.whole = model, whole

        def forward(self, features: Iterable[Mapping[str, Tensor]], labels: object) -> Tensor:
            """Return the mean over the masked positions of a batch; 0 if nothing is masked."""
            inputs = dict(next(iter(features)))
            targets = inputs.pop("labels")
            masked = targets != UNMASKED
            if len(heads) == 1:
                # A head with one module accepts any rows. Heads with several modules need the whole model.
                hidden = self.encoder.transformers_model(**inputs).last_hidden_state
                scores = heads[0](hidden[masked])
            else:
                scores = self.whole(**inputs).logits[masked]
            total = torch.nn.functional.cross_entropy(scores.float(), targets[masked], reduction="sum")
            return total / masked.sum().clamp(min=1)

    return MaskedLoss(), () if has_head else (note,)
