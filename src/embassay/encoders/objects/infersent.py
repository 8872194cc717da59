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
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.neural.shared import check_place, there
from embassay.encoders.objects.infersent_model import InferSent
from embassay.encoders.static.word_files import WordVectors, read, recognise
from embassay.errors import EncoderError, MissingExtraError, SourceError, SpecError
from embassay.samples.base import Role
from embassay.store.paths import source_path
from embassay.types import Card, Runtime, content_hash

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
    version: Literal["1", "2"] = "1",
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
        Read so many words, the first of the file, which are mostly the most frequent, and the two signs; 0 for all.

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
        raise SpecError(f"{place}: say vectors=FILE, the word vectors that it was trained with (GloVe 840B)")
    if limit < 0:
        raise SpecError(f"{place}, option 'limit': must be 1 or more, or 0 for all; is {limit}")
    check_place(device or runtime.device, "auto", ())
    weights, words = source_path(target), source_path(vectors)
    if not weights.is_file():
        raise SourceError("no such file", weights)
    recognise(words)
    if importlib.util.find_spec("nltk") is None:
        raise MissingExtraError(place, "words")
    given = {"vectors": vectors, "version": "" if version == "1" else version, "limit": limit or ""}
    options = {name: str(value) for name, value in given.items() if value}
    return InferSentEncoder(target, weights, words, runtime, version, device or runtime.device, limit, options)


@dataclass(frozen=True, eq=False)
class InferSentEncoder:
    """A network and word vectors that are read when they are first needed."""

    name: str
    weights: Path
    words: Path
    runtime: Runtime = field(repr=False)
    version: Literal["1", "2"] = "1"
    device: str = "auto"
    limit: int = 0
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def card(self) -> Card:
        """What is known without reading the files."""
        return Card(",".join([f"infersent:{self.name}", *(f"{k}={v}" for k, v in self.given.items())]))

    @property
    def route(self) -> Mapping[str, Any]:
        """What was read, for ``run.json``; nothing before the first text is encoded."""
        if "_vectors" not in vars(self):
            return {}
        network = vars(self).get("_network")
        device = str(network.device) if network else self.device
        notes = [*self._vectors.notes, *self._missing_signs()]
        return {"device": device, "words": len(self._vectors.row), "notes": notes}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of both files' content and of what changes the vectors."""
        files = [self.runtime.sha256(path) for path in (self.weights, self.words)]
        return content_hash(["infersent", *files, self.version, self.limit])

    def fit(self, texts: Sequence[str]) -> InferSentEncoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> NDArray[np.float32]:
        """Return (n, 2h) float32, h numbers of each direction; a text without a known word is a zero row.

        Raises
        ------
        EncoderError
            If a file cannot be read, or the word vectors are of another length than the network's.
        """
        network = self._network
        known = [self._known(text) for text in texts]
        found = np.zeros((len(texts), network.width), dtype=np.float32)
        # Texts of about one length together: little is padded.
        order = sorted((n for n, words in enumerate(known) if words), key=lambda n: len(known[n]))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            found[places] = network([self._with_ends(known[n]) for n in places])
        return found

    def unknown_words(self, texts: Sequence[str]) -> tuple[int, int, int]:
        """Return how many tokens of the texts have no vector, how many there are, and how many texts have no other."""
        found = [(len(self._known(text)), len(cut(text, self.version))) for text in texts]
        tokens = sum(total for _, total in found)
        return tokens - sum(known for known, _ in found), tokens, sum(not known for known, _ in found)

    def release(self) -> None:
        """Let go of network and words; the next text reads them again."""
        for name in ("_network", "_vectors"):
            vars(self).pop(name, None)

    def _known(self, text: str) -> list[str]:
        return [word for word in cut(text, self.version) if word in self._vectors.row]

    def _with_ends(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the (words, d) vectors of a text, with the signs before and after it where they have some."""
        first, last = ENDS[self.version]
        row = self._vectors.row
        return self._vectors.matrix[[row[word] for word in (first, *words, last) if word in row]]

    def _missing_signs(self) -> list[str]:
        """Say which signs have no vector."""
        lost = [sign for sign in ENDS[self.version] if sign not in self._vectors.row]
        which = " and ".join(lost)
        return [f"there are no vectors of {which}, which stood around each text in training"] if lost else []

    @cached_property
    def _vectors(self) -> WordVectors:
        try:
            return read(self.words, self.limit, ENDS[self.version])
        except SourceError as error:
            raise EncoderError(str(error)) from None

    @cached_property
    def _network(self) -> InferSent:
        network = InferSent.of(self.weights, there(self.device.partition(",")[0]))
        if (dim := self._vectors.matrix.shape[1]) != network.dim:
            raise EncoderError(
                f"{self.words} has vectors of {dim} numbers, {self.weights} was trained with {network.dim}"
            )
        return network


def cut(text: str, version: Literal["1", "2"]) -> list[str]:
    """Return a text's words as released: nltk's ``word_tokenize``, whose sentences are told by sentencex here.

    Version 2 moves the n of *n't* to the word before it.
    """
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from sentencex import segment

    tokenizer = NLTKWordTokenizer()
    words: list[str] = [word for sentence in segment("en", text) for word in tokenizer.tokenize(sentence)]
    return " ".join(words).replace(" n't ", "n 't ").split() if version == "2" else words
