"""InferSent from its released weights and a file of word vectors.

Conneau, Kiela, Schwenk, Barrault & Bordes (2017), "Supervised Learning of Universal Sentence Representations from
Natural Language Inference Data"; version 1, trained on GloVe. A text's vector is the maximum over its own words. The
released code takes the padding of a batch into the maximum, so that its vectors depend on what a text is encoded with;
here they do not. A text without a known word is a zero vector, as for ``words:``; the released code encodes the signs
before and after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from embassay.core.errors import EncoderError, SourceError, SpecError
from embassay.core.samples.base import Role
from embassay.core.store.hashes import sha256_of
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime
from embassay.models.base import UnknownWords
from embassay.models.neural.library import available_device
from embassay.models.objects.calls import CallEncoder
from embassay.models.static.word_files import read, recognise
from embassay.models.tokens import count_unknown, need_nltk

TARGET = "WEIGHTS"
EXTRA = "hf"
REQUIRES = ("torch",)


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
    if not vectors:
        raise SpecError("infersent: set vectors=FILE, the word vectors that the model was trained with (GloVe 840B)")
    weights, words = source_path(target), source_path(vectors)
    if not weights.is_file():
        raise SourceError("no such file", weights)
    recognise(words)
    need_nltk("infersent")
    return InferSentEncoder(
        target,
        Card(f"infersent:{target},vectors={vectors}"),
        lambda: [sha256_of(weights), sha256_of(words)],
        lambda: Network(weights, words, runtime.device),
    )


class InferSentEncoder(CallEncoder):
    """An encoder that calls a :class:`Network`."""

    def unknown_words(self, texts: Sequence[str]) -> UnknownWords:
        """Return (tokens without a vector, tokens, texts without any word vector)."""
        return count_unknown(map(cut, texts), cast("Network", self.model).words.row.__contains__)


class Network:
    """An LSTM in two directions whose outputs are pooled by their maximum (section 3.2), and the words that it reads.

    Raises
    ------
    EncoderError, SourceError
        If a file cannot be read, or the word vectors are of another length than the network's.
    """

    def __init__(self, weights: Path, words: Path, device: str):
        import torch

        self.words = read(words)
        dim = self.words.matrix.shape[1]
        try:
            # No code of the file is run.
            state = torch.load(weights, map_location="cpu", weights_only=True)
            tensors = {name.removeprefix("enc_lstm."): tensor for name, tensor in state.items()}
            self.lstm = torch.nn.LSTM(dim, tensors["weight_hh_l0"].shape[1], bidirectional=True)
            self.lstm.load_state_dict(tensors)
        except Exception:
            # The library's own message recommends loading the file with code, so it is not shown.
            raise EncoderError(
                f"{weights}: not the released weights of InferSent, or not those trained with word vectors of {dim} "
                "dimensions"
            ) from None
        self.lstm.requires_grad_(False).to(available_device(device))

    def __call__(self, texts: list[str], role: Role) -> object:
        """Return a tensor, (n, 2h) float32, h numbers of each direction; a text without a known word is a zero row."""
        row, weights = self.words.row, self.lstm.weight_hh_l0
        vectors = weights.new_zeros(len(texts), 2 * self.lstm.hidden_size)
        # One text at a time, so that there is no padding.
        for place, words in enumerate(map(cut, texts)):
            if not row.keys().isdisjoint(words):
                rows = [row[word] for word in ("<s>", *words, "</s>") if word in row]
                states, _ = self.lstm(weights.new_tensor(self.words.matrix[rows]))
                vectors[place] = states.amax(dim=0)
        return vectors


def cut(text: str) -> list[str]:
    """Return a text's words as released: nltk's ``word_tokenize``, after sentencex has split the sentences."""
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from sentencex import segment

    return [word for sentence in segment("en", text) for word in NLTKWordTokenizer().tokenize(sentence)]
