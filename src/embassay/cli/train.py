"""``embassay train``: the commands that train an encoder on a text, and what they print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from embassay.cli.parameters import FINE, Flat
from embassay.core.errors import InputError, say
from embassay.training.options import ParagraphsOptions, UraeOptions, WordsOptions

if TYPE_CHECKING:
    from embassay.training.trained import Trained

train = App(
    name="train",
    help="Train an encoder on a text with one sentence per line; an interrupted training is continued.",
    help_format="plaintext",
)
Out = Annotated[Path, Parameter(name=("-o", "--out"), help="Folder to write.")]
Overwrite = Annotated[bool, Parameter(negative="", help="Replace a different model in the folder.")]
Options = WordsOptions | ParagraphsOptions | UraeOptions
# Made once here: a call in the head of a function would be made at its definition, which is easily misread.
WORDS, PARAGRAPHS, URAE = WordsOptions(), ParagraphsOptions(), UraeOptions()
Sentences = Annotated[Path, Parameter(help="File with one sentence per line.")]
Parses = Annotated[
    Path, Parameter(help="File with one sentence per line; with --trees brackets, one bracketed parse per line.")
]


@train.command(name="words")
def train_words(
    *, text: Sentences, out: Out, options: Annotated[WordsOptions, Flat] = WORDS, overwrite: Overwrite = False
) -> int:
    """Train word vectors (word2vec)."""
    from embassay.training import words

    return _train(words.train, text, out, options, overwrite)


@train.command(name="paragraphs")
def train_paragraphs(
    *,
    text: Sentences,
    out: Out,
    options: Annotated[ParagraphsOptions, Flat] = PARAGRAPHS,
    overwrite: Overwrite = False,
) -> int:
    """Train paragraph vectors (PV-DM, PV-DBOW)."""
    from embassay.training import paragraphs

    return _train(paragraphs.train, text, out, options, overwrite)


@train.command(name="urae")
def train_urae(
    *, text: Parses, out: Out, options: Annotated[UraeOptions, Flat] = URAE, overwrite: Overwrite = False
) -> int:
    """Train an unfolding recursive autoencoder."""
    from embassay.training import urae

    return _train(urae.train, text, out, options, overwrite)


def _train(trainer: Callable[..., Trained], text: Path, out: Path, options: Options, overwrite: bool) -> int:
    """Train, and print where the model is and how it is used."""
    from embassay.run.progress import Bar

    try:
        with Bar().training(f"train {out}") as advance:
            trained = trainer(text, out, options, overwrite=overwrite, advance=advance)
    except MemoryError:
        # The arrays grow with the words and the dimensions, all of which the user can change.
        raise InputError("not enough memory; use fewer words, a smaller --dim or a smaller --window") from None
    say(*trained.notes, f"model: {trained.folder}", f"assay it with: {trained.line}")
    return FINE
