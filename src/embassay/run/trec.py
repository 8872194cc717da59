"""Rankings of a finished run in the format of TREC: what is right for each question, and what each encoder retrieved.

    question 0 document grade                  CORPUS.qrels
    question Q0 document rank score encoder    CORPUS.ENCODER.run

The scores of a run hold only the first few documents of a question, so the corpora are searched again: with vectors
from the cache where they are there, else with vectors that the encoder computes again. A question has its nearest 100
documents, and more until all its right documents are among them, at most 1,000: so reciprocal rank and average
precision are the same as in the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from embassay.engine.pool import encode
from embassay.engine.topk import search
from embassay.errors import EncoderError, InputError, OutputError, reason_of
from embassay.run.items import Items
from embassay.run.progress import Bar
from embassay.run.resolve import is_safe_in_files, load_encoder
from embassay.store.cache import VectorCache
from embassay.types import AnyCorpus, ItemScores
from embassay.vectors import Similarity, Vectors

DIAGNOSTIC = "retrieval"
DEPTH = 100
"""Documents of each question in a run file, more where its right documents come later."""
DEEPEST = 1000
"""Documents of each question, at most: the usual depth at TREC."""
_UNSAFE = re.compile(r"[\s%\x00-\x1f\x7f]")
"""What cannot be in an id, as lines are split at white space; and the percent sign, so that ids can be decoded."""


@dataclass(frozen=True)
class Ranking:
    """What one encoder retrieved.

    Attributes
    ----------
    documents
        (Q, k) indices of the corpus's documents, nearest first; −1 where there are fewer.
    scores
        (Q, k) float32 in the same order.
    depth
        (Q,) how many documents of each question are written.
    """

    corpus: AnyCorpus
    encoder: str
    documents: NDArray[np.int64]
    scores: NDArray[np.float32]
    depth: NDArray[np.int64]

    def write(self, file: BinaryIO) -> None:
        """Write the ranking as a run file."""
        ids = [safe_id(document.id) for document in self.corpus.documents]
        tag = safe_id(self.encoder)
        for row, sample in enumerate(self.corpus.samples):
            question = safe_id(sample.id)
            depth = self.depth[row]
            documents = self.documents[row, :depth].tolist()
            scores = self.scores[row, :depth].tolist()
            lines = []
            for place, (document, score) in enumerate(zip(documents, scores, strict=True), start=1):
                if document >= 0:
                    # Nine digits: read as float32 again, different scores stay different.
                    lines.append(f"{question} Q0 {ids[document]} {place} {score:.9g} {tag}\n")
            file.write("".join(lines).encode("utf-8", "replace"))


@dataclass
class Rankings:
    """The rankings of a run; ``left_out`` says which encoders have none and why, ``notes`` what a reader must know."""

    rankings: list[Ranking] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def safe_id(name: str) -> str:
    """Return an id without white space, which ``urllib.parse.unquote`` turns back into the original."""
    return _UNSAFE.sub(lambda character: quote(character[0]), name)


def qrels(corpus: AnyCorpus) -> bytes:
    """Return which documents are right for each question, with their grade; 1 where the corpus has no grades."""
    lines = []
    for sample in corpus.samples:
        gains = sample.gains or [1] * len(sample.right)
        for document, gain in zip(sample.right, gains, strict=True):
            lines.append(f"{safe_id(sample.id)} 0 {safe_id(document)} {gain}\n")
    return "".join(lines).encode("utf-8", "replace")


def make_rankings(items: Items, similarities: Mapping[str, Similarity], cache: Path | None) -> Rankings:
    """Search the documents of each retrieval corpus of a run for the nearest documents of each question.

    Parameters
    ----------
    similarities
        By encoder, what it compares a query with a document by.
    cache
        Folder of the vector cache; None for no cache.

    Raises
    ------
    OutputError
        If the run has no retrieval, or no encoder's vectors can be had.
    SourceError
        If a corpus of the run cannot be read again.
    """
    tasks = [task for task in items.tasks if task.name == DIAGNOSTIC]
    if not tasks:
        raise OutputError("--format trec is for retrieval, which this run does not have")
    made = Rankings()
    amount = sum(len(task.scores) for task in tasks)
    with VectorCache(cache) if cache else nullcontext() as opened, Bar().drawing("rankings", amount) as advance:
        for task in tasks:
            for scores in task.scores:
                label = scores.origin.encoder
                try:
                    vectors = _vectors(task.corpus, scores, similarities.get(label, "cosine"), opened)
                except (InputError, EncoderError) as error:
                    made.left_out.append(f"{label} on {task.corpus.name}: {error}")
                else:
                    made.rankings.append(_ranking(task.corpus, label, vectors))
                    made.notes += _notes(task.corpus, scores)
                advance(1)
    if not made.rankings:
        raise OutputError(f"no encoder's vectors can be had ({made.left_out[0]})")
    return made


def _vectors(corpus: AnyCorpus, scores: ItemScores, similarity: Similarity, cache: VectorCache | None) -> Vectors:
    """Return an encoder's vectors of all texts of a corpus.

    Raises
    ------
    InputError
        If they are not in the cache, and the encoder cannot be loaded or is not that of the run any more.
    EncoderError
        If the encoder fails.
    """
    corpus.need_texts("the ranking")
    texts = corpus.texts()
    origin = scores.origin
    if cache is not None:
        cached = cache.get(origin.encoder_fingerprint, texts)
        if all(row is not None for row in cached):
            row_of_text = {text: place for place, text in enumerate(texts)}
            return Vectors(np.stack([row for row in cached if row is not None]), row_of_text, similarity)
    if not is_safe_in_files(origin.spec):
        raise OutputError(
            "its vectors are not in the cache, and this export neither sends requests nor runs code of others; repeat "
            "the run first"
        )
    encoder = load_encoder(origin.spec)
    try:
        encoder = encoder.fit(list(corpus.learnt()))
    except Exception as error:
        # Of another package perhaps: the rankings of the other encoders are still written.
        raise EncoderError(reason_of(error)) from error
    if encoder.fingerprint != origin.encoder_fingerprint:
        raise OutputError("the encoder has changed since the run; repeat the run first")
    vectors, _ = encode(encoder, texts, cache, lambda count: None)
    return vectors


def _ranking(corpus: AnyCorpus, label: str, vectors: Vectors) -> Ranking:
    """Search a corpus with an encoder's vectors."""
    sizes = np.array([len(document.passages) for document in corpus.documents], dtype=np.int64)
    place_of = {document.id: place for place, document in enumerate(corpus.documents)}
    pairs = [(row, place_of[name]) for row, sample in enumerate(corpus.samples) for name in sample.right]
    question_and_document = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    nearest = search(
        vectors.take((sample.question for sample in corpus.samples), "query"),
        vectors.take((passage for document in corpus.documents for passage in document.passages), "document"),
        k=min(DEEPEST, len(corpus.documents)),
        measure=vectors.similarity,
        starts=np.cumsum(sizes) - sizes,
        pairs=question_and_document,
    )
    # The place of each right document when it is the last of those that are exactly as near.
    last_place = nearest.greater + nearest.tied
    depth = np.full(len(corpus.samples), DEPTH)
    np.maximum.at(depth, question_and_document[:, 0], last_place)
    depth = np.minimum(depth, nearest.documents.shape[1])
    return Ranking(corpus, label, nearest.documents, distinct_float32(nearest.similarity), depth)


def distinct_float32(similarity: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return (Q, k) descending similarities in float32, different where they were different before.

    TREC tools compute with float32 and order equal scores by the documents' ids.
    """
    scores = similarity.astype(np.float32)
    for place in range(1, scores.shape[1]):
        before = scores[:, place - 1]
        is_lower = similarity[:, place] < similarity[:, place - 1]
        next_lower = np.nextafter(before, np.float32(-np.inf))
        scores[:, place] = np.where(is_lower, np.minimum(scores[:, place], next_lower), before)
    return scores


def _notes(corpus: AnyCorpus, scores: ItemScores) -> Iterator[str]:
    """Yield why figures that are computed from the files may differ from those of the run."""
    where = f"{scores.origin.encoder} on {corpus.name}"
    tied = int((scores.values["tied"] > 1).sum())
    if tied:
        yield (
            f"{where}: in {tied:,} of {len(scores.item):,} questions other documents are exactly as near as the right "
            "one; TREC tools order them by id, Embassay takes the mean over all orders"
        )
    below = int((scores.values["rank"] > DEEPEST).sum())
    if below:
        questions = f"{below:,} of {len(scores.item):,} questions"
        yield f"{where}: in {questions} the right document is below rank {DEEPEST:,} and not in the file"
