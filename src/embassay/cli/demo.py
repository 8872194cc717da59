"""``embassay demo``: an answer, a change for the worse that is caught, one that passes, and too few questions."""

from __future__ import annotations

from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from embassay.cli.parameters import FINE

FEW = 25
"""Questions that show too little."""


def demo() -> int:
    """Show on a built-in handbook what an answer looks like, and what the gate catches. No key, file or download.

    It takes all-MiniLM-L6-v2 if its weights are on this disk, else hashed words.
    """
    from embassay.corpora.builtin.handbook import write_files

    model, worse, equal = _models()
    with TemporaryDirectory(prefix="embassay-demo-") as folder:
        place = Path(folder)
        questions = write_files(place)
        lines = questions.read_text(encoding="utf-8").splitlines(keepends=True)
        (place / "few.csv").write_text("".join(lines[: FEW + 1]), encoding="utf-8")
        demonstration = _Demonstration(place)

        tell("1. Which encoder? 30 pages of a handbook, and 135 questions about them.")
        demonstration.run("first", model, shows_answer=True)
        tell("\n2. What the model does today becomes the baseline.")
        demonstration.bless("first")
        tell(f"\n3. A change for the worse: the model becomes {worse}, to save space.")
        demonstration.run("smaller", worse)
        smaller = demonstration.check("smaller", "first")
        tell(f"\n4. A change that loses nothing: {equal}.")
        demonstration.run("equal", equal)
        same = demonstration.check("equal", "first")
        tell(f"\n5. The change of 3, judged by {FEW} questions.")
        demonstration.run("few", model, "few.csv")
        demonstration.bless("few")
        demonstration.run("few-smaller", worse, "few.csv")
        few = demonstration.check("few-smaller", "few")
        tell("\nThe decision")
        for question, sentence in demonstration.decision("first"):
            tell(f"  {question:<7} {sentence}")
        tell(f"  {worse}: {smaller} (with {FEW} questions: {few}). {equal}: {same}.")
    tell(
        "\nYour own documents, with a table of questions and the ids of the documents that answer them:\n"
        f"  embassay run -e model={model} -c mine=./docs,questions=questions.csv -o first\n"
        "  embassay bless first -o baseline"
    )
    return FINE


def tell(text: str) -> None:
    """Print a text at once, in order with what the commands print."""
    print(text, flush=True)  # noqa: T201


def _models() -> tuple[str, str, str]:
    """Return the model that is at hand, and it with far too few dimensions and with about enough of them."""
    from importlib.util import find_spec

    from embassay.core.types import Runtime
    from embassay.models.neural.locations import BUNDLED_MODEL, find_offline

    can_run = find_spec("onnxruntime") or find_spec("sentence_transformers")
    if can_run and find_offline(BUNDLED_MODEL, "", Runtime()):
        return BUNDLED_MODEL, f"{BUNDLED_MODEL},dim=24", f"{BUNDLED_MODEL},dim=192"
    return "hashing", "hashing,dim=24", "hashing,dim=512"


class _Demonstration:
    """Commands in a folder, each said as a user would type it before it is carried out."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def run(self, out: str, model: str, questions: str = "questions.csv", *, shows_answer: bool = False) -> None:
        """Run the model on the handbook; the first screen is printed if asked for."""
        from embassay.run.command import carry_out
        from embassay.run.request import RunRequest

        tell(f"$ embassay run -e model={model} -c handbook=docs,questions={questions} -o {out}")
        request = RunRequest(
            out=self.place / out,
            encoders=[f"model={model}"],
            corpora=[f"handbook={self.place}/docs,questions={self.place}/{questions}"],
            cache=self.place / "cache",
            quiet=True,
            robustness=False,
        )
        with nullcontext() if shows_answer else redirect_stdout(StringIO()):
            carry_out(request)

    def bless(self, run: str) -> None:
        """Make a run the baseline."""
        from embassay.comparison.baseline import bless, what_a_baseline_shows

        tell(f"$ embassay bless {run} -o {run}-baseline")
        folder, _ = bless(self.place / run, self.place / f"{run}-baseline")
        for sentence in what_a_baseline_shows(folder):
            tell(sentence)

    def decision(self, run: str) -> list[tuple[str, str]]:
        """Return what a run says to use, and what not: the question and the answer."""
        from embassay.api import read

        answers = read(self.place / run).answers
        return [(answer.question, answer.sentence) for answer in answers if answer.kind in ("use", "rejected")]

    def check(self, run: str, blessed: str) -> str:
        """Check a run against the baseline of another; return the outcome."""
        from embassay.comparison import gate, gate_files

        tell(f"$ embassay check {run} --baseline {blessed}-baseline")
        outcome = gate.check(self.place / run, self.place / f"{blessed}-baseline")
        for line in gate_files.terminal_lines(outcome):
            tell(line)
        tell(f"exit code {outcome.exit_code}")
        return outcome.outcome
