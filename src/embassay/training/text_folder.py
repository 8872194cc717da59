"""The folder of a training on a text: arrays after the last complete epoch, then the finished model.

The model is ``KIND.json`` with the files that it names. Nothing is pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from embassay.core.errors import SpecError
from embassay.core.store.arrays import read_arrays
from embassay.core.store.canonical import write_with
from embassay.core.store.paths import output_path
from embassay.models.checks import check_whole
from embassay.training.model_folder import ModelFolder
from embassay.training.options import ParagraphsOptions, UraeOptions, WordsOptions
from embassay.training.text import Sentences
from embassay.training.trained import THERE, Trained

CHECKPOINT = "checkpoint.npz"


class TextFolder(ModelFolder):
    """The folder of one training on a text.

    Parameters
    ----------
    kind
        The encoder's scheme: words, paragraphs or urae.
    settings
        All options as JSON values. Together with the text they determine the model.
    """

    def __init__(
        self, path: Path, kind: str, settings: Mapping[str, object], text: Sentences, made_with: Mapping[str, str]
    ):
        identity = {"kind": kind, "settings": settings, "text": text.sha256}
        super().__init__(output_path(path), f"{kind}.json", identity, made_with)
        self._sentences = len(text.sentences)
        self._kind = kind

    def trained(self, notes: tuple[str, ...] = (THERE,)) -> Trained:
        """Return the result of the training; by default that of a model which was already there."""
        return Trained(self.path, f"{self._kind}:{self.path}", notes)

    def resume(self) -> tuple[int, dict[str, np.ndarray]]:
        """Return the number of complete epochs and the arrays after the last one; (0, {}) without a checkpoint."""
        # A checkpoint that cannot be read costs only the epochs that it had: training starts again.
        arrays = read_arrays(self.work / CHECKPOINT)
        return int(arrays.pop("epochs", 0)), arrays

    def keep(self, epochs: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Write the checkpoint after an epoch whole or not at all.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        content: dict[str, Any] = {"epochs": np.array(epochs), **arrays}
        write_with(self.work / CHECKPOINT, lambda file: np.savez(file, **content))

    def finish(self, write_model: Callable[[Path], object], facts: Mapping[str, object]) -> None:
        """Write the model and ``KIND.json`` with its settings, the names of its files and these facts.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        super().finish(write_model, {**facts, **self.identity, "sentences": self._sentences})


def save_arrays(folder: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write each array as ``NAME.npy``."""
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values, allow_pickle=False)


def check_options(command: str, options: WordsOptions | ParagraphsOptions | UraeOptions) -> None:
    """Raise SpecError for a number of something below 1, or a negative seed; the message names the command."""
    counts = ("dim", "window", "min_count", "epochs", "negative")
    check_whole(command, **{name: value for name, value in vars(options).items() if name in counts})
    if options.seed < 0:
        raise SpecError(f"{command}, option 'seed': must be 0 or more, is {options.seed}")
