"""How robust vectors are against the batch."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.sparse import csr_array

from embassay.core.types import Card
from embassay.core.vectors import Vectors
from embassay.run.engine.robustness import ALONE, check_robustness

RNG = np.random.default_rng(3)
TEXTS = tuple(("text", f"text {n}") for n in range(400))
MATRIX = RNG.normal(size=(400, 16)).astype(np.float32)


@dataclass
class Fake:
    """Gives the rows of ``MATRIX``, moved by so much when a text is alone."""

    moved: float = 0.0
    again: int = 0
    invariant: bool = False

    @property
    def card(self):
        return Card("fake")

    def encode(self, texts, role):
        self.again += len(texts)
        rows = MATRIX[[int(t.split()[1]) for t in texts]].copy()
        rows[:, 0] += self.moved if len(texts) == 1 else 0
        return rows

    def batch_invariant(self):
        return self.invariant


def vectors(matrix=MATRIX, texts=TEXTS):
    return Vectors(matrix, {text: n for n, text in enumerate(texts)})


def test_an_encoder_that_gives_the_same_in_any_batch_does_not_drift():
    found = check_robustness(Fake(), vectors(), seed=0, encoded=400)
    assert found.sampled == ALONE
    assert found.drift == pytest.approx(0, abs=1e-12)


def test_drift_is_the_largest_distance_of_a_text_alone_and_among_others():
    found = check_robustness(Fake(moved=1.0), vectors(MATRIX[:ALONE], TEXTS[:ALONE]), seed=0, encoded=6 * ALONE)
    alone = MATRIX[:ALONE].copy().astype(np.float64)
    alone[:, 0] += 1
    own = MATRIX[:ALONE].astype(np.float64)
    cosine = (alone * own).sum(1) / np.linalg.norm(alone, axis=1) / np.linalg.norm(own, axis=1)
    assert found.drift == pytest.approx(1 - cosine.min(), rel=1e-6)


@pytest.mark.parametrize(("moved", "noted"), [(0.0, 0), (0.1, 0), (3.0, 1)])
def test_a_drift_that_alarms_is_a_note(moved, noted):
    found = check_robustness(Fake(moved=moved), vectors(), seed=0, encoded=400)
    assert (found.drift >= 0.01) == bool(noted)
    assert len(found.notes) == noted
    assert all(f"of up to {found.drift:.2g}; other batches" in note for note in found.notes)


def test_the_sample_is_seeded():
    first, again, other = (check_robustness(Fake(moved=1.0), vectors(), seed=seed, encoded=400) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_sparse_vectors_have_none():
    assert check_robustness(Fake(), vectors(csr_array(MATRIX)), seed=0, encoded=400) is None


@pytest.mark.parametrize("encoded", [0, 3, 30, 100, 400])
def test_at_most_a_sixth_of_as_many_texts_as_the_run_encoded_are_encoded_again(encoded):
    fake = Fake()
    found = check_robustness(fake, vectors(), seed=0, encoded=encoded)
    assert fake.again <= encoded / 6
    assert (found is None) == (encoded < 6)


def test_one_that_no_batch_changes_is_not_encoded_again():
    fake = Fake(invariant=True)
    assert check_robustness(fake, vectors(), seed=0, encoded=400).drift == 0
    assert fake.again == 0
