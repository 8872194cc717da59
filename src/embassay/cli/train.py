"""``embassay train``: the commands that train an encoder on a text, and what they say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from embassay.errors import InputError

if TYPE_CHECKING:
    from embassay.training.shared import Trained

FINE = 0

train = App(
    name="train",
    help="Train an encoder on a text of one sentence a line; a training that was stopped goes on.",
    help_format="plaintext",
)
Out = Annotated[Path, Parameter(name=("-o", "--out"))]
Overwrite = Annotated[bool, Parameter(negative="")]


@train.command(name="words")
def train_words(
    *,
    text: Path,
    out: Out,
    model: Literal["skipgram", "cbow"] = "skipgram",
    dim: int = 300,
    window: int = 5,
    min_count: int | None = None,
    epochs: int = 5,
    negative: int = 5,
    tokens: Literal["words", "treebank"] = "words",
    seed: int = 0,
    overwrite: Overwrite = False,
) -> int:
    """Learn a vector for each word (word2vec).

    Parameters
    ----------
    text
        File with one sentence a line.
    out
        Folder to write.
    model
        skipgram: a word tells the words around it; cbow: they tell the word.
    dim
        Number of dimensions.
    window
        How many words to each side a word is learnt with.
    min_count
        How often a word has to occur; 5, or less for a small text.
    epochs
        How often the text is read.
    negative
        Random words that each word is told apart from.
    tokens
        How lower-cased sentences are cut: words, or treebank (nltk).
    seed
        Of every random draw.
    overwrite
        Replace another model that the folder holds.
    """
    from embassay.training.words import train

    options = {"model": model, "dim": dim, "window": window, "min_count": min_count, "epochs": epochs}
    return _train(train, text, out, overwrite, seed=seed, negative=negative, tokens=tokens, **options)


@train.command(name="paragraphs")
def train_paragraphs(
    *,
    text: Path,
    out: Out,
    model: Literal["dm", "dbow"] = "dm",
    dim: int = 300,
    window: int = 8,
    min_count: int | None = None,
    epochs: int = 20,
    tokens: Literal["words", "treebank"] = "words",
    seed: int = 0,
    overwrite: Overwrite = False,
) -> int:
    """Learn paragraph vectors (PV-DM, PV-DBOW).

    Parameters
    ----------
    text
        File with one sentence a line.
    out
        Folder to write.
    model
        dm: a word is told from its sentence and the words around it; dbow: from its sentence alone.
    dim
        Number of dimensions.
    window
        How many words to each side are the context, for dm.
    min_count
        How often a word has to occur; 5, or less for a small text.
    epochs
        How often the text is read.
    tokens
        How lower-cased sentences are cut: words, or treebank (nltk).
    seed
        Of every random draw.
    overwrite
        Replace another model that the folder holds.
    """
    from embassay.training.paragraphs import train

    options = {"model": model, "dim": dim, "window": window, "min_count": min_count, "epochs": epochs}
    return _train(train, text, out, overwrite, seed=seed, tokens=tokens, **options)


@train.command(name="urae")
def train_urae(
    *,
    text: Path,
    out: Out,
    dim: int | None = None,
    epochs: int = 10,
    trees: Literal["right", "balanced", "link-parser", "brackets"] = "right",
    words: str = "",
    normalize: Annotated[bool, Parameter(negative="")] = False,
    decay: float = 1e-5,
    rate: float = 0.01,
    seed: int = 0,
    overwrite: Overwrite = False,
) -> int:
    """Learn to fold and unfold sentences (unfolding recursive autoencoder).

    Parameters
    ----------
    text
        File with one sentence a line; with --trees brackets one bracketed parse a line.
    out
        Folder to write.
    dim
        Number of dimensions; 200, or that of the vectors in --words.
    epochs
        How often the text is read.
    trees
        Where a sentence's tree comes from: right (right-branching), balanced, link-parser (the program), brackets.
    words
        File of word vectors, or a folder that 'embassay train words' wrote; they stay as they are. Learnt otherwise.
    normalize
        Scale each inner node to unit length.
    decay
        Weight of the squared weights in the loss.
    rate
        Learning rate of AdaGrad.
    seed
        Of every random draw.
    overwrite
        Replace another model that the folder holds.
    """
    from embassay.training.urae import train

    options = {"dim": dim, "epochs": epochs, "trees": trees, "words": words, "normalize": normalize}
    return _train(train, text, out, overwrite, seed=seed, decay=decay, rate=rate, **options)


def _train(trainer: Callable[..., Trained], text: Path, out: Path, overwrite: bool, **options: Any) -> int:
    """Train, and say where the model is and how it is used."""
    from embassay.run.progress import Bar

    try:
        with Bar().training(f"train {out}") as advance:
            trained = trainer(text, out, overwrite=overwrite, advance=advance, **options)
    except MemoryError:
        raise InputError("not enough memory; fewer words, a smaller --dim or a smaller --window take less") from None
    for line in (*trained.notes, f"model: {trained.folder}", f"assay it with: {trained.line}"):
        print(line, file=sys.stderr)  # noqa: T201
    return FINE
