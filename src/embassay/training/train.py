"""Training an encoder on a text: word vectors, paragraph vectors, an autoencoder."""

from __future__ import annotations

from pathlib import Path

from embassay.training.options import TextOptions, UraeOptions
from embassay.training.stage import Advance, Trained


def train(text: Path, out: Path, options: TextOptions, *, overwrite: bool = False, advance: Advance) -> Trained:
    """Train the encoder that the options are of. An interrupted training resumes after its last complete epoch.

    Raises
    ------
    InputError
        For a text, a folder or an option that cannot be used.
    """
    # Imported here, because each trainer needs another library.
    if isinstance(options, UraeOptions):
        from embassay.training import urae

        return urae.train(text, out, options, overwrite=overwrite, advance=advance)
    from embassay.training import gensim_training

    return gensim_training.train(text, out, options, overwrite=overwrite, advance=advance)
