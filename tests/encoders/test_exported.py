"""Exported models: the vectors of the original, padding that moves nothing, folders as others lay them out."""

import json
import shutil
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from embassay.core.errors import EncoderError, ModelNotFoundError, SpecError
from embassay.models.exported.graph import text_vectors
from embassay.models.exported.model_folder import ExportedFolder
from embassay.models.exported.pooling import MODES, configured, pool
from embassay.run.cache.cache import VectorCache
from embassay.run.engine.encode import encode
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


@pytest.mark.parametrize("options", ["dim=4", "dim=4,normalize=true", "normalize=true"])
def test_cut_and_scaled_vectors_follow_from_cached_ones(folder, tmp_path, options):
    texts = tuple(("text", text) for text in TEXTS)
    spec = f"onnx:{folder}"
    with VectorCache(tmp_path) as cache:
        encode(load_encoder(spec), texts, cache, lambda ready: None)
        vectors, encoded = encode(load_encoder(f"{spec},{options}"), texts, cache, lambda ready: None)
    assert encoded == 0
    np.testing.assert_allclose(vectors.matrix, load_encoder(f"{spec},{options}").encode(TEXTS), atol=1e-6)


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
    assert encoder.route()["alone"] is int8


def test_options_do_what_they_say(folder, original):
    whole = original.encode(TEXTS[:3])
    cut = load_encoder(f"onnx:{folder},dim=8,normalize=true").encode(TEXTS[:3])
    assert np.allclose(cut, whole[:, :8] / np.linalg.norm(whole[:, :8], axis=1, keepdims=True), atol=1e-5)
    short = load_encoder(f"onnx:{folder},max_length=6")
    assert np.allclose(short.encode(["abc and more"]), short.encode(["abc a quite different end"]), atol=1e-6)
    assert short.card.max_tokens == 6
    asked = load_encoder(f"onnx:{folder},query_prompt=,document_prompt=d: ")
    assert np.allclose(asked.encode(TEXTS[:3], "query"), whole, atol=1e-5)
    assert np.allclose(asked.encode(["x"], "document"), original.encode(["d: x"]), atol=1e-5)
    assert asked.card.prompts == {"document": "d: "}
    assert asked.card.spec == f"onnx:{folder},document_prompt=d: ,query_prompt="


def test_what_is_known_without_loading(folder):
    encoder = load_encoder(f"onnx:{folder}")
    assert encoder.card.prompts == {"query": "q: "}
    assert (encoder.card.max_tokens, encoder.card.similarity) == (48, "cosine")
    assert encoder.route() == {"graph": GRAPH}
    assert encoder.count_tokens(["abc", "", "a" * 99], "text").tolist() == [5, 2, 101]
    assert encoder.count_tokens(["abc"], "query").tolist() == [7]
    encoder.encode(["abc"])
    assert encoder.route()["device"] == "cpu"
    encoder.release()
    assert encoder.route() == {"graph": GRAPH}
    assert encoder.encode([]).shape[0] == 0


def test_its_fingerprint_is_the_content_of_what_matters(copy, folder):
    own = load_encoder(f"onnx:{folder}").fingerprint
    (copy / "README.md").write_text("Words.")
    assert load_encoder(f"onnx:{copy}").fingerprint == own
    for option in ("dim=8", "normalize=true", "max_length=9", "query_prompt=r: "):
        assert load_encoder(f"onnx:{copy},{option}").fingerprint != own
    (copy / "tokenizer.json").write_text((copy / "tokenizer.json").read_text() + " ")
    assert load_encoder(f"onnx:{copy}").fingerprint != own


def test_a_graph_of_another_dimension_than_the_pooling_says_is_refused(copy):
    config = copy / "1_Pooling" / "config.json"
    config.write_text(json.dumps({"embedding_dimension": 64, "pooling_mode": "mean"}))
    with pytest.raises(EncoderError, match="have 32 dimensions, but the folder's configuration says 64"):
        load_encoder(f"onnx:{copy}").encode(["a"])
    config.unlink()
    with pytest.raises(ModelNotFoundError, match=r"1_Pooling/config\.json: missing; copy it there, or set pooling="):
        load_encoder(f"onnx:{copy}")


