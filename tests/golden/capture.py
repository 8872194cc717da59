"""What must not move unnoticed: figures of released corpora, help texts, lists, public names, error messages.

Figures have no texts: the licences of released data allow no copies here. ``tests/frozen`` has the other figures.

    python tests/golden/capture.py      # writes the files again, after a change that is meant

``test_golden.py`` compares.
"""

from __future__ import annotations

import gzip
import inspect
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FunctionType

import embassay as ea

HERE = Path(__file__).parent
RELEASED = {
    "semantoneg": "semantoneg/SemAntoNeg_v1.0.json",
    "msrp": "msrp",
    "webnlg": "webnlg_sets/tuples.jsonl",
    "wikisplit": "wikisplit/validation.tsv",
    "stsb": "stsbenchmark/sts-test.csv",
    "xquad": "xquad_en/xquad.en.json",
}
"""Corpora under the folder ``EMBASSAY_DATA``, by the labels that they have here."""
RELEASED_ENCODERS = ("bow", "hashing,dim=64")
RELEASED_UNITS = 40
"""At most this many units of each released corpus, chosen by the seed."""
COMMANDS = ("", "run", "look", "show", "report", "cache", "build", "rate", "train", "adapt", "list")
LISTS = (["list", "encoders"], ["list", "corpora"], ["list", "diagnostics"])
MISTAKES = (
    ["run", "-e", "nosuch:model"],
    ["run", "-e", "tfdif"],
    ["run", "-e", "bow,tokens=none"],
    ["run", "-e", "bow,nosuch=1"],
    ["run", "-e", "bow", "-e", "bow"],
    ["run", "-e", "bow", "-c", "./nowhere.jsonl"],
    ["run", "-e", "bow", "-c", "opposites,nosuch=1"],
    ["run", "-e", "bow", "-c", "nosuch"],
    ["run", "-e", "bow", "-d", "retreival"],
    ["run", "-e", "bow", "-c", "opposites", "-d", "localization"],
    ["run", "-e", "bow", "-d", "retrieval,k=none"],
    ["run", "-e", "bow", "--reference", "tfidf"],
    ["run", "-e", "bow", "--resamples", "0"],
    ["run", "-e", "python:nosuch_module:encode"],
    ["run", "-e", "vectors:./nowhere.npz"],
    ["run", "-e", "words:./nowhere.txt"],
    ["run", "nowhere.toml"],
    ["report", "./nowhere"],
    ["look", "-c", "./nowhere"],
    ["list", "nothing"],
    ["build", "nosuch", "--from", "x", "-o", "y"],
    ["cache", "nothing"],
)


def released_figures(label: str) -> dict[str, list[float | None]]:
    """Assay some units of a released corpus and return its figures by what they are figures of.

    Parameters
    ----------
    label
        One of :data:`RELEASED`; its file lies under ``EMBASSAY_DATA``.

    Returns
    -------
    Value, low and high of each row, and difference, low, high and p of each comparison, to 6 significant digits.
    """
    source = Path(os.environ["EMBASSAY_DATA"]) / RELEASED[label]
    result = ea.assay(
        list(RELEASED_ENCODERS),
        [f"{label}={source}"],
        profile="research",
        resamples=200,
        limit=RELEASED_UNITS,
        cache=None,
    )
    figures = {}
    for row in result.rows:
        key = (row.diagnostic, row.encoder, row.subset, row.similarity_function, row.condition, row.metric)
        figures["|".join(key)] = six_digits(row.value, row.low, row.high)
    for pair in result.comparisons:
        key = (
            pair.diagnostic,
            pair.a,
            pair.b,
            pair.subset,
            pair.similarity_function,
            pair.condition,
            pair.metric,
            pair.family,
        )
        figures["|".join(key)] = six_digits(pair.difference, pair.low, pair.high, pair.p)
    return figures


def six_digits(*numbers: float | None) -> list[float | None]:
    """Return the numbers with 6 significant digits; None stays None."""
    return [None if number is None else float(f"{number:.6g}") for number in numbers]


def said(arguments: list[str]) -> str:
    """Run the command in an empty folder and return what it says, with its exit code."""
    settings = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "HF_HUB_OFFLINE": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        settings["HOME"] = settings["EMBASSAY_CACHE"] = folder
        command = [sys.executable, "-m", "embassay", *arguments]
        done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
        written = done.stdout + done.stderr
        lines = [f"$ embassay {' '.join(arguments)}", written.replace(folder, "FOLDER").strip()]
        return "\n".join([*lines, f"exit code {done.returncode}", ""])


def helps() -> str:
    """Return the help of every command."""
    return "\n".join(said([*([command] if command else []), "--help"]) for command in COMMANDS)


def lists() -> str:
    """Return what there is to choose from."""
    return "\n".join(map(said, LISTS))


def mistakes() -> str:
    """Return what is said to wrong commands."""
    return "\n".join(map(said, MISTAKES))


def names() -> str:
    """Return the public names of the package with their parameters."""
    return "".join(f"{name}{parameters(getattr(ea, name))}\n" for name in sorted(ea.__all__))


def parameters(thing: object) -> str:
    """Return the names of what a function or a class is called with; empty for what is not called, and for errors."""
    if not isinstance(thing, (type, FunctionType)) or (isinstance(thing, type) and issubclass(thing, Exception)):
        return ""
    return f"({', '.join(inspect.signature(thing).parameters)})"


TEXTS = {"help.txt": helps, "lists.txt": lists, "mistakes.txt": mistakes, "names.txt": names}


def main() -> None:
    """Write all golden files."""
    if os.environ.get("EMBASSAY_DATA"):
        figures = {label: released_figures(label) for label in RELEASED}
        with gzip.GzipFile(HERE / "released.json.gz", "wb", mtime=0) as file:
            file.write(json.dumps(figures, sort_keys=True).encode())
    for name, capture in TEXTS.items():
        (HERE / name).write_text(capture(), encoding="utf-8")


if __name__ == "__main__":
    main()
