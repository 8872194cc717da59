"""InferSent from its released weights and a file of word vectors.

Conneau, Kiela, Schwenk, Barrault & Bordes (2017), "Supervised Learning of Universal Sentence Representations from
Natural Language Inference Data"; version 1, trained on GloVe. A text's vector is the maximum over its own words. The
released code takes the padding of a batch into the maximum, so that its vectors depend on what a text is encoded with;
here they do not. A text without a known word is a zero vector, as for ``words:``; the released code encodes the signs
before and after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import EncoderError, SourceError, SpecError
from embassay.core.samples.base import Role
from embassay.core.store.hashes import sha256_of
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import UnknownWords, spec_of
from embassay.models.loaded import LoadedEncoder
from embassay.models.neural.library import available_device
from embassay.models.static.word_files import WordVectors, read, recognise
from embassay.models.tokens import count_unknown, need_nltk

if TYPE_CHECKING:
    from torch.nn import LSTM

TARGET = "WEIGHTS"
EXTRA = "hf"
REQUIRES = ("torch", "transformers", "sentence_transformers")
FIRST, LAST = "<s>", "</s>"
"""The signs before and after each text."""
PREFIX = "enc_lstm."
"""The prefix of the names of the released weights."""


def create(target: str, runtime: Runtime, *, vectors: str = "") -> InferSentEncoder:
    """Look at the files; they are read when the first text is encoded.

    Parameters
    ----------
    target
        The released weights, ``infersent1.pkl``.
    vectors
        The word vectors that they were trained with, GloVe 840B.

    Raises
    ------
    SpecError
        Without ``vectors=``.
    SourceError
        If a file is not there, or the one of words does not begin as word vectors do.
    MissingExtraError
        If nltk, which cuts the words, is not installed.
    """
    place = f"encoder 'infersent:{target}'"
    if not vectors:
        raise SpecError(f"{place}: set vectors=FILE, the word vectors that the model was trained with (GloVe 840B)")
    weights, words = source_path(target), source_path(vectors)
    if not weights.is_file():
        raise SourceError("no such file", weights)
    recognise(words)
    need_nltk(place)
    card = Card(spec_of(f"infersent:{target}", {"vectors": vectors}))
    return InferSentEncoder(target, card, weights, words, runtime)


@dataclass(frozen=True, eq=False)
class InferSentEncoder(LoadedEncoder[tuple["LSTM", WordVectors]]):
    """A BiLSTM whose outputs are pooled by their maximum (section 3.2), and the vectors of the words that it reads."""

    name: str
    card: Card = field(repr=False)
    weights: Path
    words: Path
    runtime: Runtime = field(repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content of both files."""
        files = [sha256_of(path) for path in (self.weights, self.words)]
        return content_hash(["infersent", *files])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, 2h) float32, h numbers of each direction; a text without a known word is a zero row.

        Raises
        ------
        EncoderError
            If a file cannot be read, or the word vectors are of another length than the network's.
        """
        import torch

        network, words = self.model
        vectors = np.zeros((len(texts), 2 * network.hidden_size), dtype=np.float32)
        # One text at a time, so that there is no padding.
        for place, text in enumerate(texts):
            known = [word for word in cut(text) if word in words.row]
            if known:
                rows = [words.row[word] for word in (FIRST, *known, LAST) if word in words.row]
                with torch.inference_mode():
                    sentence = torch.from_numpy(words.matrix[rows]).to(network.weight_ih_l0.device)
                    vectors[place] = network(sentence)[0].amax(dim=0).cpu().numpy()
        return vectors

    def unknown_words(self, texts: Sequence[str]) -> UnknownWords:
        """Return (tokens without a vector, tokens, texts without any word vector)."""
        _, words = self.model
        return count_unknown(map(cut, texts), lambda word: word in words.row)

    def load(self) -> tuple[LSTM, WordVectors]:
        """Read words and network; no code of the file of weights is run.

        Raises
        ------
        EncoderError, SourceError
            If a file cannot be read, or the word vectors are of another length than the network's.
        """
        import torch

        words = read(self.words)
        dim = words.matrix.shape[1]
        try:
            state = torch.load(self.weights, map_location="cpu", weights_only=True)
            weights = {name.removeprefix(PREFIX): state[name].float() for name in state if name.startswith(PREFIX)}
            network = torch.nn.LSTM(dim, weights["weight_hh_l0"].shape[1], bidirectional=True)
            network.load_state_dict(weights)
        except Exception as error:
            # The library's own message recommends loading the file with code, so it is not shown.
            raise EncoderError(
                f"{self.weights}: not the released weights of InferSent, or not those that were trained with word "
                f"vectors of {dim} dimensions, as {self.words} has ({type(error).__name__})"
            ) from None
        return network.eval().to(available_device(self.runtime.device)), words


def cut(text: str) -> list[str]:
    """Return a text's words as released: nltk's ``word_tokenize``, after sentencex has split the sentences."""
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from sentencex import segment

    words: list[str] = []
    for sentence in segment("en", text):
        words += NLTKWordTokenizer().tokenize(sentence)
    return words
