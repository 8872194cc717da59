"""How long an adaptation takes: counted by hand, with a base that takes a second for each word."""

from types import SimpleNamespace

import numpy as np
import pytest

from embassay.adapt import forecast
from embassay.adapt.making import Making
from embassay.adapt.material import Material
from embassay.adapt.order import Order
from embassay.adapt.splits import Split
from embassay.errors import EncoderError
from embassay.samples import Document, Question
from embassay.types import Corpus


@pytest.fixture
def base(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(forecast.time, "perf_counter", lambda: clock[0])

    def count(texts, role):
        return np.array([len(text.split()) for text in texts])

    def encode(texts, role):
        clock[0] += float(np.minimum(count(texts, role), 4).sum())

    return SimpleNamespace(count_tokens=count, encode=encode, card=SimpleNamespace(max_tokens=4))


@pytest.fixture
def made(base, tmp_path):
    """Ten documents of 4 tokens (one is cut to them), questions of 2; 6 to learn from, 2 to stop by, 2 to test."""
    documents = tuple(Document(f"d{n}", (f"a b c {n}" + " e" * (n == 9),)) for n in range(10))
    questions = tuple(Question(f"q{n}", f"x {n}", (f"d{n}",)) for n in range(10))
    corpus = Corpus("c", "retrieval", questions, documents=documents)
    names = [q.id for q in questions]
    split = Split(tuple(names[:6]), tuple(names[6:8]), tuple(names[8:]))
    material = Material(corpus, split, ("s t u", "v w"), (corpus,))

    def make(**given):
        order = Order("base", ["c"], tmp_path / "a", **given)
        making = Making(order, base, material, order.stages())
        return forecast.Forecast(making, (("query", "x 8"), ("query", "x 9"), ("document", "a b c 0"))), making.stages

    return make


def test_the_seconds_are_those_of_the_tokens(made):
    found, (pre, fine, both) = made(epochs=1)
    assert found.training(pre) == 3 * 5  # sentences by their own tokens, not as documents
    rows = 6 * (2 + 3 * 4)  # a question, its document and two wrong ones
    looks = (1 + 1) * (10 * 4 + 2 * 2)  # one step: at the beginning and at its end, on all documents
    assert found.evaluations(fine) == 2
    assert found.training(fine) == found.training(both) == 3 * rows + looks
    assert found.mining() == 10 * 4 + 6 * 2
    assert found.assay() == 4 * (2 + 2 + 4)


@pytest.mark.parametrize("objective", ["tsdae", "simcse"])
def test_two_passes_take_twice_as_long(made, objective):
    found, (pre,) = made(pretrain=True, objective=objective)
    assert found.training(pre) == 2 * 3 * 5
    assert found.mining() == 0


def test_the_triplet_loss_has_a_row_for_each_wrong_text(made):
    found, (fine,) = made(finetune=True, loss="triplet", negatives=3, batch=4, epochs=1)
    assert found.rows(fine) == 18
    assert fine.steps(found.rows(fine)) == 5
    assert found.training(fine) == 3 * 18 * (2 + 4 + 4) + found.evaluations(fine) * 44
    assert made(finetune=True, negatives=3)[0].rows(fine) == 18


def test_evaluations_are_counted_as_the_training_makes_them(made):
    from embassay.adapt._job import Job

    _, (fine,) = made(finetune=True, batch=1, epochs=3)
    job = Job(None, None, None, [()] * 18, fine.settings)
    assert fine.evaluations(6) == 1 + sum(step % job.every == 0 or step == 18 for step in range(1, 19))


def test_what_is_there_takes_no_time(made):
    found, stages = made()
    folder = found.making.folder
    folder.open({}, stages)
    for stage in stages:
        folder.finish(stage, {})
    assert [found.training(stage) for stage in stages] == [0, 0, 0]
    assert found.mining() == 0


def test_a_model_without_a_file_to_count_by_is_counted_by_letters(made, base):
    def refuse(texts, role):
        raise EncoderError("no tokenizer.json")

    base.count_tokens = refuse
    found, _ = made(pretrain=True)
    assert found._count(["abcdefgh", "abcd"], "document") == 3
