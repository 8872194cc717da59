"""A training that was stopped, killed or whose checkpoint is incomplete ends with the bytes of an undisturbed one."""

import json
import shutil

import pytest

from embassay.core.errors import EncoderError
from embassay.training import checkpoints, finetuning, trainer
from embassay.training.finetuning import finetune
from embassay.training.pretraining import pretrain

# Each test trains a model several times.
pytestmark = pytest.mark.slow


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def learn(tiny, base, domain):
    """Pre-train, or fine-tune with a loss: dropout, an evaluator and the best weights are in it."""

    def train(folder, how="mnr", advance=lambda done, total: None, **changes):
        corpus, triplets, dev = domain
        changes = {"epochs": 6, **changes}
        if how == "mnr":
            stage = tiny.finetuning(folder, **changes)
            return finetune(stage, base, tuple(triplets), dev, corpus, advance=advance)
        return pretrain(tiny.stage(folder, **changes), base, tiny.sentences(), advance=advance)

    return train


@pytest.fixture(scope="module")
def undisturbed(learn, tmp_path_factory):
    """What a training with the default settings writes."""
    return contents(learn(tmp_path_factory.mktemp("undisturbed") / "whole").folder)


@pytest.mark.parametrize("how", ["mnr", "mlm"])
def test_a_training_that_was_killed_comes_to_the_same_bytes(learn, stopped, tmp_path, how):
    learn(tmp_path / "whole", how)
    facts = json.loads((tmp_path / "whole" / "training.json").read_text())
    assert facts["steps"] >= 13
    advance = stopped(13)
    with pytest.raises(advance.error):
        learn(tmp_path / "killed", how, advance)
    assert not (tmp_path / "killed").exists()
    steps = []
    trained = learn(tmp_path / "killed", how, lambda *now: steps.append(now))
    assert len(steps) <= facts["steps"] - 10
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert list(trained.notes) == facts["notes"]


def test_a_kill_while_a_checkpoint_is_written_leaves_the_one_before(learn, undisturbed, tmp_path, monkeypatch):
    sealed = []

    def killed(work, history):
        if len(sealed) == 3:
            raise SystemExit
        sealed.append(history.step)
        checkpoints.put_in_place(work, history)

    monkeypatch.setattr(trainer, "put_in_place", killed)
    with pytest.raises(SystemExit):
        learn(tmp_path / "killed")
    monkeypatch.undo()
    assert checkpoints.newest(tmp_path / "killed.training").step == sealed[-1]
    learn(tmp_path / "killed")
    assert contents(tmp_path / "killed") == undisturbed


def test_a_training_that_was_over_when_it_was_killed_takes_no_step_more(learn, tmp_path, monkeypatch):
    monkeypatch.setattr(finetuning, "success", lambda *given: 0.5)
    learn(tmp_path / "whole")
    shutil_rmtree = shutil.rmtree
    monkeypatch.setattr("embassay.training.trainer.write_model", lambda *given: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        learn(tmp_path / "killed")
    monkeypatch.undo()
    monkeypatch.setattr(finetuning, "success", lambda *given: 0.9)
    assert shutil.rmtree is shutil_rmtree
    learn(tmp_path / "killed", advance=lambda *now: pytest.fail("a step was taken"))
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_the_first_best_weights_are_kept(learn, stopped, tiny, tmp_path, monkeypatch):
    scores = [0.9, 0.1, 0.3, 0.5, 0.4, 0.5, *[0.2] * 7]
    given = iter(scores)
    monkeypatch.setattr(finetuning, "success", lambda *_: next(given))
    learn(tmp_path / "early")
    facts = json.loads((tmp_path / "early" / "training.json").read_text())
    assert [score for _, score in facts["evaluations"]] == scores[:12]
    best = facts["best"][0]
    # The weights before training do not count.
    assert facts["best"] == facts["evaluations"][3] == [best, 0.5]
    given = iter(scores)
    advance = stopped(best + 1)
    with pytest.raises(advance.error):
        learn(tmp_path / "part", advance=advance)
    from safetensors.torch import load_file

    kept = load_file(tmp_path / "part.training" / f"checkpoint-{best}" / checkpoints.WEIGHTS)
    written = tiny.weights(tmp_path / "early")
    compared = [n for n in written if f"model.0.model.{n.rpartition('/')[2]}" in kept]
    assert len(compared) > 30
    assert all((written[n] == kept[f"model.0.model.{n.rpartition('/')[2]}"]).all() for n in compared)


def test_too_little_memory_is_one_message(learn, tmp_path, monkeypatch):
    def full(*given):
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")

    monkeypatch.setattr(trainer.Job, "input_of", full)
    with pytest.raises(EncoderError, match=r"needs more memory than there is \(.*\); use a smaller --batch"):
        learn(tmp_path / "out")
