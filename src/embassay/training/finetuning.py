"""Fine-tuning on triplets ⟨question, right, [wrong …]⟩, the second stage of Roychowdhury et al. (2024, section 2.4).

Two losses: ``mnr``, the right document told from the wrong ones and from the other documents of the batch (Henderson
et al. 2017, section 4); ``triplet``, the right one nearer than each wrong one by a margin (Schroff et al. 2015), by
cosine.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from embassay.encoders.neural.st import SentenceTransformersEncoder
from embassay.engine.topk import search
from embassay.errors import InputError, SpecError, UnknownNameError
from embassay.samples.retrieval import Question
from embassay.training.base_model import find_base, lengths, live, longest
from embassay.training.batches import Batch, Row, draw
from embassay.training.contrast import telling_apart
from embassay.training.job import Job
from embassay.training.settings import FINETUNE, LOSSES, Loss, Settings
from embassay.training.shared import Advance, Trained
from embassay.training.stage import Recipe, columns, conduct
from embassay.training.triplets import Triplet, normalised
from embassay.types import Corpus, content_hash

K = 5
"""A question is answered when a right document is among so many (Roychowdhury et al. 2024, section 2.1)."""


def finetune(
    base: str,
    triplets: Sequence[Triplet],
    dev: Sequence[Question],
    corpus: Corpus[Any],
    folder: Path,
    *,
    loss: Loss = "mnr",
    margin: float = 0.2,
    settings: Settings = FINETUNE,
    overwrite: bool = False,
    advance: Advance,
) -> Trained:
    """Fine-tune a sentence-transformers model on triplets; a training that was stopped goes on from its checkpoint.

    The same base, data, settings and versions give the same weights on a CPU, stopped or not. The weights that are
    written are those of the best evaluation.

    Parameters
    ----------
    base
        A model's name or ``./folder``, such as one that was pre-trained.
    triplets
        What is learnt from. Questions get the model's query prompt, documents its document prompt.
    dev, corpus
        Held-out questions, and the corpus whose documents answer them: Success@5 decides which weights are kept and
        when to stop. Without questions the last weights are kept.
    folder
        Where the model is written: a folder that ``-e ./folder`` loads, with the base's pooling, prompts and limit.
    loss
        ``mnr`` or ``triplet``.
    margin
        Of the ``triplet`` loss, a difference of cosines.
    overwrite
        Replace a training of other settings, base or data.
    advance
        Is told how many triplets of how many have been read.

    Raises
    ------
    InputError
        For a base, triplets or a folder that cannot be used, before any training.
    EncoderError
        If the base cannot be loaded, or the loss becomes no number.
    KeyboardInterrupt
        After the step in which Ctrl-C was pressed.
    """
    if loss not in LOSSES:
        raise UnknownNameError("loss", loss, LOSSES)
    if not 0 < margin < 2:
        raise SpecError(f"option 'margin': a difference of cosines above 0 and below 2, is {margin}")
    encoder = find_base(base)
    learnt = _learnt(triplets, loss)
    asked = [question for question in dev if question.right]
    data = content_hash([_data(learnt), [[q.question, *q.right] for q in asked], corpus.fingerprint])
    recipe = Recipe("finetuning", loss, settings, {"margin": margin} if loss == "triplet" else {}, data, len(learnt))

    def prepare(model: Any) -> tuple[Job, Sequence[str], int]:
        evaluate = _success(encoder, model, asked, corpus) if asked else None
        job, cut = (_mnr if loss == "mnr" else _triplets)(encoder, model, learnt, settings, margin, evaluate)
        missing = "no held-out questions: the last weights are kept, and nothing stops the training early"
        left = len(triplets) - len({(t.question, t.right) for t in learnt})
        pairs = f"{left:,} questions without a wrong document are left out: the triplet loss needs one"
        notes = (*[missing] * (not asked), *[pairs] * (loss == "triplet" and left > 0), *_crowded(job, len(learnt)))
        return job, notes, cut

    return conduct(recipe, encoder, folder, prepare, overwrite=overwrite, advance=advance)


def success(
    encoder: SentenceTransformersEncoder, questions: Sequence[Question], corpus: Corpus[Any], k: int = K
) -> float:
    """Return the share of questions, from 0 to 1, that have a right document among the k nearest.

    A right document tied with others counts as its chance among them; of several right ones the best placed counts.
    """
    documents = {document.id: place for place, document in enumerate(corpus.documents)}
    passages = [text for document in corpus.documents for text in document.passages]
    starts = np.cumsum([0, *(len(document.passages) for document in corpus.documents)])[:-1]
    pairs = np.array([(row, documents[name]) for row, q in enumerate(questions) for name in q.right], dtype=np.int64)
    found = search(
        encoder.encode([question.question for question in questions], "query"),
        encoder.encode(passages, "document"),
        k=1,
        measure=encoder.card.similarity,
        starts=starts,
        pairs=pairs,
    )
    chance = np.where(found.greater < 0, 0.0, np.clip((k - found.greater) / np.maximum(found.tied, 1), 0, 1))
    hits = np.zeros(len(questions))
    np.maximum.at(hits, pairs[:, 0], chance)
    return float(hits.mean())


def _success(
    encoder: SentenceTransformersEncoder, model: Any, dev: Sequence[Question], corpus: Corpus[Any]
) -> Callable[[], float]:
    return lambda: success(live(encoder, model), dev, corpus)


def _learnt(triplets: Sequence[Triplet], loss: Loss) -> list[Triplet]:
    """Return what the loss learns from: for ``triplet`` a row for each wrong document."""
    if not triplets:
        raise InputError("fine-tuning needs triplets of question, right and wrong documents, and there are none")
    if loss == "mnr":
        return list(triplets)
    found = [Triplet(t.question, t.right, (wrong,)) for t in triplets for wrong in t.wrong]
    if not found:
        raise InputError("the triplet loss needs wrong documents, and no question has one; take the loss mnr")
    return found


def _data(triplets: Sequence[Triplet]) -> list[Any]:
    """Return what is learnt from as a JSON value, in which what many questions share stands once."""
    numbers = {rights: number for number, rights in enumerate(dict.fromkeys(t.rights for t in triplets))}
    return [[[t.question, t.right, *t.wrong, numbers[t.rights]] for t in triplets], list(numbers)]


def _crowded(job: Job, rows: int) -> Iterator[str]:
    """Say that batches are small, where more than half of them would not be needed if no row kept another out."""
    size = job.settings.batch * job.settings.accumulate // job.accumulate
    if len(job.batches) > 2 * math.ceil(job.settings.epochs * math.ceil(rows / size)):
        mean = sum(map(len, job.batches)) / len(job.batches)
        yield (
            f"batches hold {mean:.1f} of {size} questions on average: no two with a right document in common go "
            "together, and too many have one"
        )


def _mnr(
    encoder: SentenceTransformersEncoder,
    model: Any,
    triplets: Sequence[Triplet],
    settings: Settings,
    margin: float,
    evaluate: Callable[[], float] | None,
) -> tuple[Job, int]:
    """Tell the right document from the wrong ones and from those of the batch's other questions."""
    loss, size, accumulate = telling_apart(model, settings, encoder.card.similarity)
    tokens, cut = _tokens(encoder, model, triplets, settings)
    batches = draw(_rows(triplets, tokens), size, settings.epochs, settings.seed)
    if not batches:
        raise InputError("fine-tuning needs two questions, or one with a wrong document, at least")
    return Job(model, loss, _collate(encoder, model, triplets, cut), batches, settings, accumulate, evaluate), cut


