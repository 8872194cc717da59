"""Paragraph vectors, PV-DM and PV-DBOW, out of a folder written by ``embassay train paragraphs``.

Le & Mikolov (2014), "Distributed representations of sentences and documents"; baselines of White et al. (2015),
section 3.2.2. The vector of a new text is inferred: the text's vector learns to predict its words, all else staying
as it is, until it moves less than 0.1 % in an epoch, 200 epochs at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from embassay.encoders.base import spec_of
from embassay.encoders.loaded import LoadedEncoder
from embassay.encoders.static.paragraph_model import EPOCHS, MOVED, ParagraphModel
from embassay.encoders.static.trained_folder import TrainedFolder
from embassay.encoders.tokens import CutWords, count_unknown, cutter
from embassay.errors import SpecError
from embassay.samples.base import Role
from embassay.store.paths import source_path
from embassay.types import Card, Runtime, content_hash
from embassay.vectors import DenseVectors

TARGET = "FOLDER"
EXTRA = "words"
REQUIRES = ("gensim",)


def create(target: str, runtime: Runtime, *, seed: int = 0) -> ParagraphsEncoder:
    """Look at the folder; the model is built when the first text is encoded.

    Parameters
    ----------
    target
        A folder written by ``embassay train paragraphs``.
    seed
        Seed of each text's initial vector, 0 or more.

    Raises
    ------
    SourceError
        If there is no such folder, or no finished model in it.
    SpecError
        For a negative seed.
    MissingExtraError
        If it was trained on nltk's words and nltk is not installed.
    """
    if seed < 0:
        raise SpecError(f"encoder 'paragraphs:{target}', option 'seed': must be 0 or more, is {seed}")
    folder = TrainedFolder.of(source_path(target), "paragraphs")
    cut = cutter(folder.settings.tokens, f"encoder 'paragraphs:{target}'")
    return ParagraphsEncoder(target, folder, runtime, cut, seed)


@dataclass(frozen=True, eq=False)
class ParagraphsEncoder(LoadedEncoder[ParagraphModel]):
    """An encoder that infers a vector for each text.

    Attributes
    ----------
    converged
        For each text so far, whether its inference converged.
    """

    name: str
    folder: TrainedFolder
    runtime: Runtime = field(repr=False)
    cut: CutWords = field(repr=False)
    seed: int
    converged: dict[str, bool] = field(default_factory=dict, repr=False)

    def load(self) -> ParagraphModel:
        """Read the folder."""
        return ParagraphModel.of(self.folder)

    @property
    def card(self) -> Card:
        """The properties of the encoder that the folder's record contains."""
        return Card(spec_of(f"paragraphs:{self.name}", {"seed": self.seed}))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the folder's files, of the constants of inference, and of the seed."""
        return content_hash(["paragraphs", self.folder.hashes(self.runtime.sha256), EPOCHS, MOVED, self.seed])

    def route(self) -> Mapping[str, object]:
        """Return facts about inference, for ``run.json``: the number of texts, and the share that did not converge."""
        if not self.converged:
            return {}
        texts = len(self.converged)
        converged = sum(self.converged.values())
        return {"inferred": texts, "epochs": EPOCHS, "stopped_by_limit": 1 - converged / texts}

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32; a text without a known word is a zero row.

        Raises
        ------
        EncoderError
            If a file of the folder is damaged.
        """
        model = self.model
        matrix = np.zeros((len(texts), model.gensim.vector_size), dtype=np.float32)
        for place, text in enumerate(texts):
            vector, converged = model.infer(self._words(text), text, self.seed)
            matrix[place] = vector
            self.converged[text] = converged
        return matrix

    def unknown_words(self, texts: Sequence[str]) -> tuple[int, int, int]:
        """Return (unknown tokens, tokens, texts without a known token)."""
        counts = self.model.counts
        return count_unknown(map(self._words, texts), lambda word: word in counts)

    def _words(self, text: str) -> list[str]:
        # As the training text was, so that words are found in the vocabulary.
        if self.folder.settings.lower:
            text = text.lower()
        return self.cut(text)
