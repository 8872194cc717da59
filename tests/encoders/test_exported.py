"""Exported models: the vectors of the original, padding that moves nothing, folders as others lay them out."""

import json
import shutil
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from embassay.encoders.exported.graph import text_vectors
from embassay.encoders.exported.pooling import MODES, configured, pool
from embassay.engine.encode import encode
from embassay.errors import EncoderError, ModelNotFoundError, SpecError
from embassay.run.resolve import load_encoder
from embassay.store.cache.cache import VectorCache

RUNTIMES = ("onnx", "openvino")
GRAPH = {"onnx": "model.onnx", "openvino": "openvino_model.xml"}
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
        pytest.importorskip(name, reason=f"{name} is not installed (extras hf, onnx, openvino)")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny sentence-transformers model with a prompt for queries."""
    need("torch", "sentence_transformers")
    return tiny_model().make(tmp_path_factory.mktemp("tiny"), prompts={"query": "q: "})


@pytest.fixture(scope="module")
def original(model):
    return load_encoder(str(model))


@pytest.fixture(scope="module")
def folders(model, tmp_path_factory):
    """The model's exports by (runtime, int8), each written once."""
    made = {}

    def folder(runtime, int8=False):
        need("onnxruntime", "onnx") if runtime == "onnx" else need("openvino")
        if (runtime, int8) not in made:
            made[runtime, int8] = tiny_model().export(model, tmp_path_factory.mktemp(runtime), runtime, int8)
        return made[runtime, int8]

    return folder


@pytest.fixture(params=RUNTIMES)
def runtime(request):
    return request.param


@pytest.fixture
def copy(folders, runtime, tmp_path):
    """A copy of an export, to be changed."""
    return Path(shutil.copytree(folders(runtime), tmp_path / "copy"))


@pytest.fixture(scope="module")
def hub(model, tmp_path_factory):
    """A folder as optimum writes it: a graph that ends with tokens beside the model's configuration."""
    need("onnxruntime")
    place = tmp_path_factory.mktemp("hub") / "model"
    shutil.copytree(model, place)
    tiny_model().tokens_graph(model, place / "onnx" / "model.onnx")
    return place


@pytest.fixture
def hub_copy(hub, tmp_path):
    return Path(shutil.copytree(hub, tmp_path / "hub"))


@pytest.mark.parametrize("options", ["dim=4", "dim=4,normalize=true", "normalize=true"])
def test_cut_and_scaled_vectors_follow_from_cached_ones(folders, runtime, tmp_path, options):
    texts = tuple(("text", text) for text in TEXTS)
    spec = f"{runtime}:{folders(runtime)}"
    with VectorCache(tmp_path) as cache:
        encode(load_encoder(spec), texts, cache, lambda ready: None)
        vectors, effort = encode(load_encoder(f"{spec},{options}"), texts, cache, lambda ready: None)
    assert effort.encoded == 0
    np.testing.assert_allclose(vectors.matrix, load_encoder(f"{spec},{options}").encode(TEXTS), atol=1e-6)


def test_it_gives_the_vectors_of_the_original(folders, runtime, original):
    assert len(TEXTS) == 200
    exported = load_encoder(f"{runtime}:{folders(runtime)}")
    for role in ("text", "query"):
        found, own = exported.encode([*TEXTS, "", LONG], role), original.encode([*TEXTS, "", LONG], role)
        assert found.dtype == np.float32
        assert np.abs(found - own).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("int8", [False, True])
def test_company_does_not_move_a_vector(folders, runtime, int8):
    encoder = load_encoder(f"{runtime}:{folders(runtime, int8)}")
    together = encoder.encode(["Short.", LONG, *TEXTS])
    alone = np.concatenate([encoder.encode([text]) for text in ["Short.", LONG, *TEXTS[:20]]])
    assert np.abs(together[:22] - alone).max() <= 1e-6
    assert encoder.route().get("alone", False) is (int8 and runtime == "onnx")


