"""Paragraph vectors: gensim's model out of arrays, and the vector of a new text.

Le & Mikolov (2014), "Distributed representations of sentences and documents": hierarchical softmax; PV-DM
concatenates the text's vector with those of the words around the predicted one, PV-DBOW predicts each word from the
text's vector alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from embassay.encoders.static.trained_folder import TrainedFolder
from embassay.randomness import generator
from embassay.vectors import DenseVectors

if TYPE_CHECKING:
    from gensim.models.doc2vec import Doc2Vec

ParagraphKind = Literal["dm", "dbow"]
EPOCHS = 200
"""Maximum number of epochs of inference."""
MOVED = 1e-3
"""Inference stops when an epoch moves the vector by less than this share of its length."""
RATE, LAST_RATE = 0.025, 0.0001
"""The learning rate of inference falls linearly from the first to the second value over the maximum of epochs."""


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


@dataclass(frozen=True, eq=False)
class ParagraphModel:
    """A trained model.

    Attributes
    ----------
    counts
        The number of occurrences of each word in the training text, in the order of the rows.
    gensim
        gensim's model, with the trained arrays.
    """

    kind: ParagraphKind
    counts: Mapping[str, int]
    gensim: Doc2Vec

    @classmethod
    def of(cls, folder: TrainedFolder) -> ParagraphModel:
        """Read a folder: ``words.npy`` (PV-DM only), ``hidden.npy``, and the record's ``vocabulary`` and ``counts``.

        Raises
        ------
        SourceError
            If an array has another shape than the settings say.
        """
        settings, words = folder.settings, folder.record.vocabulary
        kind: ParagraphKind = "dm" if settings.model == "dm" else "dbow"
        dim, window = settings.dim, settings.window
        count_of = dict(zip(words, folder.record.counts, strict=True))
        model = build(kind, dim, window, count_of)
        if kind == "dm":
            rows = len(words) + 1  # the null word
            model.syn1 = folder.array("hidden.npy", (rows, dim * (1 + 2 * window)))
            model.wv.vectors = folder.array("words.npy", (rows, dim))
        else:
            model.syn1 = folder.array("hidden.npy", (len(words), dim))
        return cls(kind, count_of, model)

    def infer(self, words: Sequence[str], text: str, seed: int) -> tuple[DenseVectors, bool]:
        """Return the (dim,) vector of a text, and whether it had converged when inference stopped.

        The initial vector is random; the text selects the random stream. Words and softmax stay fixed. Inference stops
        when an epoch changes the vector by less than :data:`MOVED` times its length, or after :data:`EPOCHS`. A text
        without a known word has the zero vector. gensim reads at most the first 10,000 words of a text.
        """
        from gensim.models.doc2vec_inner import train_document_dbow, train_document_dm_concat

        model = self.gensim
        dim = model.vector_size
        if not any(word in self.counts for word in words):
            return np.zeros(dim, dtype=np.float32), True
        uniform = generator(seed, "paragraph", text).random((1, dim), np.float32)
        vector = (uniform - np.float32(0.5)) / np.float32(dim)
        # gensim stores only addresses, so all these arrays must exist as long as the calls.
        factors = np.ones(1, dtype=np.float32)
        fixed = {"doctag_vectors": vector, "doctags_lockf": factors, "learn_words": False, "learn_hidden": False}
        work = np.zeros(model.layer1_size, dtype=np.float32)
        errors = np.zeros(model.layer1_size, dtype=np.float32)
        for epoch in range(EPOCHS):
            before = vector.copy()
            rate = RATE - (RATE - LAST_RATE) * epoch / (EPOCHS - 1)
            if self.kind == "dbow":
                train_document_dbow(model, words, [0], rate, work, **fixed)
            else:
                train_document_dm_concat(model, words, [0], rate, work, errors, **fixed)
            if np.linalg.norm(vector - before) < MOVED * np.linalg.norm(vector):
                return vector[0], True
        return vector[0], False
