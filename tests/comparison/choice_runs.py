"""Small finished runs on a choice corpus, of encoders whose answers the tests decide."""

import numpy as np

from embassay.core.samples.shapes import Choice
from embassay.core.types import Card, Corpus, content_hash
from embassay.run.command import carry_out
from embassay.run.request import RunRequest


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
