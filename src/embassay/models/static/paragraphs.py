"""Paragraph vectors, PV-DM and PV-DBOW, out of a folder written by ``embassay train paragraphs``.

Le & Mikolov (2014), "Distributed representations of sentences and documents"; baselines of White et al. (2015),
section 3.2.2: hierarchical softmax; PV-DM concatenates the text's vector with those of the words around the predicted
one, PV-DBOW predicts each word from the text's vector alone. The vector of a new text is inferred: the text's vector
learns to predict its words, all else staying as it is, until it moves less than 0.1 % in an epoch, 200 epochs at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from embassay.core.randomness import generator
from embassay.core.samples.base import Role
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime, content_hash, hashes_of
from embassay.core.vectors import DenseVectors
from embassay.models.base import UnknownWords
from embassay.models.loaded import LoadedEncoder
from embassay.models.static.trained_folder import ParagraphSettings, TrainedRecord, read_array, read_record
from embassay.models.tokens import TOKENS_VERSION, CutWords, count_unknown, cutter

if TYPE_CHECKING:
    from gensim.models.doc2vec import Doc2Vec

TARGET = "FOLDER"
EXTRA = "words"
REQUIRES = ("gensim",)
ParagraphKind = Literal["dm", "dbow"]
SEED = 0
"""Seed of the random beginning of a vector."""
EPOCHS = 200
"""Maximum number of epochs of inference."""
MOVED = 1e-3
"""Inference stops when an epoch moves the vector by less than this share of its length."""
RATE, LAST_RATE = 0.025, 0.0001
"""The learning rate of inference falls linearly from the first to the second value over the maximum of epochs."""


def create(target: str, runtime: Runtime) -> ParagraphsEncoder:
    """Look at the folder; the model is built when the first text is encoded.

    Parameters
    ----------
    target
        A folder written by ``embassay train paragraphs``.

    Raises
    ------
    SourceError
        If there is no such folder, or no finished model in it.
    MissingExtraError
        If it was trained on nltk's words and nltk is not installed.
    """
    folder = source_path(target)
    record = read_record(folder, "paragraphs", ParagraphSettings)
    # As the training text was cut, so that words are found in the vocabulary.
    settings = record.settings
    cut = cutter(settings.tokens, f"encoder 'paragraphs:{target}'", lower=settings.lower)
    return ParagraphsEncoder(target, Card(f"paragraphs:{target}"), folder, record, cut)


def build(kind: ParagraphKind, dim: int, window: int, counts: Mapping[str, int], seed: int = 0) -> Doc2Vec:
    """Return an untrained gensim Doc2Vec with these words, in their order.

    It does not depend on Python's hash or on how a sort orders equal counts.
    """
    from gensim.models.doc2vec import Doc2Vec

    model = Doc2Vec(
        vector_size=dim,
        window=window,
        dm=int(kind == "dm"),
        dm_concat=int(kind == "dm"),
        hs=1,
        negative=0,
        sample=0,
        min_count=1,
        workers=1,
        sorted_vocab=0,
        seed=seed,
    )
    model.build_vocab_from_freq(dict(counts), corpus_count=1)
    return model


@dataclass(frozen=True, eq=False, repr=False)
class ParagraphsEncoder(LoadedEncoder["Doc2Vec"]):
    """An encoder that infers a vector for each text."""

    name: str
    card: Card
    folder: Path
    record: TrainedRecord[ParagraphSettings]
    cut: CutWords

    def load(self) -> Doc2Vec:
        """Read the folder: ``words.npy`` (PV-DM only), ``hidden.npy``, and the record."""
        record, settings = self.record, self.record.settings
        counts = dict(zip(record.vocabulary, record.counts, strict=False))
        model = build(settings.model, settings.dim, settings.window, counts)
        model.syn1 = read_array(self.folder / "hidden.npy", *model.syn1.shape)
        if settings.model == "dm":
            model.wv.vectors = read_array(self.folder / "words.npy", *model.wv.vectors.shape)
        return model

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the folder's files, and of the constants of inference."""
        files = hashes_of(self.folder, ("paragraphs.json", *self.record.files))
        return content_hash(["paragraphs", files, EPOCHS, MOVED, SEED, TOKENS_VERSION])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32; a text without a known word is a zero row.

        Raises
        ------
        EncoderError
            If a file of the folder is damaged.
        """
        matrix = np.zeros((len(texts), self.record.settings.dim), dtype=np.float32)
        known = self.model.wv
        for place, text in enumerate(texts):
            words = self.cut(text)
            if any(word in known for word in words):
                matrix[place] = self.infer(words, text)
        return matrix

    def infer(self, words: Sequence[str], text: str) -> DenseVectors:
        """Return the (dim,) vector of a text.

        The initial vector is random; the text selects the random stream. Words and softmax stay fixed. Inference stops
        when an epoch changes the vector by less than :data:`MOVED` times its length, or after :data:`EPOCHS`. gensim
        reads at most the first 10,000 words of a text.
        """
        from gensim.models.doc2vec_inner import train_document_dbow, train_document_dm_concat

        model = self.model
        uniform = generator(SEED, "paragraph", text).random((1, model.vector_size), np.float32)
        vector = (uniform - np.float32(0.5)) / np.float32(model.vector_size)
        train = train_document_dm_concat if model.dm_concat else train_document_dbow
        # gensim stores only the addresses of these arrays, so they must exist as long as the calls. Its own defaults
        # of "work" and "neu1" do not: it would write into memory that is free.
        fixed = {
            "doctag_vectors": vector,
            "doctags_lockf": np.ones(1, dtype=np.float32),
            "work": np.zeros(model.layer1_size, dtype=np.float32),
            "learn_words": False,
            "learn_hidden": False,
        }
        if model.dm_concat:
            fixed["neu1"] = np.zeros(model.layer1_size, dtype=np.float32)
        for rate in np.linspace(RATE, LAST_RATE, EPOCHS):
            before = vector.copy()
            train(model, words, [0], rate, **fixed)
            if np.linalg.norm(vector - before) < MOVED * np.linalg.norm(vector):
                break
        inferred: DenseVectors = vector[0]
        return inferred

    def unknown_words(self, texts: Sequence[str]) -> UnknownWords:
        """Return (unknown tokens, tokens, texts without a known token)."""
        known = self.model.wv
        return count_unknown(map(self.cut, texts), lambda word: word in known)
