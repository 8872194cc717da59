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
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import EncoderError, InputError, OutputError, reason_of
from embassay.core.samples.retrieval import right_pairs
from embassay.core.types import AnyCorpus, ItemScores
from embassay.core.vectors import Similarity, Vectors
from embassay.diagnostics.metrics.metric import meaning_of
from embassay.run.cache.cache import VectorCache
from embassay.run.engine.encode import encode
from embassay.run.items import Items
from embassay.run.progress import Bar
from embassay.run.resolve import is_safe_in_files, load_encoder
from embassay.run.retrieve import lists_key, stored_lists
from embassay.search.exact.documents import nearest_documents
from embassay.search.exact.lists import ranked
from embassay.search.retrievers.base import Lists

DEPTH = 100
"""Documents of each question in a run file, more where its right documents come later."""
DEEPEST = 1000
"""Documents of each question, at most: the usual depth at TREC."""
_UNSAFE = re.compile(r"[\s%\x00-\x1f\x7f]")
"""Characters that an id cannot have: white space separates the fields, a percent sign marks an encoded character."""


@dataclass(frozen=True)
class TrecRun:
    """The documents that one encoder retrieved for each question.

    Attributes
    ----------
    documents
        (Q, k) indices of the corpus's documents, nearest first; −1 where there are fewer.
    scores
        (Q, k) in the same order; different ones differ also in float32, with which TREC tools compute.
    depth
        (Q,) number of documents of each question that are written.
    """

    corpus: AnyCorpus
    encoder: str
    documents: NDArray[np.int64]
    scores: NDArray[np.float64]
    depth: NDArray[np.int64]

    def write(self, file: BinaryIO) -> None:
        """Write the ranking as a run file."""
        document_ids = [safe_id(document.id) for document in self.corpus.documents]
        encoder = safe_id(self.encoder)
        for row, sample in enumerate(self.corpus.samples):
            question = safe_id(sample.id)
            depth = self.depth[row]
            documents = self.documents[row, :depth].tolist()
            scores = self.scores[row, :depth].tolist()
            lines = []
            for place, document in enumerate(documents):
                if document >= 0:
                    lines.append(f"{question} Q0 {document_ids[document]} {place + 1} {scores[place]} {encoder}\n")
            file.write("".join(lines).encode("utf-8", "replace"))


def safe_id(name: str) -> str:
    """Return an id without white space, which ``urllib.parse.unquote`` turns back into the original."""
    return _UNSAFE.sub(lambda character: quote(character[0]), name)


def qrels(corpus: AnyCorpus) -> bytes:
    """Return which documents are right for each question, with their grade; 1 where the corpus has no grades."""
    lines = []
    for sample in corpus.samples:
        question = safe_id(sample.id)
        gains = sample.gains
        if not gains:
            gains = [1] * len(sample.right)
        for document, gain in zip(sample.right, gains, strict=True):
            lines.append(f"{question} 0 {safe_id(document)} {gain}\n")
    return "".join(lines).encode("utf-8", "replace")


def make_rankings(
    items: Items, similarities: Mapping[str, Similarity], cache: Path | None, folder: Path
) -> tuple[list[TrecRun], list[str], list[str]]:
    """Search the documents of each retrieval corpus of a run for the nearest documents of each question.

    Returns the rankings, why figures that are computed from them may differ from those of the run, and which encoders
    have none, and why.

    Parameters
    ----------
    similarities
        By encoder, how it compares a query with a document.
    cache
        Folder of the vector cache; None for no cache.
    folder
        The folder of the run, which has the lists of retrievers.

    Raises
    ------
    OutputError
        If the run has no retrieval, or no encoder's vectors are available.
    SourceError
        If a corpus of the run cannot be read again.
    """
    tasks = [task for task in items.tasks if "search" in meaning_of(task.name).about]
    if not tasks:
        raise OutputError("--format trec is for retrieval, which this run does not have")
    rankings, notes, left_out = list[TrecRun](), list[str](), list[str]()
    total = sum(len(task.scores) for task in tasks)
    # Without a cache, nullcontext() gives None.
    opening = VectorCache(cache) if cache else nullcontext()
    with opening as opened_cache, Bar().encoding("rankings", total) as advance:
        for task in tasks:
            for scores in task.scores:
                corpus = task.corpora[scores.origin.corpus_fingerprint]
                label = scores.origin.encoder
                setting = scores.scalars.get("setting")
                lists = stored_lists(folder, lists_key(scores.origin.encoder_fingerprint, corpus, setting))
                try:
                    if len(lists.rows):
                        ranking = _listed(corpus, label, lists)
                    else:
                        vectors = _vectors(corpus, scores, similarities.get(label, "cosine"), opened_cache)
                        ranking = _ranking(corpus, label, vectors)
                except (InputError, EncoderError) as error:
                    left_out.append(f"{label} on {corpus.name}: {error}")
                else:
                    rankings.append(ranking)
                    notes += _notes(scores, ranking)
                advance(1)
    if not rankings:
        raise OutputError(f"no encoder's vectors are available ({left_out[0]})")
    return rankings, notes, left_out


