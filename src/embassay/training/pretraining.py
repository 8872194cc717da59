"""Pre-training on raw sentences of a domain, the first stage of Roychowdhury et al. (2024, section 2.4).

Three objectives: ``mlm`` predicts masked words (Devlin et al. 2019, section 3.1); ``tsdae`` reconstructs a sentence
from the vector of its remaining words (Wang et al. 2021); ``simcse`` recognises a sentence under another dropout (Gao
et al. 2021, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.encoders.neural.st import SentenceTransformersEncoder
from embassay.errors import InputError, UnknownNameError
from embassay.randomness import generator
from embassay.training.base_model import find_base, lengths, truncation
from embassay.training.batches import Batch, Row, draw
from embassay.training.contrast import ranking_loss
from embassay.training.fitness import check_objective
from embassay.training.job import Job
from embassay.training.masking import masked_loss
from embassay.training.settings import OBJECTIVES, PRETRAIN, Objective, Settings
from embassay.training.shared import Advance, Trained
from embassay.training.stage import Column, Recipe, features, train_stage
from embassay.training.streams import seed_of
from embassay.types import content_hash

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor

MASKED = 0.15
"""The share of tokens that are masked (Devlin et al. 2019, section 3.1)."""
DELETED = 0.6
"""The share of words that are deleted (Wang et al. 2021, section 3.1)."""


def pretrain(
    base: str,
    sentences: Sequence[str],
    folder: Path,
    *,
    objective: Objective = "mlm",
    settings: Settings = PRETRAIN,
    overwrite: bool = False,
    advance: Advance,
) -> Trained:
    """Pre-train a sentence-transformers model on sentences. An interrupted training resumes from its checkpoint.

    The same base, sentences, settings and versions give the same weights on a CPU, interrupted or not.

    Parameters
    ----------
    base
        A model's name or ``./folder``.
    sentences
        Raw sentences. Blank ones are left out and repeated ones are used once.
    folder
        The model's folder, which ``-e ./folder`` loads, with the base's pooling, prompts and limit.
    objective
        ``mlm``, ``tsdae`` or ``simcse``. The last two put the model's document prompt before each sentence.
    overwrite
        Replace a training with other settings, base or sentences.
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
    if objective not in OBJECTIVES:
        raise UnknownNameError("objective", objective, OBJECTIVES)
    encoder = find_base(base)
    texts = tuple(dict.fromkeys(sentence for sentence in sentences if sentence.strip()))
    if not texts:
        raise InputError("pre-training needs sentences, but there are none")
    if objective == "simcse" and len(texts) < 2:
        raise InputError("simcse needs at least two different sentences")
    check_objective(encoder, objective)
    recipe = Recipe("pretraining", settings, {"objective": objective}, content_hash(list(texts)), len(texts))
    make = {"mlm": _masking_job, "tsdae": _denoising_job, "simcse": _contrast_job}[objective]

    def prepare(model: SentenceTransformer) -> Job:
        return make(encoder, model, texts, settings)

    return train_stage(recipe, encoder, folder, prepare, overwrite=overwrite, advance=advance)


def _masking_job(
    encoder: SentenceTransformersEncoder, model: SentenceTransformer, texts: Sequence[str], settings: Settings
) -> Job:
    """Mask words and predict them."""
    import torch
    from transformers import DataCollatorForLanguageModeling

    loss, notes = masked_loss(encoder, model)
    tokens = lengths(model, texts)
    max_tokens = truncation(model, tokens)
    collator = DataCollatorForLanguageModeling(tokenizer=model.tokenizer, mlm_probability=MASKED)

    def collate(batch: Batch) -> dict[str, Tensor]:
        sentences = [texts[row] for _, row in batch]
        encoded = model.tokenizer(sentences, truncation=True, max_length=max_tokens, return_special_tokens_mask=True)
        # The collator expects a dictionary for each row instead of a list for each feature.
        rows = [{name: values[row] for name, values in encoded.items()} for row in range(len(batch))]
        # The first (epoch, row) of a batch identifies it, so a resumed training draws the same masks.
        seed = seed_of(settings.seed, "masks", *map(str, batch[0]))
        collator.generator = torch.Generator().manual_seed(seed)
        masked = collator(rows)
        return {f"text_{name}": tensor for name, tensor in masked.items()}

    batches = _batches(tokens, max_tokens, settings.batch, settings)
    return Job(model, loss, collate, batches, settings, max_tokens, settings.accumulate, notes=notes)


def _denoising_job(
    encoder: SentenceTransformersEncoder, model: SentenceTransformer, texts: Sequence[str], settings: Settings
) -> Job:
    """Delete words and reconstruct the sentence from the vector of the remaining words."""
    from sentence_transformers.sentence_transformer.losses import DenoisingAutoEncoderLoss

    loss = DenoisingAutoEncoderLoss(model, tie_encoder_decoder=True).float()
    prompt = encoder.card.prompts.get("document", "")
    tokens = lengths(model, texts, prompt)
    max_tokens = truncation(model, tokens)

    def collate(batch: Batch) -> dict[str, Tensor]:
        noisy = [with_words_deleted(texts[row], settings.seed, epoch, row) for epoch, row in batch]
        whole = [texts[row] for _, row in batch]
        return features(model, {"left": Column(noisy, prompt), "whole": Column(whole)}, max_tokens)

    note = "tsdae: the decoder shares the encoder's weights; its attention to the vector is new"
    batches = _batches(tokens, max_tokens, settings.batch, settings)
    return Job(model, loss, collate, batches, settings, max_tokens, settings.accumulate, notes=(note,))


def _contrast_job(
    encoder: SentenceTransformersEncoder, model: SentenceTransformer, texts: Sequence[str], settings: Settings
) -> Job:
    """Recognise a sentence among others under another dropout."""
    loss = ranking_loss(model, settings, encoder.card.similarity)
    prompt = encoder.card.prompts.get("document", "")
    tokens = lengths(model, texts, prompt)
    max_tokens = truncation(model, tokens)

    def collate(batch: Batch) -> dict[str, Tensor]:
        # Both columns have the same texts: only dropout makes their vectors different (Gao et al. 2021, SimCSE).
        column = Column([texts[row] for _, row in batch], prompt)
        return features(model, {"first": column, "second": column}, max_tokens)

    batches = _batches(tokens, max_tokens, settings.batch * settings.accumulate, settings)
    return Job(model, loss, collate, batches, settings, max_tokens)


def _batches(tokens: Sequence[int], max_tokens: int, size: int, settings: Settings) -> list[Batch]:
    """Return batches of rows that can all be combined."""
    rows = [Row(min(length, max_tokens)) for length in tokens]
    return draw(rows, size, settings.epochs, settings.seed)


def with_words_deleted(text: str, seed: int, epoch: int, row: int) -> str:
    """Delete each word of a sentence with probability :data:`DELETED`; keep at least one."""
    words = text.split()
    rng = generator(seed, "deletions", str(epoch), str(row))
    numbers = rng.random(len(words))
    remaining = [word for word, number in zip(words, numbers, strict=True) if number >= DELETED]
    # Nothing can be reconstructed from an empty text.
    if not remaining:
        chosen = int(rng.integers(len(words)))
        remaining = [words[chosen]]
    return " ".join(remaining)
