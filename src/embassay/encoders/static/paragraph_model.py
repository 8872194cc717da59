"""Paragraph vectors: gensim's model out of arrays, and the vector of a new text.

Le & Mikolov (2014), "Distributed representations of sentences and documents": hierarchical softmax; PV-DM concatenates
the text's vector with those of the words around the one to tell, PV-DBOW tells each word from the text's vector alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.static.trained_folder import TrainedFolder
from embassay.errors import SourceError
from embassay.randomness import generator

Kind = Literal["dm", "dbow"]
EPOCHS = 200
"""The most epochs of inference."""
MOVED = 1e-3
"""Inference stops when an epoch moves the vector by less than this share of its length."""
RATE, LAST_RATE = 0.025, 0.0001
"""The learning rate of inference falls linearly from the one to the other over the most epochs."""
NULL = "\0"
"""The word that gensim puts before and after a text, for PV-DM."""


def build(kind: Kind, dim: int, window: int, counts: Mapping[str, int], seed: int = 0) -> Any:
    """Return an untrained gensim Doc2Vec over these words, in their order.

    Nothing in it depends on Python's hash or on the order of equal counts in a sort.
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


@dataclass(frozen=True)
class ParagraphModel:
    """A trained model that is built when it is first needed.

    Attributes
    ----------
    folder
        With ``words.npy`` (PV-DM only), ``hidden.npy``, and in its record ``vocabulary`` and ``counts``.
    """

    folder: TrainedFolder

    @cached_property
    def kind(self) -> Kind:
        """``dm`` or ``dbow``."""
        found = self.folder.settings.get("model")
        if found not in ("dm", "dbow"):
            raise self._wrong(f"is {found!r}, neither dm nor dbow", "model")
        return "dm" if found == "dm" else "dbow"

    def whole(self, name: str) -> int:
        """Return a setting that is a whole number, 1 or more.

        Raises
        ------
        SourceError
            If it is not.
        """
        found = self.folder.settings.get(name)
        if type(found) is not int or found < 1:
            raise self._wrong(f"is {found!r}, no whole number of 1 or more", name)
        return found

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each word occurred in the text that was learnt from, in the order of the rows.

        Raises
        ------
        SourceError
            If there are not as many counts as different words.
        """
        words, counts = self.folder.get("vocabulary", list), self.folder.get("counts", list)
        if len(words) != len(counts) or len(words) < 2 or not all(type(n) is int and n > 0 for n in counts):
            raise self._wrong(f"{len(words)} words and {len(counts)} counts", "counts")
        if not all(isinstance(word, str) for word in words) or len(set(words)) != len(words):
            raise self._wrong("has a word twice, or one that is no text", "vocabulary")
        return dict(zip(words, counts, strict=True))

    @cached_property
    def loaded(self) -> Any:
        """gensim's model, with the trained arrays.

        Raises
        ------
        SourceError
            If an array does not fit the vocabulary and the settings.
        """
        dim, window = self.whole("dim"), self.whole("window")
        null = int(self.kind == "dm")
        size = len(self.counts) + null
        hidden = self.folder.array("hidden.npy", (size, dim * (1 + 2 * window) if null else dim))
        vectors = self.folder.array("words.npy", (size, dim)) if null else None
        model = build(self.kind, dim, window, self.counts)
        model.syn1 = hidden
        if vectors is not None:
            model.wv.vectors = vectors
        return model

    def infer(self, words: Sequence[str], text: str, seed: int) -> tuple[NDArray[np.float32], bool]:
        """Return the (dim,) vector of a text, and whether it had come to rest when inference stopped.

        The beginning is drawn from a stream named by the text; words and softmax stay as they are. Each epoch goes
        over the known words once; it ends as :data:`MOVED` and :data:`EPOCHS` say. A text without a known word has the
        zero vector. Of a text of more than 10,000 words gensim reads the first 10,000.
        """
        from gensim.models.doc2vec_inner import train_document_dbow, train_document_dm_concat

        model = self.loaded
        dim = model.vector_size
        if not any(word in self.counts for word in words):
            return np.zeros(dim, dtype=np.float32), True
        vector = (generator(seed, "paragraph", text).random((1, dim), np.float32) - np.float32(0.5)) / np.float32(dim)
        # gensim keeps addresses only: the arrays have to live as long as the call.
        own = {"doctag_vectors": vector, "doctags_lockf": np.ones(1, dtype=np.float32)}
        work, between = (np.zeros(model.layer1_size, dtype=np.float32) for _ in range(2))
        step = train_document_dbow if self.kind == "dbow" else train_document_dm_concat
        spare = (work,) if self.kind == "dbow" else (work, between)
        for epoch in range(EPOCHS):
            before = vector.copy()
            rate = RATE - (RATE - LAST_RATE) * epoch / (EPOCHS - 1)
            step(model, words, [0], rate, *spare, learn_words=False, learn_hidden=False, **own)
            if np.linalg.norm(vector - before) < MOVED * np.linalg.norm(vector):
                return vector[0], True
        return vector[0], False

    def _wrong(self, problem: str, field: str) -> SourceError:
        return SourceError(problem, self.folder.path / "paragraphs.json", field=field)
