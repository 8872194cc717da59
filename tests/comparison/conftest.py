"""Small finished runs that differ in a controlled way."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from comparison.choice_runs import finished_run
from embassay.run.command import carry_out
from embassay.run.request import RunRequest

PARTS = ("ba", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu")
WORDS = [first + last for first in PARTS for last in ("dor", "fin", "gal", "hup")]


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Finished runs by what they were made with: most tests need the same few."""
    return tmp_path_factory.mktemp("runs"), {}


@pytest.fixture
def make_run(tmp_path, capsys, finished):
    """Return a function that runs encoders on questions about 40 documents, and returns the folder of the run."""
    root, runs = finished

    def make(name, encoders, *, questions=60, names=("docs",), **options):
        key = repr((encoders, questions, names, options))
        if key not in runs:
            folder = root / str(len(runs))
            folder.mkdir()
            sources = [source(folder / corpus, corpus, questions, seed) for seed, corpus in enumerate(names)]
            options = {"out": folder / "run", "quiet": True, "resamples": 200, **options}
            request = RunRequest(encoders, sources, ["retrieval,k=1"], **options)
            assert carry_out(request) == 0
            capsys.readouterr()
            runs[key] = folder / "run"
        # A test may change the files of its run.
        return Path(shutil.copytree(runs[key], tmp_path / name))

    return make


@pytest.fixture
def choice_run(tmp_path, finished):
    """Return a function that makes a finished run of encoders whose answers the test decides; see ``finished_run``."""
    root, runs = finished

    def make(name, encoders, corpus=None, **options):
        contents = [(encoder.name, encoder.fingerprint) for encoder in encoders]
        key = repr((contents, corpus and (corpus.name, corpus.fingerprint), options))
        if key not in runs:
            runs[key] = finished_run(root, str(len(runs)), encoders, corpus, **options)
        # A test may change the files of its run.
        return Path(shutil.copytree(runs[key], tmp_path / name))

    return make


def source(folder, name, count, seed):
    """Write documents and questions that share some of their words, and return the source of the corpus."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    rows = ["id,question,document"]
    contents = []
    for number in range(40):
        words = rng.choice(WORDS, 8, replace=False)
        contents.append(words)
        (folder / f"d{number}.txt").write_text(" ".join(words))
    for number in range(count):
        document = number % 40
        words = [*rng.choice(contents[document], 3, replace=False), *rng.choice(WORDS, 4)]
        rng.shuffle(words)
        rows.append(f"q{number},{' '.join(words)},d{document}")
    questions = folder.with_suffix(".csv")
    questions.write_text("\n".join(rows) + "\n")
    return f"{name}={folder},questions={questions}"