@pytest.mark.slow
def test_8_bits_are_near_and_small(folders, runtime, original):
    whole, small = folders(runtime), folders(runtime, True)
    found = load_encoder(f"{runtime}:{small}").encode(TEXTS)
    cosine = (found * original.encode(TEXTS)).sum(axis=1) / np.linalg.norm(found, axis=1)
    assert 0.9 < cosine.min() < 1 - 1e-7
    weights = {"onnx": "model.onnx", "openvino": "openvino_model.bin"}[runtime]
    assert (small / weights).stat().st_size < 0.8 * (whole / weights).stat().st_size


def test_whole_numbers_are_within_half_a_step():
    from embassay.export.int8 import round_to_int8

    weights = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32)
    weights[2] = 0
    for axis in (0, 1):
        whole, scale = round_to_int8(weights, axis)
        assert whole.dtype == np.int8
        assert (np.abs(whole * scale - weights) <= scale / 2 + 1e-7).all()


def test_options_do_what_they_say(folders, runtime, original):
    place = folders(runtime)
    whole = original.encode(TEXTS[:3])
    cut = load_encoder(f"{runtime}:{place},dim=8,normalize=true").encode(TEXTS[:3])
    assert np.allclose(cut, whole[:, :8] / np.linalg.norm(whole[:, :8], axis=1, keepdims=True), atol=1e-5)
    short = load_encoder(f"{runtime}:{place},max_length=6")
    assert np.allclose(short.encode(["abc and more"]), short.encode(["abc a quite different end"]), atol=1e-6)
    assert short.card.max_tokens == 6
    asked = load_encoder(f"{runtime}:{place},query_prompt=,document_prompt=d: ")
    assert np.allclose(asked.encode(TEXTS[:3], "query"), whole, atol=1e-5)
    assert np.allclose(asked.encode(["x"], "document"), original.encode(["d: x"]), atol=1e-5)
    assert asked.card.prompts == {"document": "d: "}
    assert asked.card.spec == f"{runtime}:{place},document_prompt=d: ,query_prompt="


def test_what_is_known_without_loading(folders, runtime):
    encoder = load_encoder(f"{runtime}:{folders(runtime)}")
    assert encoder.card.prompts == {"query": "q: "}
    assert (encoder.card.max_tokens, encoder.card.similarity) == (48, "cosine")
    assert encoder.route() == {"graph": GRAPH[runtime]}
    assert encoder.count_tokens(["abc", "", "a" * 99], "text").tolist() == [5, 2, 101]
    assert encoder.count_tokens(["abc"], "query").tolist() == [7]
    encoder.encode(["abc"])
    assert encoder.route()["device"] == "cpu"
    encoder.release()
    assert encoder.route() == {"graph": GRAPH[runtime]}
    assert encoder.encode([]).shape[0] == 0


def test_its_fingerprint_is_the_content_of_what_matters(copy, folders, runtime):
    own = load_encoder(f"{runtime}:{folders(runtime)}").fingerprint
    (copy / "README.md").write_text("Words.")
    (copy / "fidelity.json").write_text("{}")
    assert load_encoder(f"{runtime}:{copy}").fingerprint == own
    for option in ("dim=8", "normalize=true", "max_length=9", "query_prompt=r: "):
        assert load_encoder(f"{runtime}:{copy},{option}").fingerprint != own
    (copy / "tokenizer.json").write_text((copy / "tokenizer.json").read_text() + " ")
    assert load_encoder(f"{runtime}:{copy}").fingerprint != own


def test_another_dimension_than_promised_is_refused(copy, runtime):
    record = json.loads((copy / "embassay.json").read_text())
    (copy / "embassay.json").write_text(json.dumps({**record, "dim": 33}))
    with pytest.raises(EncoderError, match="have 32 dimensions, but the folder's configuration says 33; export"):
        load_encoder(f"{runtime}:{copy}").encode(["a"])
    for name, value in (("max_length", -5), ("max_length", 0), ("dim", True)):
        (copy / "embassay.json").write_text(json.dumps({**record, name: value}))
        with pytest.raises(ModelNotFoundError, match="not the record of an export in format 1"):
            load_encoder(f"{runtime}:{copy}")


def test_a_graph_of_another_dimension_than_the_pooling_says_is_refused(hub_copy):
    config = hub_copy / "1_Pooling" / "config.json"
    config.write_text(json.dumps({"embedding_dimension": 64, "pooling_mode": "mean"}))
    with pytest.raises(EncoderError, match="have 32 dimensions, but the folder's configuration says 64"):
        load_encoder(f"onnx:{hub_copy}").encode(["a"])
    config.unlink()
    with pytest.raises(ModelNotFoundError, match=r"1_Pooling/config\.json: missing; copy it there, or set pooling="):
        load_encoder(f"onnx:{hub_copy}")