def _rows(triplets: Sequence[Triplet], tokens: Sequence[int]) -> list[Row]:
    """Return what each triplet brings into a batch, its texts in normalised form."""
    form = cache(normalised)
    rights: defaultdict[str, set[str]] = defaultdict(set)
    for t in triplets:
        rights[form(t.question)].update(map(form, (t.right, *t.rights)))
    whole = {question: frozenset(texts) for question, texts in rights.items()}
    return [
        Row(length, form(t.question), (form(t.right), *map(form, t.wrong)), whole[form(t.question)])
        for t, length in zip(triplets, tokens, strict=True)
    ]


def _triplets(
    encoder: SentenceTransformersEncoder,
    model: Any,
    triplets: Sequence[Triplet],
    settings: Settings,
    margin: float,
    evaluate: Callable[[], float] | None,
) -> tuple[Job, int]:
    """Have the right document nearer than each wrong one."""
    from sentence_transformers.sentence_transformer.losses import TripletDistanceMetric, TripletLoss

    loss = TripletLoss(model, distance_metric=TripletDistanceMetric.COSINE, triplet_margin=margin)
    tokens, cut = _tokens(encoder, model, triplets, settings)
    batches = draw([Row(length) for length in tokens], settings.batch, settings.epochs, settings.seed)
    collate = _collate(encoder, model, triplets, cut)
    return Job(model, loss, collate, batches, settings, settings.accumulate, evaluate), cut


def _collate(
    encoder: SentenceTransformersEncoder, model: Any, triplets: Sequence[Triplet], cut: int
) -> Callable[[Batch], dict[str, Any]]:
    """Return what makes a batch: questions, right documents, and as many wrong ones as each row has."""
    query, document = (encoder.card.prompts.get(role, "") for role in ("query", "document"))

    def collate(batch: Batch) -> dict[str, Any]:
        rows = [triplets[row] for _, row in batch]
        texts = {"question": [t.question for t in rows], "right": [t.right for t in rows]}
        texts |= {f"wrong{n}": [t.wrong[n] for t in rows] for n in range(min(len(t.wrong) for t in rows))}
        return columns(model, texts, dict.fromkeys(texts, document) | {"question": query}, cut)

    return collate


def _tokens(
    encoder: SentenceTransformersEncoder, model: Any, triplets: Sequence[Triplet], settings: Settings
) -> tuple[list[int], int]:
    """Return the length of each row, that of its longest text, in tokens as they are cut; and where they are cut."""
    prompts = [encoder.card.prompts.get(role, "") for role in ("query", "document")]
    questions = list(dict.fromkeys(t.question for t in triplets))
    documents = list(dict.fromkeys(text for t in triplets for text in (t.right, *t.wrong)))
    asked = dict(zip(questions, lengths(model, questions, prompts[0]), strict=True))
    told = dict(zip(documents, lengths(model, documents, prompts[1]), strict=True))
    cut = longest(model, [*asked.values(), *told.values()], settings)
    rows = [max(asked[t.question], *(told[text] for text in (t.right, *t.wrong))) for t in triplets]
    return [min(length, cut) for length in rows], cut
