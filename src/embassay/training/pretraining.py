"""Pre-training on raw sentences of a domain, the first stage of Roychowdhury et al. (2024, section 2.4).

Three objectives: ``mlm``, words put back where they were masked (Devlin et al. 2019, section 3.1); ``tsdae``, a
sentence put back from the vector of what was left of it (Wang et al. 2021); ``simcse``, a sentence known again under
other dropout (Gao et al. 2021, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from embassay.encoders.neural.st import SentenceTransformersEncoder
from embassay.errors import InputError, UnknownNameError
from embassay.randomness import generator
from embassay.training.base_model import find_base, lengths, longest
from embassay.training.batches import Batch, Row, draw
from embassay.training.contrast import telling_apart
from embassay.training.fitness import check_objective
from embassay.training.job import Job
from embassay.training.masking import masked_loss
from embassay.training.settings import OBJECTIVES, PRETRAIN, Objective, Settings
from embassay.training.shared import Advance, Trained
from embassay.training.stage import Recipe, columns, conduct
from embassay.training.streams import seed_of
from embassay.types import content_hash

MASKED = 0.15
"""Share of the tokens that is masked (Devlin et al. 2019, section 3.1)."""
DELETED = 0.6
"""Share of the words that is deleted (Wang et al. 2021, section 3.1)."""
Prepared = tuple[Job, Sequence[str], int]


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
    """Pre-train a sentence-transformers model on sentences; a training that was stopped goes on from its checkpoint.

    The same base, sentences, settings and versions give the same weights on a CPU, stopped or not.

    Parameters
    ----------
    base
        A model's name or ``./folder``.
    sentences
        Raw sentences; blank ones are left out and equal ones learnt from once.
    folder
        Where the model is written: a folder that ``-e ./folder`` loads, with the base's pooling, prompts and limit.
    objective
        ``mlm``, ``tsdae`` or ``simcse``. A model's document prompt stands before a sentence of the last two.
    overwrite
        Replace a training of other settings, base or sentences.
    advance
        Is told how many sentences of how many have been read.

    Raises
    ------
    InputError
        For a base, sentences or a folder that cannot be used, before any training.
    EncoderError
        If the base cannot be loaded, or the loss becomes no number.
    KeyboardInterrupt
        After the step in which Ctrl-C was pressed.
    """
    if objective not in OBJECTIVES:
        raise UnknownNameError("objective", objective, OBJECTIVES)
    encoder = find_base(base)
    texts = tuple(dict.fromkeys(sentence for sentence in sentences if sentence.strip()))
    if not texts:
        raise InputError("pre-training needs sentences, and there are none")
    if objective == "simcse" and len(texts) < 2:
        raise InputError("simcse tells sentences apart and needs two different ones at least")
    check_objective(encoder, objective)
    recipe = Recipe("pretraining", objective, settings, {}, content_hash(list(texts)), len(texts))
    prepare = {"mlm": _mlm, "tsdae": _tsdae, "simcse": _simcse}[objective]
    return conduct(
        recipe, encoder, folder, partial(prepare, encoder, texts, settings), overwrite=overwrite, advance=advance
    )


def _mlm(encoder: SentenceTransformersEncoder, texts: Sequence[str], settings: Settings, model: Any) -> Prepared:
    """Mask words and have them put back."""
    from transformers import DataCollatorForLanguageModeling

    loss, notes = masked_loss(encoder, model)
    tokens = lengths(model, texts)
    cut = longest(model, tokens, settings)
    collator = DataCollatorForLanguageModeling(tokenizer=model.tokenizer, mlm_probability=MASKED)

    def collate(batch: Batch) -> dict[str, Any]:
        import torch

        encoded = model.tokenizer(
            [texts[row] for _, row in batch], truncation=True, max_length=cut, return_special_tokens_mask=True
        )
        rows = [{name: values[n] for name, values in encoded.items()} for n in range(len(batch))]
        number = seed_of(settings.seed, "masks", *map(str, batch[0]))
        collator.generator = torch.Generator().manual_seed(number)
        return {f"text_{name}": value for name, value in collator(rows).items()}

    batches = _plain_batches(tokens, cut, settings.batch, settings)
    return Job(model, loss, collate, batches, settings, settings.accumulate), notes, cut


def _tsdae(encoder: SentenceTransformersEncoder, texts: Sequence[str], settings: Settings, model: Any) -> Prepared:
    """Delete words and have the sentence put back from its vector."""
    from sentence_transformers.sentence_transformer.losses import DenoisingAutoEncoderLoss

    loss = DenoisingAutoEncoderLoss(model, tie_encoder_decoder=True).float()
    prompt = encoder.card.prompts.get("document", "")
    tokens = lengths(model, texts, prompt)
    cut = longest(model, tokens, settings)

    def collate(batch: Batch) -> dict[str, Any]:
        whole = [texts[row] for _, row in batch]
        left = [_thinned(texts[row], settings.seed, epoch, row) for epoch, row in batch]
        return columns(model, {"left": left, "whole": whole}, {"left": prompt}, cut)

    notes = ("tsdae: the decoder shares the encoder's weights; its attention to the vector is new",)
    batches = _plain_batches(tokens, cut, settings.batch, settings)
    return Job(model, loss, collate, batches, settings, settings.accumulate), notes, cut


def _simcse(encoder: SentenceTransformersEncoder, texts: Sequence[str], settings: Settings, model: Any) -> Prepared:
    """Have a sentence known again among others, both times under other dropout."""
    loss, size, accumulate = telling_apart(model, settings, encoder.card.similarity)
    prompt = encoder.card.prompts.get("document", "")
    tokens = lengths(model, texts, prompt)
    cut = longest(model, tokens, settings)

    def collate(batch: Batch) -> dict[str, Any]:
        own = [texts[row] for _, row in batch]
        return columns(model, {"first": own, "second": own}, {"first": prompt, "second": prompt}, cut)

    return Job(model, loss, collate, _plain_batches(tokens, cut, size, settings), settings, accumulate), (), cut


def _plain_batches(tokens: Sequence[int], cut: int, size: int, settings: Settings) -> list[Batch]:
    """Return batches of rows that nothing keeps apart."""
    return draw([Row(min(length, cut)) for length in tokens], size, settings.epochs, settings.seed)


def _thinned(text: str, seed: int, epoch: int, row: int) -> str:
    """Return what is left of a sentence when each word is deleted with the same chance; one word at least."""
    words = text.split()
    rng = generator(seed, "deletions", str(epoch), str(row))
    kept = [word for word, number in zip(words, rng.random(len(words)), strict=True) if number >= DELETED]
    return " ".join(kept or [words[int(rng.integers(len(words)))]])
