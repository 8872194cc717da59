"""Pre-training on raw sentences of a domain, the first stage of Roychowdhury et al. (2024, section 2.4).

Masked words are predicted from the others (Devlin et al. 2019, section 3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import InputError, SpecError
from embassay.models.neural.library import quiet
from embassay.models.neural.modules import transformer_of
from embassay.training.base_model import Base, find_base
from embassay.training.batches import Batch, BatchRow, draw
from embassay.training.options import SentenceRecipe
from embassay.training.stage import Advance, Stage, Trained
from embassay.training.trainer import Job, train_stage

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor
    from torch.nn import Module

MASKED = 0.15
"""The share of tokens that are masked (Devlin et al. 2019, section 3.1)."""
UNMASKED = -100
"""The label of tokens that are not predicted, as in transformers and torch."""


def check_masks(base: Base) -> None:
    """Refuse a base that is no masked language model, from its configuration and tokenizer; no weights are loaded.

    Raises
    ------
    SpecError
        If its architecture has no head for masked words, or its tokenizer no mask.
    """
    from transformers import AutoConfig, AutoTokenizer
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING

    place = transformer_of(base.found.folder)
    with quiet():
        config = AutoConfig.from_pretrained(place, local_files_only=True)
        mask = None
        if type(config) in MODEL_FOR_MASKED_LM_MAPPING:
            mask = AutoTokenizer.from_pretrained(place, local_files_only=True).mask_token
    if mask is None:
        raise SpecError(
            f"base {base.name!r} cannot be pre-trained: {config.model_type!r} has no head for masked words, or its "
            "tokenizer has no mask; use --finetune alone"
        )


def pretrain(stage: Stage[SentenceRecipe], base: str, sentences: Sequence[str], *, advance: Advance) -> Trained:
    """Pre-train a sentence-transformers model on sentences. An interrupted training resumes from its checkpoint.

    The same base, sentences, recipe and versions give the same weights on a CPU, interrupted or not.

    Parameters
    ----------
    stage
        The recipe and the model's folder, which ``-e ./folder`` loads, with the base's pooling, prompts and limit.
    base
        A model's name or ``./folder``.
    sentences
        Distinct raw sentences.
    advance
        Called with the number of sentences read so far.

    Raises
    ------
    InputError
        For a base, sentences or a folder that cannot be used, before any training.
    EncoderError
        If the base cannot be loaded, or the loss became NaN or infinite.
    """
    encoder = find_base(base)
    if not sentences:
        raise InputError("pre-training needs sentences of the documents, but there are none")
    check_masks(encoder)
    facts = {"rows": len(sentences)}
    return train_stage(
        stage, encoder, lambda model: _job(stage.recipe, encoder, model, sentences), facts, advance=advance
    )


def _job(recipe: SentenceRecipe, encoder: Base, model: SentenceTransformer, texts: Sequence[str]) -> Job:
    """Return the training: its loss, and how its batches are made of sentences."""
    import torch
    from transformers import DataCollatorForLanguageModeling

    loss = masked_loss(encoder, model)
    collator = DataCollatorForLanguageModeling(tokenizer=model.tokenizer, mlm_probability=MASKED)

    def collate(batch: Batch, random: np.random.Generator) -> dict[str, Tensor]:
        encoded = model.tokenizer(
            [texts[row] for row in batch],
            truncation=True,
            max_length=model.max_seq_length,
            return_special_tokens_mask=True,
        )
        # The collator expects a dictionary for each row instead of a list for each feature.
        rows = [{name: values[row] for name, values in encoded.items()} for row in range(len(batch))]
        collator.generator = torch.Generator().manual_seed(int(random.integers(2**63)))
        return {f"text_{name}": tensor for name, tensor in collator(rows).items()}

    batches = draw([BatchRow(len(text)) for text in texts], recipe.batch, recipe.epochs, recipe.seed)
    return Job(model, loss, collate, batches, recipe)


def masked_loss(encoder: Base, model: SentenceTransformer) -> Module:
    """Return the loss of masked language modelling (Devlin et al. 2019, section 3.1) as a torch module.

    The head is the one among the base's weights, or a new one; it is discarded afterwards. If the architecture ties
    them, its last layer shares the weights of the embeddings. The head reads the masked positions only, a seventh of
    all, because its product with the whole vocabulary costs about as much as all layers of a small model.
    """
    import torch
    from transformers import AutoModelForMaskedLM

    place = transformer_of(encoder.found.folder)
    whole = AutoModelForMaskedLM.from_pretrained(place, dtype=torch.float32, local_files_only=True)
    body = whole.base_model_prefix
    # The model in training replaces the copy that was loaded with the head.
    setattr(whole, body, model.transformers_model)
    whole.tie_weights()
    whole.to(model.device)
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

    return MaskedLoss()