def test_the_pooling_of_an_export_is_in_its_graph(copy, runtime):
    with pytest.raises(
        SpecError, match="option 'pooling': cannot be used here, because the graph includes the pooling"
    ):
        load_encoder(f"{runtime}:{copy},pooling=cls")


def test_a_limit_that_leaves_no_room_for_a_word_is_refused(copy, runtime):
    with pytest.raises(EncoderError, match="the limit of 2 tokens is too short: every text has 2 special tokens"):
        load_encoder(f"{runtime}:{copy},max_length=2").encode(["a"])
    assert load_encoder(f"{runtime}:{copy},max_length=3").encode(["a"]).shape == (1, 32)


def test_texts_are_cut_after_the_model_s_positions(hub_copy):
    (hub_copy / "sentence_bert_config.json").unlink(missing_ok=True)
    settings = json.loads((hub_copy / "tokenizer_config.json").read_text())
    (hub_copy / "tokenizer_config.json").write_text(json.dumps({**settings, "model_max_length": 10**30}))
    positions = json.loads((hub_copy / "config.json").read_text())["max_position_embeddings"]
    encoder = load_encoder(f"onnx:{hub_copy}")
    assert encoder.card.max_tokens == positions
    assert np.isfinite(encoder.encode(["word " * 4 * positions])).all()


def test_what_a_graph_cannot_run_or_gives_no_number_for_is_said(folders, runtime):
    encoder = load_encoder(f"{runtime}:{folders(runtime)}")
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
def test_decisions_of_a_model_are_no_vectors(folders, runtime, outputs):
    folder = load_encoder(f"{runtime}:{folders(runtime)}").folder
    given = {name: np.ones(shape, dtype=np.float32) for name, shape in outputs.items()}
    with pytest.raises(EncoderError, match="is a text vector or a token vector; export the model"):
        text_vectors(given, folder)


def test_what_is_missing_is_named(copy, runtime):
    with pytest.raises(ModelNotFoundError, match="no such folder; create it with 'embassay export'"):
        load_encoder(f"{runtime}:{copy}/nowhere")
    with pytest.raises(SpecError, match="the model has 32 dimensions, so dim=99 is too large"):
        load_encoder(f"{runtime}:{copy},dim=99")
    with pytest.raises(SpecError, match="option 'dim': must be 1 or more"):
        load_encoder(f"{runtime}:{copy},dim=0")
    (copy / "embassay.json").write_text('{"format": 7}')
    with pytest.raises(ModelNotFoundError, match=r"embassay\.json: not the record of an export in format 1"):
        load_encoder(f"{runtime}:{copy}")
    (copy / "tokenizer.json").unlink()
    with pytest.raises(ModelNotFoundError, match=r"tokenizer\.json is missing"):
        load_encoder(f"{runtime}:{copy}")
    (copy / GRAPH[runtime]).unlink()
    with pytest.raises(ModelNotFoundError, match=rf"{GRAPH[runtime]} is missing; create it with 'embassay export'"):
        load_encoder(f"{runtime}:{copy}")


