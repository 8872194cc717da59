"""The loss of masked language modelling on a sentence-transformers model (Devlin et al. 2019, section 3.1).

The head that tells the words reads the masked places only, which are a seventh: its product with the whole vocabulary
costs about as much as a small model's layers together.
"""

from __future__ import annotations

from typing import Any

from embassay.encoders.neural.locations import modules
from embassay.encoders.neural.st import SentenceTransformersEncoder

UNMASKED = -100


def masked_loss(encoder: SentenceTransformersEncoder, model: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the loss of a model as a torch module, and notes.

    The head is the one that lies beside the base's weights, else a new one; its last layer is the embeddings, where the
    architecture ties them.
    """
    import torch
    from transformers import AutoModelForMaskedLM

    own = model.transformers_model
    place = modules(encoder.found.folder)[0][1]
    whole, report = AutoModelForMaskedLM.from_pretrained(
        place, dtype=torch.float32, output_loading_info=True, local_files_only=True
    )
    setattr(whole, whole.base_model_prefix, own)
    whole.tie_weights()
    whole.to(model.device)
    missing = {str(name) for name in report["missing_keys"]}
    new = any(not name.startswith(f"{whole.base_model_prefix}.") for name in missing)
    notes = ("mlm: the base has no head that tells masked words; a new one is trained with it and left out again",)
    return type("MaskedLoss", (_MaskedLoss, torch.nn.Module), {})(model, whole), notes * new


class _MaskedLoss:
    """Cross-entropy of the masked words, given the others."""

    def __init__(self, model: Any, whole: Any):
        super().__init__()
        self.encoder, self.whole = model, whole
        heads = [child for name, child in whole.named_children() if name != whole.base_model_prefix]
        # Architectures whose head is one module take any rows; the others go the long way.
        self._head = (heads[0],) if len(heads) == 1 else ()

    def forward(self, features: Any, labels: Any) -> Any:
        """Return the mean over the masked places of a batch; 0 where none is masked."""
        import torch

        inputs = dict(next(iter(features)))
        targets = inputs.pop("labels")
        masked = targets != UNMASKED
        if self._head:
            hidden = self.encoder.transformers_model(**inputs).last_hidden_state
            scores = self._head[0](hidden[masked])
        else:
            scores = self.whole(**inputs).logits[masked]
        total = torch.nn.functional.cross_entropy(scores.float(), targets[masked], reduction="sum")
        return total / masked.sum().clamp(min=1)
