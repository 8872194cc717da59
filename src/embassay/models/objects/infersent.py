"""InferSent from its released weights and a file of word vectors.

Conneau, Kiela, Schwenk, Barrault & Bordes (2017), "Supervised Learning of Universal Sentence Representations from
Natural Language Inference Data". A text's vector is the maximum over its own words. The released code of version 1
takes the padding of a batch into the maximum, so that its vectors depend on what a text is encoded with; here they do
not. A text without a known word is a zero vector, as for ``words:``; the released code encodes the signs before and
after it, and the one after it alone where neither has a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from embassay.core.errors import EncoderError, SourceError, SpecError
from embassay.core.samples.base import Role
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime, check_device, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import Route, UnknownWords, spec_of
from embassay.models.loaded import LoadedEncoder
from embassay.models.neural.library import available_device
from embassay.models.static.word_files import WordVectors, read, recognise
from embassay.models.tokens import count_unknown, need_nltk

if TYPE_CHECKING:
    import torch
    from torch.nn import LSTM

Version = Literal["1", "2"]
TARGET = "WEIGHTS"
EXTRA = "hf"
REQUIRES = ("torch", "transformers", "sentence_transformers")
ENDS = {"1": ("<s>", "</s>"), "2": ("<p>", "</p>")}
"""The signs before and after each text, of the model trained on GloVe (1) and on fastText (2)."""
NAMES = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
PREFIX = "enc_lstm."
"""The prefix of the names of the released weights."""
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
        Where to run: ``cpu``, ``cuda:0`` …; the run's device by default.
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
    check_device(device or runtime.device)
    weights, words = source_path(target), source_path(vectors)
    if not weights.is_file():
        raise SourceError("no such file", weights)
    recognise(words)
    need_nltk(place)
    options = {"vectors": vectors, "version": "" if version == "1" else version, "limit": limit}
    spec = spec_of(f"infersent:{target}", options)
    return InferSentEncoder(target, weights, words, runtime, spec, version, device or runtime.device, limit)


@dataclass(frozen=True)
class NetworkAndWords:
    """The network, and the vectors of the words that it reads."""

    network: InferSent
    words: WordVectors


@dataclass(frozen=True, eq=False)
class InferSentEncoder(LoadedEncoder[NetworkAndWords]):
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

    def route(self) -> Route:
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
        network, words = self.model.network, self.model.words
        rows_of = [[words.row[word] for word in cut(text, self.version) if word in words.row] for text in texts]
        # The signs before and after a text, where they have a vector.
        first, last = ([words.row[sign]] if sign in words.row else [] for sign in ENDS[self.version])
        vectors = np.zeros((len(texts), network.width), dtype=np.float32)
        with_words = [place for place, rows in enumerate(rows_of) if rows]
        # Texts of similar length share a batch, so that there is little padding.
        with_words.sort(key=lambda place: len(rows_of[place]))
        for start in range(0, len(with_words), BATCH):
            places = with_words[start : start + BATCH]
            vectors[places] = network([words.matrix[[*first, *rows_of[place], *last]] for place in places])
        return vectors

    def unknown_words(self, texts: Sequence[str]) -> UnknownWords:
        """Return (tokens without a vector, tokens, texts without any word vector)."""
        row = self.model.words.row
        return count_unknown((cut(text, self.version) for text in texts), lambda word: word in row)

    def load(self) -> NetworkAndWords:
        """Read words and network.

        Raises
        ------
        EncoderError, SourceError
            If a file cannot be read, or the word vectors are of another length than the network's.
        """
        words = read(self.words, self.limit, ENDS[self.version])
        network = InferSent.of(self.weights, available_device(self.device))
        dim = words.matrix.shape[1]
        if dim != network.dim:
            raise EncoderError(
                f"{self.words} has vectors of {dim} dimensions, but {self.weights} was trained with {network.dim}"
            )
        return NetworkAndWords(network, words)


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


@dataclass(frozen=True)
class InferSent:
    """The network with its weights, on a device: a BiLSTM whose outputs are pooled by their maximum (section 3.2).

    Attributes
    ----------
    lstm
        A ``torch.nn.LSTM`` of one layer, in both directions.
    dim
        Dimensions of a word vector.
    """

    lstm: LSTM
    dim: int

    @classmethod
    def of(cls, path: Path, device: str) -> InferSent:
        """Read released weights: a state dict of torch, loaded without running code.

        Raises
        ------
        EncoderError
            If the file is not a state dict of InferSent.
        """
        import torch

        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            # The library's own message recommends loading the file with code, so it is not shown.
            raise EncoderError(f"{path}: cannot be read as torch weights ({type(error).__name__})") from None
        weights = {}
        for name in (name + side for side in ("", "_reverse") for name in NAMES):
            if not isinstance(state, dict) or PREFIX + name not in state:
                raise EncoderError(f"{path}: not InferSent weights: {PREFIX}{name} is missing")
            weights[name] = state[PREFIX + name].float()
        hidden = weights["weight_hh_l0"].shape[-1]
        dim = weights["weight_ih_l0"].shape[-1]
        lstm = torch.nn.LSTM(dim, hidden, bidirectional=True)
        try:
            lstm.load_state_dict(weights)
        except RuntimeError:
            raise EncoderError(f"{path}: the shapes of the weights do not match; use the file as released") from None
        return cls(lstm.eval().to(device), int(dim))

    @property
    def width(self) -> int:
        """Dimensions of a sentence's vector."""
        return 2 * int(self.lstm.hidden_size)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.lstm.weight_ih_l0.device

    def __call__(self, sentences: Sequence[DenseVectors]) -> DenseVectors:
        """Return (n, 2h) vectors: the maximum over the outputs of each sentence's words.

        Parameters
        ----------
        sentences
            (words, d) word vectors of each sentence, at least one word.
        """
        import torch
        from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

        with torch.inference_mode():
            tensors = [torch.from_numpy(sentence).to(self.device) for sentence in sentences]
            packed = pack_sequence(tensors, enforce_sorted=False)
            # Padding is −∞, so it is never the maximum.
            outputs, _ = pad_packed_sequence(self.lstm(packed)[0], padding_value=-torch.inf)
            return np.asarray(outputs.amax(dim=0).cpu().numpy(), dtype=np.float32)
