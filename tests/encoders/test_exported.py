"""Exported models: the vectors of the original, padding that moves nothing, folders as others lay them out."""

import json
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from embassay.core.errors import EmbassayError, EncoderError, SpecError
from embassay.core.types import Runtime
from embassay.models.light.pipeline import configured
from embassay.run.resolve import load_encoder

GRAPH = "onnx/model.onnx"
ANIMALS = "heron newt otter vole stoat".split()
TEXTS = [
    f"The {animal} {verb} {place}{more}."
    for animal in ANIMALS
    for verb in ("waits", "sleeps", "hides", "hunts", "swims")
    for place in ("by the weir", "in reeds", "at noon", "under it")
    for more in ("", ", and nobody sees it there until the very last light is gone")
]
LONG = "A sentence that goes on and on, " * 10


def tiny_model():
    spec = spec_from_file_location("tiny_model", Path(__file__).parents[1] / "tiny_model.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def need(*names):
    for name in names:
        pytest.importorskip(name, reason=f"{name} is not installed (extras hf, onnx)")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny sentence-transformers model with a prompt for queries."""
    need("torch", "sentence_transformers")
    return tiny_model().make(tmp_path_factory.mktemp("tiny"), prompts={"query": "q: "})


@pytest.fixture(scope="module")
def original(model):
    return load_encoder(str(model))


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    """The model's export."""
    need("onnxruntime", "onnx")
    return tiny_model().export(model, tmp_path_factory.mktemp("onnx") / "model")


@pytest.fixture(scope="module")
def int8_folder(model, tmp_path_factory):
    """The model's export with 8 bits."""
    need("onnxruntime", "onnx")
    return tiny_model().export(model, tmp_path_factory.mktemp("int8") / "model", int8=True)


@pytest.fixture
def copy(folder, tmp_path):
    """A copy of the export, to be changed."""
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_it_gives_the_vectors_of_the_original(folder, original):
    assert len(TEXTS) == 200
    exported = load_encoder(f"onnx:{folder}")
    for role in ("text", "query"):
        found, own = exported.encode([*TEXTS, "", LONG], role), original.encode([*TEXTS, "", LONG], role)
        assert found.dtype == np.float32
        assert np.abs(found - own).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("int8", [False, True])
def test_company_does_not_move_a_vector(folder, int8_folder, int8):
    encoder = load_encoder(f"onnx:{int8_folder if int8 else folder}")
    together = encoder.encode(["Short.", LONG, *TEXTS])
    alone = np.concatenate([encoder.encode([text]) for text in ["Short.", LONG, *TEXTS[:20]]])
    assert np.abs(together[:22] - alone).max() <= 1e-6
    assert (encoder.route()["tokens_per_batch"] == 1) is int8


def test_what_is_known_without_loading(folder):
    encoder = load_encoder(f"onnx:{folder}")
    assert encoder.card.prompts == {"query": "q: "}
    assert (encoder.card.max_tokens, encoder.card.similarity) == (48, "cosine")
    assert encoder.route() == {"device": "cpu"}
    assert encoder.count_tokens(["abc", "", "a" * 99], "text").tolist() == [5, 2, 101]
    assert encoder.count_tokens(["abc"], "query").tolist() == [7]
    encoder.encode(["abc"])
    assert (encoder.route()["backend"], encoder.route()["graph"]) == ("onnxruntime", "model.onnx")
    encoder.release()
    assert encoder.route() == {"device": "cpu"}
    assert encoder.encode([]).shape[0] == 0


def test_a_graph_in_the_folder_itself_is_found(copy, folder):
    wanted = load_encoder(f"onnx:{folder}").encode(TEXTS)
    (copy / GRAPH).rename(copy / "model.onnx")
    assert np.array_equal(load_encoder(f"onnx:{copy}").encode(TEXTS), wanted)


def test_its_fingerprint_is_the_content_of_what_matters(copy, folder):
    own = load_encoder(f"onnx:{folder}").fingerprint
    (copy / "README.md").write_text("Words.")
    assert load_encoder(f"onnx:{copy}").fingerprint == own
    for option in ("dim=8", "normalize=true", "max_length=9", "query_prompt=r: "):
        assert load_encoder(f"onnx:{copy},{option}").fingerprint != own
    (copy / "tokenizer.json").write_text((copy / "tokenizer.json").read_text() + " ")
    assert load_encoder(f"onnx:{copy}").fingerprint != own


def test_damaged_files_are_named(copy):
    content = (copy / GRAPH).read_bytes()
    (copy / GRAPH).write_bytes(content[: len(content) // 2])
    with pytest.raises(EncoderError, match="cannot be loaded"):
        load_encoder(f"onnx:{copy}").encode(["a"])
    (copy / GRAPH).write_bytes(content)
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(EncoderError, match=r"tokenizer\.json: damaged or not a tokenizer"):
        load_encoder(f"onnx:{copy}").encode(["a"])


def test_without_a_pooling_configuration_the_mean_is_assumed_and_said(copy, original):
    (copy / "modules.json").unlink()
    encoder = load_encoder(f"onnx:{copy}")
    assert encoder.card.warnings[0].startswith(
        "the folder has no pooling configuration: if the graph returns token vectors, mean"
    )
    found = encoder.encode(TEXTS[:5])
    assert np.allclose(found / np.linalg.norm(found, axis=1, keepdims=True), original.encode(TEXTS[:5]), atol=1e-5)
    other = load_encoder(f"onnx:{copy},pooling=cls")
    assert not any("pooling" in warning for warning in other.card.warnings)
    assert not np.allclose(other.encode(TEXTS[:5]), found, atol=1e-2)
    assert other.fingerprint != encoder.fingerprint


def test_both_forms_of_pooling_configurations_are_read():
    assert configured({"pooling_mode": "cls"}) == "cls"
    assert configured({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}) == "cls+mean"
    assert configured({}) == "mean"


@pytest.mark.parametrize("kind", ["Dense", "Pooling"])
def test_a_module_that_the_graph_leaves_out_is_refused_unless_a_pooling_is_named(copy, kind):
    modules = json.loads((copy / "modules.json").read_text())
    if kind == "Dense":
        modules.insert(2, {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
        (copy / "modules.json").write_text(json.dumps(modules))
    else:
        (copy / "1_Pooling" / "config.json").write_text('{"pooling_mode": "attention"}')
    with pytest.raises(EncoderError, match=r"what follows the model is not supported: its (module Dense|pooling_mode)"):
        load_encoder(f"onnx:{copy}")
    assert load_encoder(f"onnx:{copy},pooling=mean").encode(["a"]).shape == (1, 32)


def test_one_of_several_graphs_is_named(copy, int8_folder):
    own = load_encoder(f"onnx:{copy}").fingerprint
    shutil.copy(int8_folder / GRAPH, copy / "onnx" / "model_small.onnx")
    shutil.copy(copy / "model.safetensors", copy / "onnx" / "model_small.onnx_data")
    assert load_encoder(f"onnx:{copy}").fingerprint == own
    other = load_encoder(f"onnx:{copy},file=onnx/model_small.onnx")
    fingerprint = other.fingerprint
    assert fingerprint != own
    other.encode(["a"])
    assert other.route()["tokens_per_batch"] == 1
    (copy / "onnx" / "model_small.onnx_data").write_bytes(b"other weights")
    assert load_encoder(f"onnx:{copy},file=onnx/model_small.onnx").fingerprint != fingerprint


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("dim=99", "the model has 32 dimensions, so dim=99 is too large"),
        ("max_length=2", "the limit of 2 tokens is too short"),
        ("file=none.onnx", r"none\.onnx: no such graph"),
    ],
)
def test_wrong_options_are_one_message(folder, option, message):
    with pytest.raises(EmbassayError, match=message):
        load_encoder(f"onnx:{folder},{option}").encode(["a"])


def test_another_device_than_the_cpu_is_refused(folder):
    with pytest.raises(SpecError, match="runs on the CPU, not on cuda:1; leave --device out"):
        load_encoder(f"onnx:{folder}", Runtime(device="cuda:1"))