def test_a_limit_that_leaves_no_room_for_a_word_is_refused(copy):
    with pytest.raises(EncoderError, match="the limit of 2 tokens is too short: every text has 2 special tokens"):
        load_encoder(f"onnx:{copy},max_length=2").encode(["a"])
    assert load_encoder(f"onnx:{copy},max_length=3").encode(["a"]).shape == (1, 32)


def test_texts_are_cut_after_the_model_s_positions(copy):
    (copy / "sentence_bert_config.json").unlink(missing_ok=True)
    settings = json.loads((copy / "tokenizer_config.json").read_text())
    (copy / "tokenizer_config.json").write_text(json.dumps({**settings, "model_max_length": 10**30}))
    positions = json.loads((copy / "config.json").read_text())["max_position_embeddings"]
    encoder = load_encoder(f"onnx:{copy}")
    assert encoder.card.max_tokens == positions
    assert np.isfinite(encoder.encode(["word " * 4 * positions])).all()


def test_what_a_graph_cannot_run_or_gives_no_number_for_is_said(folder):
    encoder = load_encoder(f"onnx:{folder}")
    encoder.encode(["a"])
    runner = vars(encoder)["runner"]
    session = runner.session

    def fail(feed):
        raise RuntimeError("Got invalid dimensions")

    def without_numbers(feed):
        return {name: rows * np.nan for name, rows in session.run(feed).items()}

    runner.session = replace(session, run=fail)
    with pytest.raises(
        EncoderError, match=r"cannot run on a text of 3 tokens \(max_length= truncates texts\): Got invalid"
    ):
        encoder.encode(["b"])
    runner.session = replace(session, run=without_numbers)
    with pytest.raises(EncoderError, match="the vectors contain NaN or infinity"):
        encoder.encode(["b"])


@pytest.mark.parametrize("outputs", [{"logits": (1, 3, 100)}, {"logits": (1, 2)}, {"start_scores": (1, 3, 4)}])
def test_decisions_of_a_model_are_no_vectors(folder, outputs):
    folder = ExportedFolder.of(Path(folder), "", "")
    given = {name: np.ones(shape, dtype=np.float32) for name, shape in outputs.items()}
    with pytest.raises(EncoderError, match="is a text vector or a token vector; export the model"):
        text_vectors(given, folder)


def test_text_vectors_of_a_graph_go_before_its_token_vectors(folder):
    rows = np.array([[3, 4], [0, 5]], dtype=np.float32)
    outputs = {"token_embeddings": np.ones((2, 7, 2), dtype=np.float32), "sentence_embedding": rows}
    assert np.array_equal(text_vectors(outputs, ExportedFolder.of(Path(folder), "", "")), rows)


def test_what_is_missing_is_named(copy):
    with pytest.raises(ModelNotFoundError, match="no such folder; export the model with"):
        load_encoder(f"onnx:{copy}/nowhere")
    with pytest.raises(EncoderError, match="the model has 32 dimensions, so dim=99 is too large"):
        load_encoder(f"onnx:{copy},dim=99").encode(["a"])
    with pytest.raises(SpecError, match="option 'dim': must be 1 or more"):
        load_encoder(f"onnx:{copy},dim=0")
    (copy / "tokenizer.json").unlink()
    with pytest.raises(ModelNotFoundError, match=r"tokenizer\.json is missing"):
        load_encoder(f"onnx:{copy}")
    (copy / GRAPH).unlink()
    with pytest.raises(ModelNotFoundError, match=r"model\.onnx is missing; export the model"):
        load_encoder(f"onnx:{copy}")


