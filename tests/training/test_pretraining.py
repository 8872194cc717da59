"""Pre-training of a tiny random BERT: what it learns, what it leaves as it was, how it goes on."""

import json
import os
import random
import signal
from pathlib import Path

import numpy as np
import pytest

from embassay.core.errors import ModelNotFoundError, SpecError
from embassay.core.types import Runtime, content_hash
from embassay.models.neural import st
from embassay.training import trainer
from embassay.training.options import FinetuneOptions
from embassay.training.pretraining import pretrain

pytestmark = pytest.mark.slow


def record(folder):
    return json.loads((folder / "training.json").read_text())


def same(tiny, a, b):
    first, second = tiny.weights(a), tiny.weights(b)
    return first.keys() == second.keys() and all((first[name] == second[name]).all() for name in first)


@pytest.fixture
def pre(tiny, base, monkeypatch):
    """Pre-train the base on forty sentences of its domain for six steps."""

    def train(folder, advance=lambda done, total: None, sentences=None, checkpoints=5, **changes):
        texts = tiny.sentences() if sentences is None else sentences
        monkeypatch.setattr(trainer, "CHECKPOINTS", checkpoints)
        changes = {"epochs": 1.2, **changes}
        return pretrain(tiny.stage(folder, data=content_hash(texts), **changes), base, texts, advance=advance)

    return train


def test_the_loss_falls_and_the_model_keeps_all_but_its_weights(pre, tiny, base, tmp_path):
    told = []
    trained = pre(
        tmp_path / "out",
        lambda *now: told.append(now),
        epochs=6,
        checkpoints=1,
    )
    facts = record(tmp_path / "out")
    losses = [loss for _, loss in facts["losses"]]
    assert np.mean(losses[-5:]) < 0.95 * np.mean(losses[:5])
    assert told[-1] == (240, facts["rows"] * 6)
    assert (facts["steps"], facts["kind"]) == (30, "pretraining")
    assert not (tmp_path / "out.training").exists()
    files = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert files == {p.relative_to(base).as_posix() for p in Path(base).rglob("*") if p.is_file()} | {"training.json"}
    from sentence_transformers import SentenceTransformer

    old, new = (st.create(str(folder), Runtime()) for folder in (base, trained.spec))
    assert new.card.prompts == old.card.prompts == {"query": "query : "}
    limits = [SentenceTransformer(str(folder), device="cpu").max_seq_length for folder in (base, tmp_path / "out")]
    assert limits == [48, 48] and new.card.max_tokens == 48
    assert (tmp_path / "out" / "tokenizer.json").read_bytes() == Path(base, "tokenizer.json").read_bytes()
    vectors = new.encode(["the pump stops"])
    assert np.linalg.norm(vectors) == pytest.approx(1, abs=1e-5)
    assert not np.allclose(vectors, old.encode(["the pump stops"]), atol=1e-3)


def test_another_seed_comes_to_other_weights_and_no_global_stream_is_moved(pre, tiny, tmp_path):
    import torch

    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002
    pre(tmp_path / "one")
    assert before == (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist())  # noqa: NPY002
    pre(tmp_path / "two", seed=1)
    assert not same(tiny, tmp_path / "one", tmp_path / "two")


@pytest.fixture
def sigint():
    """Set what SIGINT does, whatever the tests' parent made of it."""
    inherited = signal.getsignal(signal.SIGINT)
    yield lambda handler: signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGINT, inherited)


