"""Which objectives a base can be pre-trained by, told by its configuration before anything is loaded."""

import json
import shutil
from contextlib import suppress
from types import SimpleNamespace

import pytest

from embassay.core.errors import SpecError
from embassay.training.base_model import find_base
from embassay.training.fitness import check_device, check_objective
from embassay.training.pretraining import pretrain

transformers = pytest.importorskip("transformers", reason="needs the extra train")
SMALL = {"vocab_size": 20, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
GPT2 = {"vocab_size": 20, "n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 16}


@pytest.fixture
def configured(tmp_path):
    """Return a base of which there is a configuration alone."""

    def make(kind, **given):
        getattr(transformers, f"{kind}Config")(**given).save_pretrained(tmp_path)
        return SimpleNamespace(target="./it", found=SimpleNamespace(folder=tmp_path))

    return make


@pytest.fixture
def maskless(base, tmp_path):
    """The tiny base with a tokenizer that has no mask."""
    folder = tmp_path / "maskless"
    shutil.copytree(base, folder)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "mask_token": None}))
    return folder


@pytest.mark.parametrize(
    ("kind", "given", "objective", "message"),
    [
        ("Llama", SMALL, "tsdae", "tsdae needs a decoder that attends to the sentence's vector, but 'llama' has none"),
        ("Llama", SMALL, "mlm", "'llama' is not one; choose another --objective, or --finetune alone"),
        ("GPT2", GPT2, "mlm", "'gpt2' is not one; choose"),
        ("GPT2", {**GPT2, "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}, "simcse", "has none; choose"),
        ("DistilBert", {"vocab_size": 20}, "tsdae", "'distilbert' has none; choose"),
    ],
)
def test_what_a_base_lacks_is_said_with_the_objectives_that_suit_it(configured, kind, given, objective, message, base):
    it = configured(kind, **given)
    for name in ("tokenizer.json", "tokenizer_config.json"):  # a mask is looked for with mlm alone
        shutil.copyfile(f"{base}/{name}", it.found.folder / name)
    with pytest.raises(SpecError, match=message):
        check_objective(it, objective)


@pytest.mark.parametrize(
    ("kind", "given", "objectives"),
    [
        ("GPT2", GPT2, ["tsdae", "simcse"]),
        ("T5", {"vocab_size": 20, "d_model": 8, "d_ff": 8, "num_layers": 1, "num_heads": 2}, ["simcse"]),
        ("Roberta", SMALL, ["tsdae", "simcse"]),
    ],
)
def test_dropout_and_attention_are_found_whatever_their_names(configured, kind, given, objectives):
    base, accepted = configured(kind, **given), []
    for objective in ("tsdae", "simcse"):
        with suppress(SpecError):
            check_objective(base, objective)
            accepted.append(objective)
    assert accepted == objectives


def test_a_tokenizer_without_a_mask_is_refused_before_a_folder_is_made(tiny, maskless, tmp_path):
    check_objective(find_base(str(maskless)), "tsdae")
    with pytest.raises(SpecError, match="mlm needs a mask token, but its tokenizer has none; choose"):
        pretrain(tiny.stage(tmp_path / "out"), str(maskless), ["a b", "c"], advance=lambda done, total: None)
    assert [path.name for path in tmp_path.iterdir()] == ["maskless"]


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SpecError, match="'cuda' is not available: torch finds no CUDA GPU"):
        check_device("cuda")
    check_device("cpu")
    check_device("auto")
