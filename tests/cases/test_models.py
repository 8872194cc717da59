"""Folders of models with settings that few models have; the weights are random."""

import json

import pytest

import tiny_model
from cases.case import CORPUS, RUN, Case, each


def legacy_config(folder):
    """Give the limit as sentence-transformers did in 2019."""
    (folder / "sentence_bert_config.json").unlink()
    settings = {"max_seq_length": 32, "do_lower_case": False}
    (folder / "sentence_roberta_config.json").write_text(json.dumps(settings))


def roberta_pad0(folder):
    """Make it a RoBERTa, whose positions begin after the number of the padding token, here 0."""
    from transformers import RobertaConfig, RobertaModel

    sizes = {"hidden_size": tiny_model.HIDDEN, "num_attention_heads": 2, "intermediate_size": 64}
    sizes["vocab_size"] = len((folder.parent / "raw" / "vocab.txt").read_text().splitlines())
    config = RobertaConfig(num_hidden_layers=1, max_position_embeddings=40, pad_token_id=0, type_vocab_size=2, **sizes)
    RobertaModel(config).save_pretrained(folder)


LOOK = "look -c m=docs.jsonl,questions=q.jsonl,passages=document -e e=./tiny/model"
CASES = {
    "model-legacy-config": (legacy_config, Case(r"limit of 32 tokens|sentence_roberta_config", CORPUS, LOOK)),
    "model-roberta-pad0": (roberta_pad0, Case(r"\be \d+\.\d%", CORPUS, f"{RUN} -e e=./tiny/model,max_length=30")),
}


@each(CASES)
def test_model(case, capsys, tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("sentence_transformers")
    change, expected = case
    change(tiny_model.make(tmp_path / "tiny"))
    capsys.readouterr()
    expected.check(capsys)
