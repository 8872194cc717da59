"""Small finished runs that differ in a controlled way."""

import shutil
from pathlib import Path

import numpy as np

from embassay.run.request import RunRequest
from embassay.run.session import carry_out
from embassay.samples.choice import Choice
from embassay.types import Card, Corpus, content_hash

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


class Answers:
    """An encoder that is right about the entries that it is told and chooses the antonym of the others.

    The texts of a broken entry get the zero vector, so that nothing is chosen.
    """

    def __init__(self, right, broken=(), *, fails=False, name="model"):
        self.name, self.right, self.broken, self.fails = name, frozenset(right), frozenset(broken), fails
        self.card = Card(f"object:{name}")
        self.fingerprint = content_hash([sorted(self.right), sorted(self.broken), fails])

    def fit(self, texts):
        return self

    def encode(self, texts, role="text"):
        if self.fails:
            raise RuntimeError("no memory left")
        return np.array([self._vector(*text.split()) for text in texts], dtype=np.float32)

    def _vector(self, kind, number):
        if kind != "polarity" and int(number) in self.broken:
            return [0.0, 0.0]
        near = "paraphrase" if int(number) in self.right else "antonym"
        return [1.0, 0.0] if kind in ("input", near) else [0.6, 0.8]


def choices(numbers, unit_size=1, name="mine"):
    """Return a corpus; the entries of a unit share their polarity sentence."""
    samples = [
        Choice(
            id=f"e{number}",
            input=f"input {number}",
            antonym=f"antonym {number}",
            polarity=f"polarity {number // unit_size}",
            paraphrase=f"paraphrase {number}",
            part_of_speech="noun" if number % 2 else "adjective",
            pair="bad–good",
        )
        for number in numbers
    ]
    return Corpus(name, "choice", tuple(samples))


def finished_run(folder, name, encoders, corpus=None, code=0, **options):
    """Make a finished run in a folder and return its own folder."""
    out = folder / name
    corpora = [corpus or choices(range(200))]
    request = RunRequest(
        encoders, corpora, ["negated_antonyms"], out=out, quiet=True, resamples=100, cache=None, **options
    )
    assert carry_out(request) == code
    return out
