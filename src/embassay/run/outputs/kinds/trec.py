"""The right documents (qrels) and the rankings (run files) of retrieval, for trec_eval.

    question 0 document grade                  CORPUS.qrels
    question Q0 document rank score encoder    CORPUS-ENCODER.run

The scores of a run hold only the first few documents of a question, so the corpora are searched again: with vectors
from the cache where they are there, else with vectors that the encoder computes again. TREC tools order exact ties by
id, Embassay takes the mean over all orders.
"""

from __future__ import annotations

import math
import re
from functools import partial
from itertools import repeat
from typing import BinaryIO
from urllib.parse import quote

import numpy as np

from embassay.core.errors import EncoderError, InputError, OutputError
from embassay.core.result import record_of
from embassay.core.types import AnyCorpus, ItemScores
from embassay.core.vectors import Neighbours, Vectors
from embassay.diagnostics.metrics.metric import meaning_of
from embassay.run.cache.cache import VectorCache
from embassay.run.cache.folder import default_folder
from embassay.run.engine.encode import encode
from embassay.run.finished import FinishedRun
from embassay.run.outputs.exhibits import file_name
from embassay.run.outputs.formats import Content, Export
from embassay.run.resolve import is_safe_in_files, load_encoder
from embassay.run.retrieve import lists_key, stored_lists
from embassay.search.exact.documents import nearest_documents
from embassay.search.exact.lists import ranked

HOLDS = "file"
DEPTH = 1000
"""Documents of each question, at most: the usual depth at TREC."""


def export(finished: FinishedRun) -> Export:
    """Make the right documents and the rankings of a run's retrieval.

    Raises
    ------
    OutputError
        If the run has no retrieval, or no encoder's vectors are available.
    SourceError
        If a corpus of the run cannot be read again.
    """
    contents = dict[str, Content]()
    notes = []
    taken = set[str]()
    tasks = [task for task in finished.items.tasks if "search" in meaning_of(task.name).about]
    for task in tasks:
        contents[f"{file_name(task.corpus.name, taken)}.qrels"] = qrels(task.corpus)
    cache = VectorCache(default_folder())
    for task in tasks:
        for scores in task.scores:
            corpus, label = task.corpora[scores.origin.corpus_fingerprint], scores.origin.encoder
            try:
                nearest = searched_again(finished, corpus, scores, cache)
            except (InputError, EncoderError) as error:
                notes.append(f"left out: {label} on {corpus.name}: {error}")
                continue
            writer = partial(write_ranking, corpus=corpus, encoder=safe_id(label), nearest=nearest)
            contents[f"{file_name(f'{corpus.name} {label}', taken)}.run"] = writer
    if len(contents) == len(tasks):
        reasons = notes or ["this run has no scores of retrieval, which it is for"]
        raise OutputError(f"--format trec: {reasons[0]}")
    return Export(contents, notes, is_partial=bool(notes))


def searched_again(finished: FinishedRun, corpus: AnyCorpus, scores: ItemScores, cache: VectorCache) -> Neighbours:
    """Return the documents that an encoder retrieves for each question of a corpus.

    Raises
    ------
    InputError
        If its vectors are not in the cache, and it cannot be loaded or has changed since the run.
    EncoderError
        If the encoder fails.
    """
    origin = scores.origin
    key = lists_key(origin.encoder_fingerprint, corpus, scores.scalars.get("setting"))
    lists = stored_lists(finished.folder.path, key)
    if len(lists.rows):
        return ranked(corpus, lists)
    corpus.need_texts("the ranking")
    texts = corpus.texts()
    cached = [vector for vector in cache.get(origin.cache_key, texts) if vector is not None]
    if len(cached) == len(texts):
        similarity = record_of(finished.result.encoders, origin.encoder).similarity
        vectors = Vectors(np.stack(cached), {text: row for row, text in enumerate(texts)}, similarity)
    elif is_safe_in_files(origin.spec):
        encoder = load_encoder(origin.spec).fit(list(corpus.learnt()))
        if encoder.fingerprint != origin.encoder_fingerprint:
            raise OutputError("the encoder has changed since the run; repeat the run first")
        vectors, _ = encode(encoder, texts, cache)
    else:
        raise OutputError(
            "its vectors are not in the cache, and this export neither sends requests nor runs code of others; repeat "
            "the run first"
        )
    return nearest_documents(corpus, vectors, DEPTH)


def qrels(corpus: AnyCorpus) -> str:
    """Return which documents are right for each question, with their grade; 1 where the corpus has no grades."""
    lines = []
    for sample in corpus.samples:
        for document, gain in zip(sample.right, sample.gains or repeat(1), strict=False):
            lines.append(f"{safe_id(sample.id)} 0 {safe_id(document)} {gain}\n")
    return "".join(lines)


def write_ranking(file: BinaryIO, *, corpus: AnyCorpus, encoder: str, nearest: Neighbours) -> None:
    """Write the documents that an encoder retrieved for each question as a run file."""
    ids = [safe_id(document.id) for document in corpus.documents]
    for row, sample in enumerate(corpus.samples):
        listed = zip(nearest.documents[row].tolist(), nearest.similarity[row].tolist(), strict=True)
        for place, (document, similarity) in enumerate(listed, 1):
            # There may be fewer documents.
            if document >= 0:
                # A list without scores has the order as scores.
                score = -place if math.isnan(similarity) else similarity
                line = f"{safe_id(sample.id)} Q0 {ids[document]} {place} {score} {encoder}\n"
                file.write(line.encode("utf-8", "replace"))


def safe_id(name: str) -> str:
    """Return an id without white space, which ``urllib.parse.unquote`` turns back into the original."""
    # White space separates the fields, a percent sign marks an encoded character.
    return re.sub(r"[\s%\x00-\x1f\x7f]", lambda character: quote(character[0]), name)
