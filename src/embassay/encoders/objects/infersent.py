"""InferSent from its released weights and a file of word vectors.

Conneau, Kiela, Schwenk, Barrault & Bordes (2017), "Supervised Learning of Universal Sentence Representations from
Natural Language Inference Data". A text's vector is the maximum over its own words. The released code of version 1
takes the padding of a batch into the maximum, so that its vectors depend on what a text is encoded with; here they do
not. A text without a known word is a zero vector, as for ``words:``; the released code encodes the signs before and
after it, and the one after it alone where neither has a vector.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from embassay.encoders.base import spec_of
from embassay.encoders.loaded import LoadedEncoder
from embassay.encoders.neural.devices import available_device, check_place
from embassay.encoders.objects.infersent_model import InferSent
from embassay.encoders.static.word_files import WordVectors, read, recognise
from embassay.encoders.tokens import count_unknown
from embassay.errors import EncoderError, MissingExtraError, SourceError, SpecError
from embassay.samples.base import Role
from embassay.store.paths import source_path
from embassay.types import Card, Runtime, content_hash
from embassay.vectors import DenseVectors

Version = Literal["1", "2"]
TARGET = "WEIGHTS"
EXTRA = "hf"
REQUIRES = ("torch", "transformers", "sentence_transformers")
ENDS = {"1": ("<s>", "</s>"), "2": ("<p>", "</p>")}
"""The signs before and after each text, of the model trained on GloVe (1) and on fastText (2)."""
BATCH = 64
"""Texts that go through the network together, as released."""


def create(
    target: str,
    runtime: Runtime,
    *,
    vectors: str = "",
    version: Version = "1",
    device: str = "",
    limit: int = 0,
) -> InferSentEncoder:
    """Look at the files; they are read when the first text is encoded.

    Parameters
    ----------
    target
        The released weights, ``infersent1.pkl`` or ``infersent2.pkl``.
    vectors
        The word vectors that they were trained with: GloVe 840B (version 1), fastText crawl (version 2).
    version
        ``1`` or ``2``: which signs stand before and after a text, and how words are cut.
    device
        Where to run: ``cpu``, ``cuda:0`` …; the run's device by default. Of several the first is taken.
    limit
        Read the first words of the file, which are mostly the most frequent, and the two signs; 0 for all.

    Raises
    ------
    SpecError
        Without ``vectors=``, or for a negative limit.
    SourceError
        If a file is not there, or the one of words does not begin as word vectors do.
    MissingExtraError
        If nltk, which cuts the words, is not installed.
    """
    place = f"encoder 'infersent:{target}'"
    if not vectors:
        raise SpecError(f"{place}: set vectors=FILE, the word vectors that the model was trained with (GloVe 840B)")
    if limit < 0:
        raise SpecError(f"{place}, option 'limit': must be 1 or more, or 0 for all; is {limit}")
    check_place(device or runtime.device, "auto", ())
    weights, words = source_path(target), source_path(vectors)
    if not weights.is_file():
        raise SourceError("no such file", weights)
    recognise(words)
    if importlib.util.find_spec("nltk") is None:
        raise MissingExtraError(place, "words")
    options = {"vectors": vectors, "version": "" if version == "1" else version, "limit": limit}
    spec = spec_of(f"infersent:{target}", options)
    return InferSentEncoder(target, weights, words, runtime, spec, version, device or runtime.device, limit)


@dataclass(frozen=True)
class Loaded:
    """The network, and the vectors of the words that it reads."""

    network: InferSent
    words: WordVectors


@dataclass(frozen=True, eq=False)
class InferSentEncoder(LoadedEncoder[Loaded]):
    """A network and word vectors that are read when they are first needed."""

    name: str
    weights: Path
    words: Path
    runtime: Runtime = field(repr=False)
    spec: str
    version: Version = "1"
    device: str = "auto"
    limit: int = 0

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without reading the files."""
        return Card(self.spec)

    def route(self) -> Mapping[str, object]:
        """Return facts about the files, for ``run.json``; empty before the first text is encoded."""
        if not self.is_loaded:
            return {}
        words = self.model.words
        notes = list(words.notes)
        missing = [sign for sign in ENDS[self.version] if sign not in words.row]
        if missing:
            notes.append(f"the word vectors lack {' and '.join(missing)}, which surrounded each text in training")
        return {"device": str(self.model.network.device), "words": len(words.row), "notes": notes}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content of both files and of all options that change vectors."""
        files = [self.runtime.sha256(path) for path in (self.weights, self.words)]
        return content_hash(["infersent", *files, self.version, self.limit])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, 2h) float32, h numbers of each direction; a text without a known word is a zero row.

        Raises
        ------
        EncoderError
            If a file cannot be read, or the word vectors are of another length than the network's.
        """
        network = self.model.network
        words_of = [self._known_words(text) for text in texts]
        vectors = np.zeros((len(texts), network.width), dtype=np.float32)
        with_words = [place for place, words in enumerate(words_of) if words]
        # Texts of similar length share a batch, so that there is little padding.
        with_words.sort(key=lambda place: len(words_of[place]))
        for start in range(0, len(with_words), BATCH):
            places = with_words[start : start + BATCH]
            batch = [self._with_ends(words_of[place]) for place in places]
            vectors[places] = network(batch)
        return vectors

    def unknown_words(self, texts: Sequence[str]) -> tuple[int, int, int]:
        """Return (tokens without a vector, tokens, texts without any word vector)."""
        row = self.model.words.row
        return count_unknown((cut(text, self.version) for text in texts), lambda word: word in row)

    def load(self) -> Loaded:
        """Read words and network.

        Raises
        ------
        EncoderError, SourceError
            If a file cannot be read, or the word vectors are of another length than the network's.
        """
        words = read(self.words, self.limit, ENDS[self.version])
        network = InferSent.of(self.weights, available_device(self.device.partition(",")[0]))
        dim = words.matrix.shape[1]
        if dim != network.dim:
            raise EncoderError(
                f"{self.words} has vectors of {dim} dimensions, but {self.weights} was trained with {network.dim}"
            )
        return Loaded(network, words)

    def _known_words(self, text: str) -> list[str]:
        """Return the words of a text that have a vector."""
        row = self.model.words.row
        return [word for word in cut(text, self.version) if word in row]

    def _with_ends(self, words: Sequence[str]) -> DenseVectors:
        """Return the (words, d) vectors of a text, with the signs before and after it that have a vector."""
        vectors = self.model.words
        first, last = ENDS[self.version]
        rows = [vectors.row[word] for word in (first, *words, last) if word in vectors.row]
        return vectors.matrix[rows]


def cut(text: str, version: Version) -> list[str]:
    """Return a text's words as released: nltk's ``word_tokenize``, after sentencex has split the sentences.

    Version 2 moves the n of *n't* to the word before it.
    """
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from sentencex import segment

    tokenizer = NLTKWordTokenizer()
    words: list[str] = []
    for sentence in segment("en", text):
        words += tokenizer.tokenize(sentence)
    if version == "2":
        words = " ".join(words).replace(" n't ", "n 't ").split()
    return words