def test_ctrl_c_keeps_the_last_checkpoint(pre, tiny, tmp_path, sigint):
    steps = []

    def press(done, total):
        steps.append(done)
        if len(steps) == 5:
            os.kill(os.getpid(), signal.SIGINT)

    sigint(signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        pre(tmp_path / "out", press, checkpoints=2)
    seen = []
    pre(tmp_path / "out", lambda done, total: seen.append(done), checkpoints=2)
    pre(tmp_path / "whole", checkpoints=2)
    assert len(seen) == 2
    assert same(tiny, tmp_path / "whole", tmp_path / "out")


def test_a_loss_that_is_no_number_ends_the_training(pre, tmp_path):
    from embassay.core.errors import EncoderError

    with pytest.raises(EncoderError, match=r"the loss became NaN or infinite at step .*; a smaller rate may help"):
        pre(tmp_path / "out", rate=1e30, warmup=0.0)
    assert not (tmp_path / "out").exists()


def test_the_masked_loss_is_that_of_the_whole_model(tiny, base):
    """The head on masked places only, against transformers' own loss over all."""
    import torch

    from embassay.training.base_model import find_base, load
    from embassay.training.pretraining import masked_loss

    encoder = find_base(base)
    model = load(encoder, "cpu")
    loss = masked_loss(encoder, model)
    assert loss.whole.get_output_embeddings().weight is model.transformers_model.get_input_embeddings().weight
    loss.eval()
    inputs = model.tokenizer(tiny.sentences(6), padding=True, return_tensors="pt")
    labels = inputs["input_ids"].clone()
    labels[:, ::2] = -100
    labels[inputs["attention_mask"] == 0] = -100
    with torch.no_grad():
        own, whole = loss([{**inputs, "labels": labels}], None), loss.whole(**inputs, labels=labels).loss
    assert float(own) == pytest.approx(float(whole), rel=1e-5)
    assert float(loss([{**inputs, "labels": torch.full_like(labels, -100)}], None).detach()) == 0


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("bow", "is not a sentence-transformers model; name one"),
        ("random", "is not a sentence-transformers model"),
        ("api:some-model", "is not a sentence-transformers model"),
        ("hf:some-model", "is not a sentence-transformers model"),
        ("words:folder", "is not a sentence-transformers model"),
        ("onnx:model", "is not a sentence-transformers model"),
        ("all-MiniLM-L6-v2,dim=64", "option 'dim' cannot be used in training; the base takes query_prompt"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_any_work(tiny, base, tmp_path, spec, why):
    with pytest.raises(SpecError, match=why):
        pretrain(tiny.stage(tmp_path / "out"), spec, ["a", "b"], advance=lambda done, total: None)
    assert not list(tmp_path.iterdir())


def changed(base, folder, **files):
    import shutil

    shutil.copytree(base, folder)
    for name, change in files.items():
        path = folder / name.replace("_json", ".json")
        path.write_text(json.dumps(change(json.loads(path.read_text()))))
    return str(folder)


def test_models_that_cannot_be_trained_are_refused(tiny, base, tmp_path):
    def go(folder, **options):
        stage = tiny.stage(tmp_path / "out", **options)
        return pretrain(stage, str(folder), ["a b", "c"], advance=lambda done, total: None)

    def module(kind):
        return lambda found: [{**found[0], "type": kind}, *found[1:]]

    for name, kind, why in (
        ("router", "sentence_transformers.models.Router", "Router"),
        ("own", "mine.Own", "brings its own code"),
        ("static", "sentence_transformers.models.StaticEmbedding", "its first module is StaticEmbedding, not a"),
    ):
        with pytest.raises(SpecError, match=why):
            go(changed(base, tmp_path / name, modules_json=module(kind)))
    bare = Path(changed(base, tmp_path / "bare"))
    (bare / "model.safetensors").unlink()
    with pytest.raises(ModelNotFoundError, match="not a model"):
        go(bare)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epochs", 0),
        ("epochs", float("nan")),
        ("batch", 0),
        ("batch", 2.5),
        ("rate", -1),
        ("rate", float("inf")),
        ("warmup", 1.0),
        ("seed", -1),
        ("device", "cuda:1"),
        ("negatives", 0),
    ],
)
def test_options_out_of_range_are_named(name, value):
    with pytest.raises(SpecError, match=f"option '{name}'"):
        FinetuneOptions(**{name: value})


def test_nothing_is_written_to_the_terminal_or_beside_the_folder(pre, tmp_path, capfd, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    pre(tmp_path / "deep" / "out")
    assert capfd.readouterr() == ("", "")
    assert not list(home.iterdir())
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["out"]
