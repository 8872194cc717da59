"""``embassay train``: the commands that train an encoder on a text, and what they print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from embassay.cli.parameters import FINE, Flat
from embassay.core.errors import InputError, say
from embassay.core.store.paths import output_path, source_path
from embassay.training.options import ParagraphsOptions, TextOptions, UraeOptions, WordsOptions

train = App(
    name="train",
    help="Train an encoder on a text with one sentence per line; an interrupted training is continued.",
    help_format="plaintext",
)
Out = Annotated[Path, Parameter(name=("-o", "--out"), help="Folder to write.")]
Overwrite = Annotated[bool, Parameter(negative="", help="Replace a different model in the folder.")]
# Made once here: a call in the head of a function would be made at its definition, which is easily misread.
WORDS, PARAGRAPHS, URAE = WordsOptions(), ParagraphsOptions(), UraeOptions()
Sentences = Annotated[Path, Parameter(help="File with one sentence per line.")]


@train.command(name="words")
def train_words(
    *, text: Sentences, out: Out, options: Annotated[WordsOptions, Flat] = WORDS, overwrite: Overwrite = False
) -> int:
    """Train word vectors (word2vec)."""
    return _train(text, out, options, overwrite)


@train.command(name="paragraphs")
def train_paragraphs(
    *,
    text: Sentences,
    out: Out,
    options: Annotated[ParagraphsOptions, Flat] = PARAGRAPHS,
    overwrite: Overwrite = False,
) -> int:
    """Train paragraph vectors (PV-DM, PV-DBOW)."""
    return _train(text, out, options, overwrite)


@train.command(name="urae")
def train_urae(
    *, text: Sentences, out: Out, options: Annotated[UraeOptions, Flat] = URAE, overwrite: Overwrite = False
) -> int:
    """Train an unfolding recursive autoencoder."""
    return _train(text, out, options, overwrite)


def _train(text: Path, out: Path, options: TextOptions, overwrite: bool) -> int:
    """Train, and print where the model is and how it is used."""
    from embassay.run.progress import progress
    from embassay.training import train as training

    try:
        with progress(f"train {out}") as advance:
            trained = training.train(source_path(text), output_path(out), options, overwrite=overwrite, advance=advance)
    except MemoryError:
        # The arrays grow with the words and the dimensions, all of which the user can change.
        raise InputError("not enough memory; use fewer words, a smaller --dim or a smaller --window") from None
    say(*trained.notes, f"model: {trained.folder}", f"assay it with: {trained.line}")
    return FINE
