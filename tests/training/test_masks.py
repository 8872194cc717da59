"""Which bases can be pre-trained, told by their configuration before anything is loaded."""

import json
import shutil
from types import SimpleNamespace

import pytest

from embassay.core.errors import SpecError
from embassay.training.pretraining import check_masks, pretrain

transformers = pytest.importorskip("transformers", reason="needs the extra train")
SMALL = {"vocab_size": 20, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}


def test_an_architecture_without_a_head_for_masked_words_is_refused(tmp_path):
    transformers.LlamaConfig(**SMALL).save_pretrained(tmp_path)
    base = SimpleNamespace(name="./it", found=SimpleNamespace(folder=tmp_path))
    with pytest.raises(SpecError, match="'llama' has no head for masked words, or its tokenizer"):
        check_masks(base)


def test_a_tokenizer_without_a_mask_is_refused_before_a_folder_is_made(tiny, base, tmp_path):
    folder = tmp_path / "maskless"
    shutil.copytree(base, folder)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "mask_token": None}))
    with pytest.raises(SpecError, match="its tokenizer has no mask; use --finetune alone"):
        pretrain(tiny.stage(tmp_path / "out"), str(folder), ["a b", "c"], advance=lambda done, total: None)
    assert [path.name for path in tmp_path.iterdir()] == ["maskless"]
