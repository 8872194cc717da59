"""``embassay demo``: an answer, a change for the worse that is caught, one that passes, and too few questions."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

FEW = 25
"""Questions that show too little."""
STEPS = """\
1. Which encoder? 30 pages of a handbook, and 135 questions about them.
$ embassay run -e model={model} -c handbook=docs,questions=questions.csv -o first

2. What the model does today becomes the baseline.
$ embassay bless first -o first-baseline

3. A change for the worse: the model becomes {model},dim=24, to save space.
$ embassay run -e model={model},dim=24 -c handbook=docs,questions=questions.csv -o smaller
$ embassay check smaller --baseline first-baseline

4. A change that loses nothing: {model},dim={enough}.
$ embassay run -e model={model},dim={enough} -c handbook=docs,questions=questions.csv -o equal
$ embassay check equal --baseline first-baseline

5. The change of 3, judged by {few} questions.
$ embassay run -e model={model} -c handbook=docs,questions=few.csv -o few
$ embassay bless few -o few-baseline
$ embassay run -e model={model},dim=24 -c handbook=docs,questions=few.csv -o few-smaller
$ embassay check few-smaller --baseline few-baseline

Your own documents, with a table of questions and the ids of the documents that answer them:
  embassay run -e model={model} -c mine=./docs,questions=questions.csv -o first
  embassay bless first -o baseline"""
"""What is said, and the commands, which begin with $."""
UNSAID = ("--quiet", "--no-trust", "--cache", "cache")
"""Options of the runs that are not said."""


def show(embassay: Callable[[list[str]], int]) -> None:
    """Say commands and carry them out, in a folder that is removed at the end.

    Parameters
    ----------
    embassay
        Carries out ``embassay`` with some arguments, and returns the exit code.
    """
    from embassay.corpora.builtin.handbook import write_files

    model, enough = _model()
    with TemporaryDirectory(prefix="embassay-demo-") as folder, chdir(folder):
        lines = write_files(Path()).read_text(encoding="utf-8").splitlines(keepends=True)
        Path("few.csv").write_text("".join(lines[: FEW + 1]), encoding="utf-8")
        for line in STEPS.format(model=model, enough=enough, few=FEW).splitlines():
            tell(line)
            if not line.startswith("$"):
                continue
            arguments = shlex.split(line)[2:]
            is_run = arguments[0] == "run"
            # Of the runs, the screen of the first is shown.
            screen = redirect_stdout(StringIO()) if is_run and arguments[-1] != "first" else nullcontext()
            with screen, redirect_stderr(sys.stdout):
                code = embassay([*arguments, *UNSAID] if is_run else arguments)
            if arguments[0] == "check":
                tell(f"exit code {code}")


def tell(text: str) -> None:
    """Print a text at once, in order with what the commands print."""
    print(text, flush=True)  # noqa: T201


def _model() -> tuple[str, int]:
    """Return the available model, and about enough of its dimensions."""
    from importlib.util import find_spec

    from embassay.models.neural.locations import BUNDLED_MODEL, find_offline

    can_run = find_spec("onnxruntime") or find_spec("sentence_transformers")
    if can_run and find_offline(BUNDLED_MODEL, ""):
        return BUNDLED_MODEL, 192
    return "hashing", 512
