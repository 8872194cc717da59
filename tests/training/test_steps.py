"""The steps of a training: in which precision they are, and what a checkpoint that cannot be read comes to."""

import json

import pytest

from embassay.errors import OutputError
from embassay.training import finetuning, precision
from embassay.training.checkpoints import BEST, DAMAGED, StageFolder
from embassay.training.finetuning import finetune
from embassay.training.pretraining import pretrain
from embassay.training.triplets import Triplet


def unheard(done, total):
    """Be told how far it is."""


@pytest.fixture(scope="module")
def domain(tiny):
    corpus = tiny.corpus()
    text = {document.id: document.passages[0] for document in corpus.documents}
    triplets = [Triplet(q.question, text[q.right[0]], (text[f"d{n + 7}"],)) for n, q in enumerate(corpus.samples[:24])]
    return corpus, triplets, corpus.samples[30:]


@pytest.fixture
def fine(tiny, base, domain):
    def train(folder, advance=unheard, **changes):
        corpus, triplets, dev = domain
        settings = tiny.settings(**{"epochs": 1, "checkpoints": 3, **changes})
        return finetune(base, triplets, dev, corpus, folder, settings=settings, advance=advance)

    return train


@pytest.fixture
def computed(monkeypatch):
    """Have a CPU train in bfloat16, and note in what the layers compute: {"training": dtypes, "looking": dtypes}."""
    import torch

    monkeypatch.setattr(precision, "bfloat16", lambda kind: True)
    seen, looking = {"training": set(), "looking": set()}, []

    def note(module, given, out):
        if isinstance(module, torch.nn.Linear):
            seen["looking" if looking else "training"].add(out.dtype)

    def looked_at(*given):
        evaluate = success(*given)

        def look():
            looking.append(True)
            try:
                return evaluate()
            finally:
                looking.clear()

        return look

    success = finetuning.evaluation
    monkeypatch.setattr(finetuning, "evaluation", looked_at)
    hook = torch.nn.modules.module.register_module_forward_hook(note)
    yield seen
    hook.remove()


def test_a_training_in_bfloat16_is_looked_at_in_float32(fine, tiny, computed, tmp_path):
    import torch

    fine(tmp_path / "out", max_steps=2)
    assert computed == {"training": {torch.bfloat16}, "looking": {torch.float32}}
    assert {tensor.dtype for tensor in tiny.weights(tmp_path / "out").values()} == {torch.float32}


@pytest.mark.parametrize("objective", ["mlm", "tsdae"])
def test_what_a_loss_adds_to_the_model_is_in_bfloat16_too(tiny, base, computed, tmp_path, objective):
    import torch

    settings = tiny.settings(max_steps=1)
    pretrain(base, tiny.sentences(), tmp_path / "out", objective=objective, settings=settings, advance=unheard)
    assert computed["training"] == {torch.bfloat16}


def test_best_weights_that_cannot_be_read_are_a_damaged_checkpoint(fine, stopped, tmp_path):
    advance = stopped(2)
    with pytest.raises(advance.error):
        fine(tmp_path / "out", advance, max_steps=2)
    best = tmp_path / "out.training" / BEST
    best.write_bytes(best.read_bytes()[:500])
    steps = []
    trained = fine(tmp_path / "out", lambda *now: steps.append(now), max_steps=2)
    assert (len(steps), trained.notes[0]) == (2, DAMAGED)
    facts = json.loads((tmp_path / "out" / "training.json").read_text())
    assert facts["notes"][0] == DAMAGED
    assert [step for step, _ in facts["evaluations"]] == [0, 1, 2]


def test_the_last_weights_are_never_taken_for_the_best(fine, tmp_path, monkeypatch):
    monkeypatch.setattr(StageFolder, "keep_best", lambda self, tensors: None)
    with pytest.raises(OutputError, match=r"best\.safetensors: the best weights cannot be read; run the same command"):
        fine(tmp_path / "out", max_steps=1)
    assert not (tmp_path / "out").exists()
