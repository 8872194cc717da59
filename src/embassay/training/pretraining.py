"""Pre-training on raw sentences of a domain, the first stage of Roychowdhury et al. (2024, section 2.4).

Three objectives: ``mlm`` predicts masked words (Devlin et al. 2019, section 3.1); ``tsdae`` reconstructs a sentence
from the vector of its remaining words (Wang et al. 2021); ``simcse`` recognises a sentence under another dropout (Gao
et al. 2021, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import InputError
from embassay.training.base_model import Base, find_base
from embassay.training.batches import Batch, BatchRow, draw
from embassay.training.fitness import check_objective
from embassay.training.losses import masked_loss, ranking_loss
from embassay.training.options import PretrainOptions
from embassay.training.stage import Advance, Stage, Trained
from embassay.training.trainer import Job, features, train_stage

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor

MASKED = 0.15
"""The share of tokens that are masked (Devlin et al. 2019, section 3.1)."""
DELETED = 0.6
"""The share of words that are deleted (Wang et al. 2021, section 3.1)."""


def pretrain(stage: Stage[PretrainOptions], base: str, sentences: Sequence[str], *, advance: Advance) -> Trained:
    """Pre-train a sentence-transformers model on sentences. An interrupted training resumes from its checkpoint.

    The same base, sentences, recipe and versions give the same weights on a CPU, interrupted or not. ``tsdae`` and
    ``simcse`` put the model's document prompt before each sentence.

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
    KeyboardInterrupt
        After the step in which Ctrl-C was pressed.
    """
    encoder = find_base(base)
    if len(sentences) < 2:
        raise InputError(f"pre-training needs sentences of the documents; there are {len(sentences)}")
    check_objective(encoder, stage.recipe.objective)

    def prepare(model: SentenceTransformer) -> Job:
        return _job(stage.recipe, encoder, model, sentences)

    return train_stage(stage, encoder, prepare, {"rows": len(sentences)}, advance=advance)


def _job(recipe: PretrainOptions, encoder: Base, model: SentenceTransformer, texts: Sequence[str]) -> Job:
    """Return the training of an objective: its loss, and how its batches are made of sentences."""
    import torch
    from sentence_transformers.sentence_transformer.losses import DenoisingAutoEncoderLoss
    from transformers import DataCollatorForLanguageModeling

    objective = recipe.objective
    # Masked words are predicted from the bare sentence; the other objectives train the vectors of documents.
    prompt = "" if objective == "mlm" else encoder.card.prompts.get("document", "")
    size, accumulate = recipe.batch, recipe.accumulate
    notes: tuple[str, ...] = ()
    if objective == "mlm":
        loss, notes = masked_loss(encoder, model)
        collator = DataCollatorForLanguageModeling(tokenizer=model.tokenizer, mlm_probability=MASKED)
    elif objective == "tsdae":
        loss = DenoisingAutoEncoderLoss(model, tie_encoder_decoder=True).float()
        notes = ("tsdae: the decoder shares the encoder's weights; its attention to the vector is new",)
    else:
        loss = ranking_loss(model, recipe, encoder.card.similarity)
        # Accumulated batches are compared as one.
        size, accumulate = size * accumulate, 1

    def collate(batch: Batch, random: np.random.Generator) -> dict[str, Tensor]:
        sentences = [texts[row] for row in batch]
        if objective == "mlm":
            encoded = model.tokenizer(
                sentences, truncation=True, max_length=model.max_seq_length, return_special_tokens_mask=True
            )
            # The collator expects a dictionary for each row instead of a list for each feature.
            rows = [{name: values[row] for name, values in encoded.items()} for row in range(len(batch))]
            collator.generator = torch.Generator().manual_seed(int(random.integers(2**63)))
            return {f"text_{name}": tensor for name, tensor in collator(rows).items()}
        if objective == "tsdae":
            noisy = [with_words_deleted(sentence, random) for sentence in sentences]
            return features(model, {"left": (noisy, prompt), "whole": (sentences, "")})
        # Both columns have the same texts: only dropout makes their vectors different (Gao et al. 2021, SimCSE).
        return features(model, {"first": (sentences, prompt), "second": (sentences, prompt)})

    batches = draw([BatchRow(len(text)) for text in texts], size, recipe.epochs, recipe.seed)
    return Job(model, loss, collate, batches, recipe, accumulate, notes=notes)


def with_words_deleted(text: str, random: np.random.Generator) -> str:
    """Delete each word of a sentence with probability :data:`DELETED`; keep at least one."""
    words = text.split()
    numbers = random.random(len(words))
    remaining = [word for word, number in zip(words, numbers, strict=True) if number >= DELETED]
    # Nothing can be reconstructed from an empty text.
    if not remaining:
        chosen = int(random.integers(len(words)))
        remaining = [words[chosen]]
    return " ".join(remaining)
