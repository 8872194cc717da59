"""Fine-tuning on triplets ⟨question, right, [wrong …]⟩, the second stage of Roychowdhury et al. (2024, section 2.4).

The loss ranks the right document above the wrong ones and the other documents of the batch (Henderson et al. 2017,
section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import InputError
from embassay.core.samples.retrieval import Question, first_passages, right_pairs
from embassay.core.types import AnyCorpus
from embassay.search.exact.top import search
from embassay.stats.ranking import RightPlaces
from embassay.training.base_model import Base, find_base, live
from embassay.training.batches import Batch, BatchRow, draw
from embassay.training.negatives import Triplet, normalised
from embassay.training.options import FinetuneOptions
from embassay.training.stage import Advance, Stage, Trained
from embassay.training.trainer import Job, train_stage

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor
    from torch.nn import Module

COSINE_SCALE, PRODUCT_SCALE = 20.0, 1.0
"""Scale of the similarities before the softmax (1 / temperature): for values within ±1, and for unbounded values."""
K = 5
"""A question is answered if a right document is among the nearest five (Roychowdhury et al. 2024, section 2.1)."""


def finetune(
    stage: Stage[FinetuneOptions],
    base: str,
    triplets: Sequence[Triplet],
    dev: Sequence[Question],
    corpus: AnyCorpus,
    *,
    advance: Advance,
) -> Trained:
    """Fine-tune a sentence-transformers model on triplets. An interrupted training resumes from its checkpoint.

    The same base, data, recipe and versions give the same weights on a CPU, interrupted or not. The weights of the best
    evaluation are written.

    Parameters
    ----------
    stage
        The recipe and the model's folder, which ``-e ./folder`` loads, with the base's pooling, prompts and limit.
    base
        A model's name or ``./folder``, for example a pre-trained one.
    triplets
        Questions with right and wrong documents; see :func:`~embassay.training.negatives.mine`.
    dev, corpus
        Held-out questions, and the corpus whose documents answer them. Their Success@5 decides which weights are kept
        and when to stop. Without questions, the last weights are kept.
    advance
        Called with the number of triplets read so far.

    Raises
    ------
    InputError
        For a base, triplets or a folder that cannot be used, before any training.
    EncoderError
        If the base cannot be loaded, or the loss became NaN or infinite.
    """
    encoder = find_base(base)

    def prepare(model: SentenceTransformer) -> Job:
        job = _job(stage.recipe, encoder, model, triplets)
        return replace(job, evaluate=lambda: success(live(encoder, model), dev, corpus)) if dev else job

    facts = {"rows": len(triplets), "negatives": sum(len(triplet.wrong) for triplet in triplets)}
    bare = sum(not triplet.wrong for triplet in triplets)
    notes = (f"{bare:,} questions without a wrong document, used as pairs",) if bare else ()
    return train_stage(stage, encoder, prepare, facts, notes, advance=advance)


def success(encoder: Base, questions: Sequence[Question], corpus: AnyCorpus) -> float:
    """Return the share of questions, from 0 to 1, that have a right document among the :data:`K` nearest.

    A right document that ties with others counts as its probability of being among the nearest. If there are several
    right documents, the best one counts.
    """
    passages = [passage for document in corpus.documents for passage in document.passages]
    pairs = right_pairs(questions, corpus.documents)
    ranks = search(
        encoder.encode([question.question for question in questions], "query"),
        encoder.encode(passages, "document"),
        k=1,
        similarity_function=encoder.card.similarity,
        starts=first_passages(corpus.documents),
        pairs=pairs,
    )
    places = RightPlaces(len(questions), pairs[:, 0], ranks.greater, ranks.tied, np.ones(len(pairs), dtype=np.int64))
    return float(places.success(K).mean())


def _job(recipe: FinetuneOptions, encoder: Base, model: SentenceTransformer, triplets: Sequence[Triplet]) -> Job:
    """Return the training: its loss, its batches, and the texts of their rows."""
    prompts = encoder.card.prompts
    batches = draw(candidate_rows(triplets), recipe.batch, recipe.epochs, recipe.seed)
    if not batches:
        raise InputError("fine-tuning needs at least two questions, or one with a wrong document")

    def collate(batch: Batch, random: np.random.Generator) -> dict[str, Tensor]:
        """Return questions, right documents, and as many wrong documents as every row has."""
        chosen = [triplets[row] for row in batch]
        columns = {"question": [row.question for row in chosen], "right": [row.right for row in chosen]}
        # A column needs a text in every row.
        shared_wrong = min(len(row.wrong) for row in chosen)
        for number in range(shared_wrong):
            columns[f"wrong{number}"] = [row.wrong[number] for row in chosen]
        named = {}
        for name, texts in columns.items():
            prompt = prompts.get("query" if name == "question" else "document")
            for feature, tensor in model.preprocess(texts, prompt=prompt or None).items():
                named[f"{name}_{feature}"] = tensor
        return named

    return Job(model, ranking_loss(model, encoder.card.similarity), collate, batches, recipe)


def ranking_loss(model: SentenceTransformer, similarity: str) -> Module:
    """Return the loss that ranks the right candidate above all others (Henderson et al. 2017, section 4)."""
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.modules import Normalize
    from sentence_transformers.util import cos_sim, dot_score

    if similarity != "dot":
        return losses.MultipleNegativesRankingLoss(model, scale=COSINE_SCALE, similarity_fct=cos_sim)
    # Vectors of unit length have a dot product that is a cosine.
    scale = COSINE_SCALE if isinstance(list(model)[-1], Normalize) else PRODUCT_SCALE
    return losses.MultipleNegativesRankingLoss(model, scale=scale, similarity_fct=dot_score)


def candidate_rows(triplets: Sequence[Triplet]) -> list[BatchRow]:
    """Return the batch row of each triplet, with its texts in normalised form."""
    form = cache(normalised)
    rows = []
    for triplet in triplets:
        texts = (triplet.question, triplet.right, *triplet.wrong)
        length = max(map(len, texts))
        rows.append(BatchRow(length, frozenset(map(form, (*texts, *triplet.rights))), len(triplet.wrong)))
    return rows
