"""How long an adaptation takes: counted by hand, by a clock that goes on a second for each word, and so on.

The clock is the test's own. A base takes 5 seconds to load, 100 more for the first time, and one for each token.
Pre-training takes 7 seconds to begin, 30 for its first step of 8 rows, 4 for each other and 3 to end; fine-tuning twice
as long.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from embassay.adaptation import forecast
from embassay.adaptation.making import Making
from embassay.adaptation.material import Material
from embassay.adaptation.options import AdaptOptions
from embassay.adaptation.request import AdaptRequest
from embassay.adaptation.splits import Split
from embassay.adaptation.variants import planned_stages
from embassay.errors import EncoderError
from embassay.samples.retrieval import Document, Question
from embassay.types import Corpus

SCORING = 11
"""Seconds of the assay of one variant beside its encoding."""
PRETRAINED = (7 + 30 + 3) - 4
"""What comes once: all but the steps, the first one as long as the others."""


@pytest.fixture
def trained(monkeypatch):
    """The trainings that were begun: (kind, what it was given)."""
    begun = []

    def train(kind, slowness, advance, **given):
        begun.append((kind, given))
        forecast.time.perf_counter.clock[0] += 7 * slowness
        for number in range(given["settings"].max_steps):
            forecast.time.perf_counter.clock[0] += (4 if number else 30) * slowness
            advance(8 * (number + 1), 99)
        forecast.time.perf_counter.clock[0] += 3 * slowness

    def pretrain(base, sentences, folder, *, advance, **given):
        train("pretrain", 1, advance, base=base, sentences=sentences, folder=folder, **given)

    def finetune(base, triplets, dev, corpus, folder, *, advance, **given):
        train("finetune", 2, advance, base=base, triplets=triplets, dev=dev, folder=folder, **given)

    monkeypatch.setattr("embassay.training.pretraining.pretrain", pretrain)
    monkeypatch.setattr("embassay.training.finetuning.finetune", finetune)
    return begun


@pytest.fixture
def base(monkeypatch):
    def perf_counter():
        return perf_counter.clock[0]

    clock = perf_counter.clock = [0.0]
    imported, loaded = [], []
    monkeypatch.setattr(forecast, "time", SimpleNamespace(perf_counter=perf_counter))

    def count(texts, role):
        return np.array([len(text.split()) for text in texts])

    def encode(texts, role):
        if not loaded:
            clock[0] += 100 * (not imported) + 5 - 4  # the one text that is encoded to load it is in its time
            imported.append(True)
            loaded.append(True)
        clock[0] += float(np.minimum(count(texts, role), 4).sum())

    return SimpleNamespace(count_tokens=count, encode=encode, release=loaded.clear, card=SimpleNamespace(max_tokens=4))


@pytest.fixture
def made(base, trained, tmp_path):
    """Ten documents of 4 tokens (one is cut to them), questions of 2; 6 to learn from, 2 to stop by, 2 to test."""
    documents = tuple(Document(f"d{n}", (f"a b c {n}" + " e" * (n == 9),)) for n in range(10))
    questions = tuple(Question(f"q{n}", f"x {n}", (f"d{n}",)) for n in range(10))
    corpus = Corpus("c", "retrieval", questions, documents=documents)
    names = [q.id for q in questions]
    split = Split(tuple(names[:6]), tuple(names[6:8]), tuple(names[8:]))
    material = Material(corpus, split, ("s t u", "v w"), (corpus,))

    def make(**given):
        options = AdaptOptions(**given)
        request = AdaptRequest("base", ["c"], tmp_path / "a", options)
        making = Making(request, base, material, planned_stages(options))
        return forecast.Forecast(
            making, (("query", "x 8"), ("query", "x 9"), ("document", "a b c 0")), SCORING
        ), making.stages

    return make


def test_each_part_is_counted_with_all_that_belongs_to_it(made):
    found, (pre, fine, both) = made(epochs=1)
    assert found.training(pre) == PRETRAINED + 2 * 0.5  # two sentences, half a second each
    looks = (1 + 1) * (10 * 4 + 2 * 2)  # one step: at the beginning and at its end, on all documents
    assert found.evaluations(fine) == 2
    assert found.training(fine) == found.training(both) == 2 * (PRETRAINED + 6 * 0.5) + looks
    assert found.mining() == 5 + 10 * 4 + 6 * 2
    assert found.assay() == 4 * (5 + (2 + 2 + 4) + SCORING)


def test_each_epoch_reads_all_rows_however_many_go_together(made):
    for batch in (1, 2, 64):
        found, (fine,) = made(finetune=True, batch=batch, epochs=5)
        assert found.training(fine) == 2 * (PRETRAINED + 5 * 6 * 0.5) + found.evaluations(fine) * 44


def test_each_kind_of_training_is_begun_once_on_the_real_data(made, trained, tmp_path):
    found, stages = made(negatives=3, objective="tsdae", batch=5)
    for stage in (*stages, *stages):
        found.training(stage)
    (first, pre), (second, fine) = trained
    assert (first, second) == ("pretrain", "finetune")
    assert pre["sentences"] == found.making.material.sentences
    assert (pre["objective"], fine["loss"]) == ("tsdae", "mnr")
    for given in (pre, fine):
        assert given["settings"].max_steps == forecast.STEPS
        assert given["settings"].batch == 5
        assert given["base"] == "base"
        assert not given["folder"].parent.exists()
        assert not given["folder"].is_relative_to(tmp_path / "a")
    assert fine["dev"] == ()
    assert [(t.question, t.right) for t in fine["triplets"]] == [
        (f"x {n}", found.making.material.union.documents[n].passages[0]) for n in range(6)
    ]
    for triplet in fine["triplets"]:
        assert len({triplet.right, *triplet.wrong}) == 4


def test_a_training_of_one_step_is_measured_whole(made, trained, monkeypatch):
    monkeypatch.setattr(forecast, "STEPS", 1)
    found, (pre,) = made(pretrain=True)
    assert found.training(pre) == 7 + 30 + 3


def test_what_is_not_to_be_trained_is_not_begun(made, trained):
    found, (pre,) = made(pretrain=True)
    assert found.mining() == 0
    found.making.folder.open({}, [pre])
    found.making.folder.finish(pre, {})
    assert (found.training(pre), trained) == (0, [])


def test_the_triplet_loss_has_a_row_for_each_wrong_text(made, trained):
    found, (fine,) = made(finetune=True, loss="triplet", negatives=3, batch=4, epochs=1)
    assert found.rows(fine) == 18
    assert fine.steps(found.rows(fine)) == 5
    assert found.training(fine) == 2 * (PRETRAINED + 18 * 0.5) + found.evaluations(fine) * 44
    assert trained[0][1]["loss"] == "triplet"
    assert made(finetune=True, negatives=3)[0].rows(fine) == 18


def test_evaluations_are_counted_as_the_training_makes_them(made):
    from embassay.training.job import Job

    _, (fine,) = made(finetune=True, batch=1, epochs=3)
    job = Job(None, None, None, [()] * 18, fine.settings, 0)
    assert fine.evaluations(6) == 1 + sum(step % job.checkpoint_interval == 0 or step == 18 for step in range(1, 19))


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
    assert found.count_tokens(["abcdefgh", "abcd"], "document") == 3


def test_the_real_trainings_are_begun_and_leave_nothing(tiny, tmp_path, monkeypatch):
    for library in ("torch", "sentence_transformers", "accelerate", "datasets"):
        pytest.importorskip(library, reason="the train extra is not installed")
    from embassay.training.base_model import find_base

    folder = tiny.make_base(tmp_path / "made")
    corpus = tiny.corpus()
    names = tuple(question.id for question in corpus.samples)
    material = Material(corpus, Split(names[:30], names[30:35], names[35:]), tuple(tiny.sentences()), (corpus,))
    request = AdaptRequest(folder, ["c"], tmp_path / "a", AdaptOptions(batch=4))
    stages = planned_stages(request.options)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    found = forecast.Forecast(Making(request, find_base(folder), material, stages), (("text", "a tank"),), 1.0)
    paces = [found.measure(stage) for stage in stages[:2]]
    assert all(pace.once > 0 and pace.row > 0 for pace in paces)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not (tmp_path / "a").exists()