def test_damaged_files_are_named(copy, runtime):
    content = (copy / GRAPH[runtime]).read_bytes()
    (copy / GRAPH[runtime]).write_bytes(content[: len(content) // 2])
    with pytest.raises(EncoderError, match="cannot be loaded by"):
        load_encoder(f"{runtime}:{copy}").encode(["a"])
    (copy / GRAPH[runtime]).write_bytes(content)
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelNotFoundError, match=r"tokenizer\.json: damaged or not a tokenizer"):
        load_encoder(f"{runtime}:{copy}").encode(["a"])


def test_openvino_needs_its_weights(folders, tmp_path):
    copy = Path(shutil.copytree(folders("openvino"), tmp_path / "copy"))
    (copy / "openvino_model.bin").unlink()
    with pytest.raises(ModelNotFoundError, match=r"the weights \(openvino_model\.bin\) are missing"):
        load_encoder(f"openvino:{copy}")


def test_a_device_that_is_not_had_is_refused(folders, runtime):
    with pytest.raises(EncoderError, match="device 'cuda:1' is not"):
        load_encoder(f"{runtime}:{folders(runtime)},device=cuda:1").encode(["a"])
    with pytest.raises(EncoderError, match="device 'mps' is not supported by"):
        load_encoder(f"{runtime}:{folders(runtime)},device=mps").encode(["a"])


@pytest.mark.parametrize("mode", sorted(MODES))
def test_tokens_are_pooled_as_the_library_does_it(hub_copy, mode):
    config = hub_copy / "1_Pooling" / "config.json"
    config.write_text(json.dumps({"embedding_dimension": 32, "pooling_mode": mode}))
    own = load_encoder(str(hub_copy)).encode([*TEXTS[::9], LONG])
    assert np.abs(load_encoder(f"onnx:{hub_copy}").encode([*TEXTS[::9], LONG]) - own).max() < 1e-5


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


def test_without_a_pooling_configuration_the_mean_is_assumed_and_said(hub_copy, original):
    (hub_copy / "modules.json").unlink()
    encoder = load_encoder(f"onnx:{hub_copy}")
    assert encoder.card.warnings[0].startswith(
        "the folder has no pooling configuration: if the graph returns token vectors, mean"
    )
    found = encoder.encode(TEXTS[:5])
    assert np.allclose(found / np.linalg.norm(found, axis=1, keepdims=True), original.encode(TEXTS[:5]), atol=1e-5)
    other = load_encoder(f"onnx:{hub_copy},pooling=cls")
    assert not any("pooling" in warning for warning in other.card.warnings)
    assert not np.allclose(other.encode(TEXTS[:5]), found, atol=1e-2)
    assert other.fingerprint != encoder.fingerprint


def test_an_unknown_pooling_is_refused_unless_one_is_named(hub_copy):
    (hub_copy / "1_Pooling" / "config.json").write_text('{"pooling_mode": "attention"}')
    with pytest.raises(ModelNotFoundError, match="unknown pooling; set pooling="):
        load_encoder(f"onnx:{hub_copy}")
    assert load_encoder(f"onnx:{hub_copy},pooling=mean").encode(["a"]).shape == (1, 32)


def test_a_module_that_the_graph_leaves_out_is_refused(hub_copy):
    modules = json.loads((hub_copy / "modules.json").read_text())
    modules.insert(2, {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    (hub_copy / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(EncoderError, match=r"does not include the modules sentence_transformers\.models\.Dense"):
        load_encoder(f"onnx:{hub_copy}").encode(["a"])


def test_one_of_several_graphs_is_named(hub_copy, folders):
    own = load_encoder(f"onnx:{hub_copy}").fingerprint
    shutil.copy(folders("onnx", True) / "model.onnx", hub_copy / "onnx" / "model_small.onnx")
    shutil.copy(hub_copy / "model.safetensors", hub_copy / "onnx" / "model_small.onnx_data")
    assert load_encoder(f"onnx:{hub_copy}").fingerprint == own
    other = load_encoder(f"onnx:{hub_copy},file=onnx/model_small.onnx")
    assert other.fingerprint != own
    other.encode(["a"])
    assert other.route()["alone"] is True
    (hub_copy / "onnx" / "model.onnx").rename(hub_copy / "onnx" / "other.onnx")
    with pytest.raises(ModelNotFoundError, match=r"several graphs \(onnx/model_small\.onnx, onnx/other\.onnx\)"):
        load_encoder(f"onnx:{hub_copy}")
    with pytest.raises(ModelNotFoundError, match=r"no such graph; set file= to a \.onnx file"):
        load_encoder(f"onnx:{hub_copy},file=none.onnx")


def test_prompts_of_the_hub_s_configuration_are_read(hub_copy, original):
    encoder = load_encoder(f"onnx:{hub_copy}")
    assert encoder.card.prompts == {"query": "q: "}
    assert encoder.card.max_tokens == 48
    assert np.allclose(encoder.encode(["tea"], "query"), original.encode(["tea"], "query"), atol=1e-5)
    assert any("prompt for queries but none for plain texts" in warning for warning in encoder.card.warnings)
