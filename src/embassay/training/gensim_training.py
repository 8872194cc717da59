"""What the trainers of word and paragraph vectors share: the text, the folder, and gensim's epochs.

Each epoch runs on one thread, with its own random stream and its part of the falling learning rate. So the same text,
options and versions give the same bytes, whether a training was interrupted or not.
"""

from __future__ import annotations

import importlib.util
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import InputError, MissingExtraError
from embassay.core.randomness import generator
from embassay.models.neural.library import quiet_loggers
from embassay.training.options import ParagraphsOptions, WordsOptions
from embassay.training.text import TrainingVocabulary, count_words, cut_sentences, read_sentences
from embassay.training.text_folder import TextFolder, check_options
from embassay.training.trained import Advance, Trained

if TYPE_CHECKING:
    from gensim.models import Word2Vec

RATE, LAST_RATE = 0.025, 0.0001
"""The learning rate at the start and at the end; it falls linearly in between."""


@dataclass(frozen=True)
class GensimTraining:
    """One training: its options, its text and its folder.

    Attributes
    ----------
    sentences
        The words of each sentence.
    seed
        The seed of all random streams.
    """

    kind: Literal["words", "paragraphs"]
    sentences: list[list[str]]
    vocabulary: TrainingVocabulary
    folder: TextFolder
    epochs: int
    seed: int

    @classmethod
    def prepare(
        cls, kind: Literal["words", "paragraphs"], text: Path, out: Path, options: WordsOptions | ParagraphsOptions
    ) -> GensimTraining:
        """Check the options and read the text; nothing is written.

        Raises
        ------
        InputError
            For a text or an option that cannot be used; if gensim is not installed.
        """
        command = f"embassay train {kind}"
        check_options(command, options)
        _require_gensim(command)
        source = read_sentences(text)
        sentences = cut_sentences(source, options.tokens, command)
        vocabulary = count_words(source, sentences, options.min_count)
        # The record contains the chosen min_count if the user gave none.
        settings = {**asdict(options), "min_count": vocabulary.min_count, "lower": True}
        made_with = {name: version(name) for name in ("gensim", "numpy", "scipy")}
        folder = TextFolder(out, kind, settings, source, made_with)
        return cls(kind, sentences, vocabulary, folder, options.epochs, options.seed)

    @property
    def trained(self) -> Trained:
        """The result of the training."""
        return self.folder.trained(self.vocabulary.notes)

    @property
    def facts(self) -> dict[str, int]:
        """The number of tokens in the text, and how many of them are in the vocabulary."""
        return {"tokens": self.vocabulary.tokens, "kept": sum(self.vocabulary.counts.values())}

    def seed_of(self, purpose: str) -> int:
        """Return a seed for gensim, below 2**32."""
        return int(generator(self.seed, f"train {self.kind}", purpose).integers(2**32))

    def run(
        self, model: Word2Vec, items: Sequence[object], arrays: Mapping[str, NDArray[np.float32]], advance: Advance
    ) -> None:
        """Train the remaining epochs, with a checkpoint after each.

        Parameters
        ----------
        items
            The input of gensim: lists of words, or tagged documents.
        arrays
            The arrays of the model that training changes.
        """
        done, kept = self.folder.resume()
        if done:
            for name, array in arrays.items():
                np.copyto(array, kept[name])
        for epoch in range(done, self.epochs):
            self._train_epoch(model, items, epoch, advance)
            self.folder.keep(epoch + 1, arrays)

    def _train_epoch(self, model: Word2Vec, items: Sequence[object], epoch: int, advance: Advance) -> None:
        """Train one epoch. The outcome depends only on the model's arrays, the epoch and the seed."""
        # gensim draws from the old interface of numpy.
        model.random = np.random.RandomState(self.seed_of(f"epoch {epoch}"))
        step = (RATE - LAST_RATE) / self.epochs
        total = self.epochs * len(items)
        # gensim warns about one call of ``train`` per epoch, which is intended here.
        with quiet_loggers("gensim"):
            model.train(
                items,
                total_examples=len(items),
                epochs=1,
                start_alpha=RATE - step * epoch,
                end_alpha=RATE - step * (epoch + 1),
            )
        advance((epoch + 1) * len(items), total)


def hash_word(word: str) -> int:
    """Return a hash that is the same in every process, unlike Python's built-in hash."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def _require_gensim(command: str) -> None:
    if importlib.util.find_spec("gensim") is not None:
        return
    if sys.version_info >= (3, 14):
        raise InputError(f"{command} needs gensim, which is not available for Python 3.14; use Python 3.13")
    raise MissingExtraError(command, "words")
