"""A run that goes on after a kill comes to the same vectors, bit by bit, also where they depend on the batch."""

import numpy as np
import pytest

from embassay.core.types import Card
from embassay.run.cache.cache import VectorCache
from embassay.run.engine import encode as pool
from embassay.run.engine.encode import encode

TEXTS = tuple(("text", f"{'x' * (1 + n % 7)}{n:03}") for n in range(60))


class Company:
    """Gives each text a vector that depends on all texts of its batch, as padding does in the last bits."""

    name, fingerprint = "company", "company-1"

    def __init__(self, dies_after=None, batch_invariant=False, remote=False):
        self.card = Card("company", remote=remote)
        self.dies_after, self.invariant = dies_after, batch_invariant
        self.encoded = []

    def batch_invariant(self):
        return self.invariant

    def encode(self, texts, role="text"):
        if self.dies_after is not None and len(self.encoded) >= self.dies_after:
            raise KeyboardInterrupt
        self.encoded += texts
        company = 0 if self.invariant else sum(map(len, texts)) * 2.0**-20
        return np.array([[len(text) + company, int(text[-3:])] for text in texts], dtype=np.float32)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(pool, "BLOCK", 5)
    monkeypatch.setattr(pool, "CHUNK", 12)


def start(folder, encoder, texts=TEXTS):
    """Begin, or go on with, a run in a folder; return the matrix, None if it was interrupted."""
    cache = VectorCache(folder / "cache")
    try:
        found, _ = encode(encoder, texts, cache, lambda done: None)
    except KeyboardInterrupt:
        return None
    return found.matrix


@pytest.mark.parametrize("kills", [[0], [1], [13], [24, 25], [59], [7, 14, 21, 28, 35]])
def test_the_vectors_are_those_of_a_run_that_was_never_interrupted(tmp_path, kills):
    undisturbed = start(tmp_path / "quiet", Company())
    for dies_after in kills:
        start(tmp_path / "killed", Company(dies_after=dies_after))
    assert np.array_equal(start(tmp_path / "killed", Company()), undisturbed)


def test_chunks_that_are_whole_are_not_encoded_again(tmp_path):
    assert start(tmp_path, Company(dies_after=30)) is None
    encoder = Company()
    start(tmp_path, encoder)
    # 12 texts a chunk: two chunks were whole, the third was begun.
    assert len(encoder.encoded) == 60 - 24
    again = Company()
    start(tmp_path, again)
    assert again.encoded == []


def test_what_was_cached_when_the_run_began_stays_as_it_was(tmp_path):
    for folder in ("quiet", "killed"):
        start(tmp_path / folder, Company(), TEXTS[10:25])
    undisturbed = start(tmp_path / "quiet", Company())
    assert start(tmp_path / "killed", Company(dies_after=20)) is None
    assert np.array_equal(start(tmp_path / "killed", Company()), undisturbed)


@pytest.mark.parametrize("kind", [{"batch_invariant": True}, {"remote": True}])
def test_where_no_batch_matters_or_answers_are_paid_for_nothing_is_encoded_twice(tmp_path, kind):
    first = Company(dies_after=30, **kind)
    start(tmp_path, first)
    second = Company(**kind)
    start(tmp_path, second)
    assert sorted(first.encoded + second.encoded) == sorted(text for _, text in TEXTS)


def test_an_encoder_that_cannot_be_loaded_is_a_failure_of_the_encoder(tmp_path):
    from embassay.core.errors import EncoderError

    class Broken(Company):
        def prepare(self):
            raise RuntimeError("no weights")

    with pytest.raises(EncoderError, match="RuntimeError: no weights"):
        start(tmp_path, Broken())
