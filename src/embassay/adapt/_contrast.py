"""The loss that tells the right candidate from all others of a batch (Henderson et al. 2017, section 4)."""

from __future__ import annotations

from typing import Any

from embassay.adapt.settings import Settings

SCALE = {"cosine": 20.0, "dot": 1.0}
"""What similarities are multiplied by before the softmax: 1 / temperature."""
PLAIN = {"input_ids", "attention_mask", "token_type_ids"}
"""Features of which each row can be cut where its tokens end."""


def telling_apart(model: Any, settings: Settings, similarity: str) -> tuple[Any, int, int]:
    """Return the loss as a torch module, the rows of a batch, and how many batches make a step.

    Where batches are accumulated they are compared as one batch, part by part (Gao et al. 2021): the same gradients as
    of one large batch, with the memory of a small one.
    """
    import torch
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )
    from sentence_transformers.util import cos_sim, dot_score

    how = {"scale": SCALE[similarity], "similarity_fct": dot_score if similarity == "dot" else cos_sim}
    if settings.accumulate == 1:
        loss = MultipleNegativesRankingLoss(model, **how)
        return type("ByLength", (_ByLength, torch.nn.Module), {})(loss), settings.batch, 1
    cached = CachedMultipleNegativesRankingLoss(model, mini_batch_size=settings.batch, **how)
    return cached, settings.batch * settings.accumulate, 1


class _ByLength:
    """The same loss, with the batch's texts encoded by length, so that little is padded: on a CPU twice as fast."""

    def __init__(self, loss: Any):
        super().__init__()
        self.loss = loss

    def forward(self, features: Any, labels: Any) -> Any:
        """Return the loss of columns of texts: questions, right documents, wrong ones …."""
        import torch

        given = [dict(column) for column in features]
        model = self.loss.model
        if any(set(column) - PLAIN for column in given) or model.tokenizer.padding_side != "right":
            return self.loss(given, labels)
        longest = max(column["input_ids"].shape[1] for column in given)
        whole = {
            name: torch.cat([torch.nn.functional.pad(c[name], (0, longest - c[name].shape[1])) for c in given])
            for name in given[0]
        }
        length = whole["attention_mask"].sum(1)
        order = length.argsort(stable=True)
        rows = []
        for part in order.split(len(given[0]["input_ids"])):
            cut = int(length[part].max())
            rows.append(model({name: value[part, :cut] for name, value in whole.items()})["sentence_embedding"])
        embeddings = torch.cat(rows)[order.argsort()]
        return self.loss.compute_loss_from_embeddings(list(embeddings.chunk(len(given))), labels)
