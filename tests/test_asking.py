"""Asking never loads: what an encoder is and can do is known without its weights, and without the libraries for them.

Each question is asked in a process that cannot import those libraries, of a model whose weights are no weights.
"""

import json
import os
import string
import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "sentence_transformers", "onnxruntime", "onnx", "sklearn")
REFUSE = f"""
import sys
from importlib.machinery import ModuleSpec

class Refuse:
    # Whether a library is installed may be asked.
    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name in {HEAVY} else None

    def create_module(self, spec):
        # No ImportError: the program must not be able to pass over it.
        raise SystemExit(f"asking has imported {{spec.name}}")

    def exec_module(self, module):
        pass

sys.meta_path.insert(0, Refuse())
"""
COMMANDS = [
    ["list"],
    ["look", "-c", "opposites"],
    ["look", "-c", "opposites", "-e", "st:./model", "-e", "small=st:./model,dim=4", "-e", "hf=hf:./model"],
    ["run", "-c", "opposites", "-e", "st:./model", "-e", "hf=hf:./model", "-e", "bow", "--dry-run"],
]
QUESTIONS = """
from dataclasses import replace
from embassay.models import base
from embassay.run.resolve import load_encoder

def load(model):
    raise SystemExit("asking has loaded a model")

for spec in ("st:./model", "hf:./model", "st:./model,dim=4"):
    encoder = replace(load_encoder(spec), open=load)
    repr(encoder), encoder.name, encoder.card, encoder.fingerprint, encoder.route(), encoder.batch_invariant()
    base.encoder_of_vectors(encoder)
    assert encoder.count_tokens(["abc", ""], "text").tolist() == [3, 1]
    try:
        encoder.prepare()
    except SystemExit:
        print(spec)
        continue
    raise AssertionError("it should have loaded")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model whose files say all but have no weights."""
    folder = tmp_path_factory.mktemp("asking")
    model = folder / "model"
    (model / "1_Pooling").mkdir(parents=True)
    vocabulary = {letter: number for number, letter in enumerate(["[UNK]", *string.printable])}
    files = {
        "config.json": {"model_type": "bert", "architectures": ["BertModel"], "max_position_embeddings": 16},
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True},
        "tokenizer.json": {
            "version": "1.0",
            "added_tokens": [],
            "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False},
            "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
        },
    }
    for name, content in files.items():
        (model / name).write_text(json.dumps(content), encoding="utf-8")
    header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    (model / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0\0\0\0")
    return folder


def in_a_process(code, folder):
    environment = {**os.environ, "EMBASSAY_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", REFUSE + code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_capabilities_card_fingerprint_and_repr_load_nothing(folder):
    # Each encoder answered all questions, and would have loaded its model next.
    assert in_a_process(QUESTIONS, folder).stdout.split() == ["st:./model", "hf:./model", "st:./model,dim=4"]


def test_list_look_and_dry_run_load_nothing(folder):
    code = "from embassay.cli.app import exit_code_of\n"
    for command in COMMANDS:
        code += f"assert exit_code_of({command}) == 0\n"
    said = in_a_process(code, folder).stdout
    assert said.count("texts longer than its limit of 16 tokens") == 5