def _vectors(corpus: AnyCorpus, scores: ItemScores, similarity: Similarity, cache: VectorCache | None) -> Vectors:
    """Return an encoder's vectors of all texts of a corpus.

    Raises
    ------
    InputError
        If they are not in the cache, and the encoder cannot be loaded or has changed since the run.
    EncoderError
        If the encoder fails.
    """
    corpus.need_texts("the ranking")
    origin = scores.origin
    if cache is not None:
        texts = corpus.texts()
        cached = cache.get(origin.cache_key, texts)
        rows = [vector for vector in cached if vector is not None]
        if len(rows) == len(texts):
            row_of_text = {text: row for row, text in enumerate(texts)}
            return Vectors(np.stack(rows), row_of_text, similarity)
    if not is_safe_in_files(origin.spec):
        raise OutputError(
            "its vectors are not in the cache, and this export neither sends requests nor runs code of others; repeat "
            "the run first"
        )
    encoder = load_encoder(origin.spec)
    try:
        encoder = encoder.fit(list(corpus.learnt()))
    except Exception as error:
        # The encoder may be of another package. The rankings of the other encoders are still written.
        raise EncoderError(reason_of(error)) from error
    if encoder.fingerprint != origin.encoder_fingerprint:
        raise OutputError("the encoder has changed since the run; repeat the run first")
    vectors, _ = encode(encoder, corpus.texts(), cache)
    return vectors


def _ranking(corpus: AnyCorpus, label: str, vectors: Vectors) -> TrecRun:
    """Search a corpus with an encoder's vectors."""
    nearest = nearest_documents(corpus, vectors, DEEPEST)
    pairs = right_pairs(corpus.samples, corpus.documents)
    # Each question gets DEPTH documents, or more until its last right document. Among documents that are exactly as
    # near, the right one is taken to come last.
    last_rank = nearest.greater + nearest.tied
    depth = np.full(len(corpus.samples), DEPTH)
    np.maximum.at(depth, pairs[:, 0], last_rank)
    depth = np.minimum(depth, nearest.documents.shape[1])
    distinct = distinct_float32(nearest.similarity)
    is_distinct = nearest.similarity.astype(np.float32) == distinct
    scores = np.where(is_distinct, nearest.similarity, distinct)
    return TrecRun(corpus, label, nearest.documents, scores, depth)


def _listed(corpus: AnyCorpus, label: str, lists: Lists) -> TrecRun:
    """Return the lists of a retriever; one without scores has the order, from −1 down, as scores."""
    nearest = ranked(corpus, lists, None)
    scores = nearest.similarity
    if np.isnan(scores).all():
        scores = np.broadcast_to(-1.0 - np.arange(scores.shape[1]), scores.shape)
    return TrecRun(corpus, label, nearest.documents, scores, (nearest.documents >= 0).sum(axis=1))


def distinct_float32(similarity: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return (Q, k) descending similarities in float32, different where they were different before.

    TREC tools compute with float32 and order equal scores by the documents' ids.
    """
    scores = similarity.astype(np.float32)
    for column in range(1, scores.shape[1]):
        previous = scores[:, column - 1]
        # Two similarities may be the same float32. Then the second gets the largest float32 below the first.
        next_lower = np.nextafter(previous, np.float32(-np.inf))
        lowered = np.minimum(scores[:, column], next_lower)
        # Equal similarities keep equal scores.
        is_lower = similarity[:, column] < similarity[:, column - 1]
        scores[:, column] = np.where(is_lower, lowered, previous)
    return scores


def _notes(scores: ItemScores, ranking: TrecRun) -> Iterator[str]:
    """Yield why figures that are computed from the files may differ from those of the run."""
    where = f"{ranking.encoder} on {ranking.corpus.name}"
    number = len(scores.item)
    tied = int((scores.values["tied"] > 1).sum())
    if tied:
        yield (
            f"{where}: in {tied:,} of {number:,} questions other documents are exactly as near as the right "
            "one; TREC tools order them by id, Embassay takes the mean over all orders"
        )
    # A file ends at DEEPEST. A reranker's has the documents that it has ranked; the run has the others in their order.
    below = int((scores.values["rank"] > ranking.depth).sum())
    if below:
        yield (f"{where}: in {below:,} of {number:,} questions the right document is below the last rank in the file")
