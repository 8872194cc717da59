import numpy as np
import pytest

import tiny_model
from embassay.core.errors import EncoderError, SpecError
from embassay.models.base import key_in_cache
from embassay.models.neural.derived import derived_vectors
from embassay.models.neural.model import Model
from embassay.run.cache.cache import VectorCache
from embassay.run.engine.encode import encode
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_encoder
from embassay.run.specs import alternatives, parse

TEXTS = tuple(("text", text) for text in ("The shop is open.", "The shop is closed.", "Rain", ""))
pytest.importorskip("torch")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The folder of a small model with 32 dimensions."""
    return str(tiny_model.make(tmp_path_factory.mktemp("tiny")))


@pytest.fixture
def encoded(monkeypatch):
    """The texts that the models were given, each as often as it was."""
    given = []
    real = Model.batches

    def batches(self, texts, role):
        given.extend((role, text) for text in texts)
        return real(self, texts, role)

    monkeypatch.setattr(Model, "batches", batches)
    return given


def vectors_of(spec, cache):
    vectors, encoded = encode(load_encoder(spec), TEXTS, cache, lambda ready: None)
    return vectors.matrix, encoded


def test_derived_vectors_are_computed_from_cached_ones(model, tmp_path):
    cache = VectorCache(tmp_path)
    full, encoded = vectors_of(model, cache)
    assert encoded == len(TEXTS)
    cut, encoded = vectors_of(f"{model},dim=16", cache)
    assert encoded == 0
    np.testing.assert_array_equal(cut, full[:, :16])
    signs, encoded = vectors_of(f"{model},vectors=binary,dim=16", cache)
    assert encoded == 0
    np.testing.assert_array_equal(signs, np.where(full[:, :16] > 0, 1, -1))
    scaled, encoded = vectors_of(f"{model},dim=16,normalize=true", cache)
    assert encoded == 0
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), 1, rtol=1e-6)
    # Only the full vectors are kept, and under their own key.
    (holding,) = cache.info()
    assert holding.vectors == len(TEXTS)
    assert {len(row) for row in cache.get(key_in_cache(load_encoder(model)), TEXTS)} == {32}


@pytest.mark.parametrize("options", ["dim=16", "dim=16,normalize=true", "vectors=int8", "dim=8,vectors=binary"])
def test_a_derived_encoder_encodes_alone_what_it_derives(model, options, tmp_path):
    encoder = load_encoder(f"{model},{options}")
    alone = encoder.encode([text for _, text in TEXTS])
    cache = VectorCache(tmp_path)
    vectors_of(model, cache)
    np.testing.assert_allclose(vectors_of(f"{model},{options}", cache)[0], alone, atol=1e-7)


def test_int8_rounds_to_255_steps_of_the_largest_coordinate_and_binary_keeps_signs():
    rows = np.random.default_rng(0).standard_normal((5, 9)).astype(np.float32)
    step = np.abs(rows).max(axis=1, keepdims=True) / 127
    rounded = derived_vectors(rows, {"vectors": "int8"})
    np.testing.assert_allclose(rounded, np.rint(rows / step) * step, atol=1e-7)
    assert np.abs(rounded - rows).max() <= step.max() / 2 + 1e-7
    assert derived_vectors(rows, {"vectors": "binary"}).tolist() == np.where(rows > 0, 1, -1).tolist()


def test_too_many_dimensions_are_refused_also_from_the_cache(model, tmp_path):
    cache = VectorCache(tmp_path)
    vectors_of(model, cache)
    with pytest.raises(EncoderError, match="the model has 32 dimensions, so dim=500 is too large"):
        vectors_of(f"{model},dim=500", cache)


def test_a_list_of_dimensions_encodes_each_text_once(model, tmp_path, encoded):
    request = RunRequest(
        [f"{model},dim=[4,8,16,32]", model],
        ["opposites"],
        ["negated_antonyms"],
        baselines=False,
        resamples=20,
        quiet=True,
        cache=tmp_path,
    )
    outcome = execute(prepare(request))
    outcome.check()
    assert len(encoded) == len(set(encoded)) == 280
    runs = outcome.encoders
    # The others are derived from the last one, the plain model.
    assert [run.encoded for run in runs] == [0, 0, 0, 0, runs[0].texts]
    assert [record.dim for record in outcome.result.encoders] == [4, 8, 16, 32, 32]
    assert len({record.fingerprint for record in outcome.result.encoders}) == 5


def test_encoders_with_another_similarity_share_vectors_but_not_the_similarity(model, tmp_path):
    request = RunRequest([f"dot={model},similarity=dot", model, f"short={model},dim=16"], ["handbook"], ["retrieval"],
                         baselines=False, resamples=20, quiet=True, cache=tmp_path)  # fmt: skip
    outcome = execute(prepare(request))
    assert [run.encoded > 0 for run in outcome.encoders] == [True, False, False]
    assert [scores.scalars["dot"] for run in outcome.encoders for scores in run.scores.values()] == [1, 0, 0]


def test_a_list_makes_one_candidate_for_each_value():
    options = alternatives(parse("m=org/model,dim=[64, 128],vectors=[int8,binary],max_length=9", "encoder"))
    assert list(options) == [
        "dim=64,vectors=int8",
        "dim=64,vectors=binary",
        "dim=128,vectors=int8",
        "dim=128,vectors=binary",
    ]
    assert options["dim=128,vectors=binary"] == {"dim": "128", "vectors": "binary", "max_length": "9"}
    assert alternatives(parse("bow", "encoder")) == {"": {}}
    with pytest.raises(SpecError, match="the list of option 'dim' is empty"):
        alternatives(parse("m,dim=[]", "encoder"))
