"""``embassay demo``: an answer, a change for the worse that is caught, one that passes, and too few questions."""

from __future__ import annotations

import shlex
import sys
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from embassay.cli.parameters import FINE

FEW = 25
"""Questions that show too little."""
OUTCOMES = {0: "no regression is shown", 1: "regression"}
"""What an exit code of ``embassay check`` means."""


def demo() -> int:
    """Show on a built-in handbook what an answer looks like, and what the gate catches. No key, file or download.

    It takes all-MiniLM-L6-v2 if its weights are on this disk, else hashed words.
    """
    from embassay.api import read
    from embassay.corpora.builtin.handbook import write_files

    model, worse, equal = _models()
    with TemporaryDirectory(prefix="embassay-demo-") as folder, chdir(folder):
        lines = write_files(Path()).read_text(encoding="utf-8").splitlines(keepends=True)
        Path("few.csv").write_text("".join(lines[: FEW + 1]), encoding="utf-8")

        tell("1. Which encoder? 30 pages of a handbook, and 135 questions about them.")
        _run("first", model, is_shown=True)
        tell("\n2. What the model does today becomes the baseline.")
        _embassay("bless first -o first-baseline")
        tell(f"\n3. A change for the worse: the model becomes {worse}, to save space.")
        _run("smaller", worse)
        smaller = _check("smaller", "first")
        tell(f"\n4. A change that loses nothing: {equal}.")
        _run("equal", equal)
        same = _check("equal", "first")
        tell(f"\n5. The change of 3, judged by {FEW} questions.")
        _run("few", model, "few.csv")
        _embassay("bless few -o few-baseline")
        _run("few-smaller", worse, "few.csv")
        few = _check("few-smaller", "few")
        tell("\nThe decision")
        for answer in read("first").answers:
            if answer.kind in ("use", "undecided", "rejected"):
                tell(f"  {answer.question:<7} {answer.sentence}")
    tell(f"  {worse}: {smaller} (with {FEW} questions: {few}). {equal}: {same}.")
    tell("\nYour own documents, with a table of questions and the ids of the documents that answer them:")
    tell(f"  embassay run -e model={model} -c mine=./docs,questions=questions.csv -o first")
    tell("  embassay bless first -o baseline")
    return FINE


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


def _embassay(command: str, *unsaid: str, is_shown: bool = True) -> int:
    """Say a command and carry it out, with further options that are not said; return its exit code."""
    from embassay.cli.app import exit_code_of

    tell(f"$ embassay {command}")
    screen = nullcontext() if is_shown else redirect_stdout(StringIO())
    with screen, redirect_stderr(sys.stdout):
        return exit_code_of([*shlex.split(command), *unsaid])


def _run(out: str, model: str, questions: str = "questions.csv", *, is_shown: bool = False) -> None:
    """Run a model on the handbook."""
    command = f"run -e model={model} -c handbook=docs,questions={questions} -o {out}"
    _embassay(command, "--quiet", "--no-trust", "--cache", "cache", is_shown=is_shown)


def _check(run: str, blessed: str) -> str:
    """Check a run against the baseline of another; return the outcome."""
    code = _embassay(f"check {run} --baseline {blessed}-baseline")
    tell(f"exit code {code}")
    return OUTCOMES[code]
