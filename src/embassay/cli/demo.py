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
STEPS = (
    (
        "1. Which encoder? 30 pages of a handbook, and 135 questions about them.",
        "run -e model={model} -c handbook=docs,questions=questions.csv -o first",
    ),
    ("\n2. What the model does today becomes the baseline.", "bless first -o first-baseline"),
    (
        "\n3. A change for the worse: the model becomes {worse}, to save space.",
        "run -e model={worse} -c handbook=docs,questions=questions.csv -o smaller",
        "check smaller --baseline first-baseline",
    ),
    (
        "\n4. A change that loses nothing: {equal}.",
        "run -e model={equal} -c handbook=docs,questions=questions.csv -o equal",
        "check equal --baseline first-baseline",
    ),
    (
        "\n5. The change of 3, judged by {few} questions.",
        "run -e model={model} -c handbook=docs,questions=few.csv -o few",
        "bless few -o few-baseline",
        "run -e model={worse} -c handbook=docs,questions=few.csv -o few-smaller",
        "check few-smaller --baseline few-baseline",
    ),
)
"""What is said, and the commands that follow."""
UNSAID = ("--quiet", "--no-trust", "--cache", "cache")
"""Options of the runs that are not said."""


def show(embassay: Callable[[list[str]], int]) -> None:
    """Say commands and carry them out, in a folder that is removed at the end.

    Parameters
    ----------
    embassay
        Carries out ``embassay`` with some arguments, and returns the exit code.
    """
    from embassay.api import read
    from embassay.comparison.gate import check
    from embassay.corpora.builtin.handbook import write_files

    model, worse, equal = _models()
    outcomes = []
    with TemporaryDirectory(prefix="embassay-demo-") as folder, chdir(folder):
        lines = write_files(Path()).read_text(encoding="utf-8").splitlines(keepends=True)
        Path("few.csv").write_text("".join(lines[: FEW + 1]), encoding="utf-8")
        for step in STEPS:
            text, *commands = (part.format(model=model, worse=worse, equal=equal, few=FEW) for part in step)
            tell(text)
            for command in commands:
                tell(f"$ embassay {command}")
                arguments = shlex.split(command)
                is_run, is_check = arguments[0] == "run", arguments[0] == "check"
                # Of the runs, the screen of the first is shown.
                is_shown = not is_run or arguments[-1] == "first"
                screen = nullcontext() if is_shown else redirect_stdout(StringIO())
                with screen, redirect_stderr(sys.stdout):
                    code = embassay([*arguments, *UNSAID] if is_run else arguments)
                if is_check:
                    tell(f"exit code {code}")
                    outcomes.append(check(arguments[1], arguments[3]).outcome)
        tell("\nThe decision")
        for answer in read("first").answers:
            if answer.kind in ("use", "undecided", "rejected"):
                tell(f"  {answer.question:<7} {answer.sentence}")
    smaller, same, few = outcomes
    tell(f"  {worse}: {smaller} (with {FEW} questions: {few}). {equal}: {same}.")
    tell("\nYour own documents, with a table of questions and the ids of the documents that answer them:")
    tell(f"  embassay run -e model={model} -c mine=./docs,questions=questions.csv -o first")
    tell("  embassay bless first -o baseline")


def tell(text: str) -> None:
    """Print a text at once, in order with what the commands print."""
    print(text, flush=True)  # noqa: T201


def _models() -> tuple[str, str, str]:
    """Return the available model, and it with far too few dimensions and with about enough of them."""
    from importlib.util import find_spec

    from embassay.core.types import Runtime
    from embassay.models.neural.locations import BUNDLED_MODEL, find_offline

    can_run = find_spec("onnxruntime") or find_spec("sentence_transformers")
    if can_run and find_offline(BUNDLED_MODEL, "", Runtime()):
        return BUNDLED_MODEL, f"{BUNDLED_MODEL},dim=24", f"{BUNDLED_MODEL},dim=192"
    return "hashing", "hashing,dim=24", "hashing,dim=512"
