"""``embassay train``: the commands that train an encoder on a text; each has the options of its training."""

# No annotations as strings here: those of a command name the options of its training.
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from embassay.cli.parameters import FINE, Flag, Flat, Out
from embassay.core.errors import say
from embassay.core.store.paths import output_path, source_path
from embassay.training.options import KINDS

PURPOSES = {
    "words": "Train word vectors (word2vec).",
    "paragraphs": "Train paragraph vectors (PV-DM, PV-DBOW).",
    "urae": "Train an unfolding recursive autoencoder.",
}
TEXT = "File with one sentence per line."

train = App(
    name="train",
    help="Train an encoder on a text with one sentence per line; an interrupted training is continued.",
    help_format="plaintext",
)


def command_of(kind: str) -> Callable[..., int]:
    """Return the command of a training, for cyclopts to read."""
    default = KINDS[kind]()

    def command(
        *,
        text: Annotated[Path, Parameter(help=TEXT)],
        out: Annotated[Out, Parameter(help="Folder to write.")],
        options: Annotated[KINDS[kind], Flat] = default,  # type: ignore[valid-type]
        overwrite: Annotated[Flag, Parameter(help="Replace a different model in the folder.")] = False,
    ) -> int:
        from embassay.run.progress import progress
        from embassay.training import train as training

        with progress(f"train {out}") as advance:
            trained = training.train(source_path(text), output_path(out), options, overwrite=overwrite, advance=advance)
        say(*trained.notes, f"model: {trained.folder}", f"assay it with: {trained.line}")
        return FINE

    command.__doc__ = PURPOSES[kind]
    return command


for name in PURPOSES:
    train.command(command_of(name), name=name)