def test_damaged_files_are_named(copy):
    content = (copy / GRAPH).read_bytes()
    (copy / GRAPH).write_bytes(content[: len(content) // 2])
    with pytest.raises(EncoderError, match="cannot be loaded by"):
        load_encoder(f"onnx:{copy}").encode(["a"])
    (copy / GRAPH).write_bytes(content)
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelNotFoundError, match=r"tokenizer\.json: damaged or not a tokenizer"):
        load_encoder(f"onnx:{copy}").encode(["a"])


def test_a_device_that_is_not_had_is_refused(folder):
    with pytest.raises(EncoderError, match="device 'cuda:1' is not"):
        load_encoder(f"onnx:{folder},device=cuda:1").encode(["a"])
    with pytest.raises(EncoderError, match="device 'mps' is not supported by"):
        load_encoder(f"onnx:{folder},device=mps").encode(["a"])


@pytest.mark.parametrize("mode", sorted(MODES))
def test_tokens_are_pooled_as_the_library_does_it(copy, mode):
    config = copy / "1_Pooling" / "config.json"
    config.write_text(json.dumps({"embedding_dimension": 32, "pooling_mode": mode}))
    own = load_encoder(str(copy)).encode([*TEXTS[::9], LONG])
    assert np.abs(load_encoder(f"onnx:{copy}").encode([*TEXTS[::9], LONG]) - own).max() < 1e-5


def test_pooling_equals_a_loop():
    rng = np.random.default_rng(0)
    tokens = rng.standard_normal((3, 4, 2)).astype(np.float32)
    loops = {
        "mean": lambda t: t.mean(axis=0),
        "max": lambda t: t.max(axis=0),
        "cls": lambda t: t[0],
        "lasttoken": lambda t: t[-1],
        "mean_sqrt_len_tokens": lambda t: t.sum(axis=0) / len(t) ** 0.5,
        "weightedmean": lambda t: sum((n + 1) * row for n, row in enumerate(t)) / sum(range(1, len(t) + 1)),
    }
    for mode, loop in loops.items():
        assert np.allclose(pool(tokens, [mode]), [loop(row) for row in tokens], atol=1e-6)
    both = pool(tokens, ["cls", "max"])
    assert np.allclose(both, np.hstack([pool(tokens, [mode]) for mode in ("cls", "max")]))


def test_both_forms_of_pooling_configurations_are_read():
    assert configured({"pooling_mode": "cls"}) == ("cls",)
    assert configured({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}) == ("cls", "mean")
    assert configured({"pooling_mode": "attention"}) == ()
    assert configured({}) == ()


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


def test_an_unknown_pooling_is_refused_unless_one_is_named(copy):
    (copy / "1_Pooling" / "config.json").write_text('{"pooling_mode": "attention"}')
    with pytest.raises(ModelNotFoundError, match="unknown pooling; set pooling="):
        load_encoder(f"onnx:{copy}")
    assert load_encoder(f"onnx:{copy},pooling=mean").encode(["a"]).shape == (1, 32)


def test_a_module_that_the_graph_leaves_out_is_refused(copy):
    modules = json.loads((copy / "modules.json").read_text())
    modules.insert(2, {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    (copy / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(EncoderError, match=r"does not include the modules sentence_transformers\.models\.Dense"):
        load_encoder(f"onnx:{copy}").encode(["a"])


def test_one_of_several_graphs_is_named(copy, int8_folder):
    own = load_encoder(f"onnx:{copy}").fingerprint
    shutil.copy(int8_folder / GRAPH, copy / "onnx" / "model_small.onnx")
    shutil.copy(copy / "model.safetensors", copy / "onnx" / "model_small.onnx_data")
    assert load_encoder(f"onnx:{copy}").fingerprint == own
    other = load_encoder(f"onnx:{copy},file=onnx/model_small.onnx")
    assert other.fingerprint != own
    other.encode(["a"])
    assert other.route()["alone"] is True
    (copy / "onnx" / "model.onnx").rename(copy / "onnx" / "other.onnx")
    with pytest.raises(ModelNotFoundError, match=r"several graphs \(onnx/model_small\.onnx, onnx/other\.onnx\)"):
        load_encoder(f"onnx:{copy}")
    with pytest.raises(ModelNotFoundError, match=r"no such graph; set file= to an \.onnx file"):
        load_encoder(f"onnx:{copy},file=none.onnx")
