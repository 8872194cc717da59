"""The loss that tells candidates apart: its scale, and its precision where batches are accumulated."""

import pytest

from embassay.training import precision
from embassay.training.base_model import find_base, load
from embassay.training.contrast import ranking_loss
from embassay.training.stage import Column, features


@pytest.fixture
def model(tiny, base):
    return load(find_base(base), tiny.settings())


@pytest.mark.parametrize("accumulate", [1, 2])
def test_products_of_unit_vectors_are_scaled_as_the_cosines_that_they_are(tiny, model, accumulate):
    from sentence_transformers import SentenceTransformer

    long = SentenceTransformer(modules=list(model)[:-1], device="cpu")
    settings = tiny.settings(accumulate=accumulate)
    scales = [ranking_loss(m, settings, s).scale for m in (model, long) for s in ("cosine", "dot")]
    assert scales == [20, 20, 20, 1]


def test_the_second_pass_of_accumulated_batches_is_in_the_precision_of_the_first(tiny, model, monkeypatch):
    import torch

    monkeypatch.setattr(precision, "bfloat16", lambda kind: True)
    loss = ranking_loss(model, tiny.settings(batch=4, accumulate=2), "cosine")
    seen = []
    model[0].register_forward_hook(lambda module, given, out: seen.append(torch.is_autocast_enabled("cpu")))
    given = [features(model, {"x": Column(tiny.sentences(16)[n : n + 8])}, 48) for n in (0, 8)]
    with precision.of_training("cpu"):
        value = loss([{name[2:]: v for name, v in batch.items()} for batch in given], None)
    first = len(seen)
    value.backward()
    assert seen == [True] * 2 * first
    assert value.dtype == torch.float32


def test_similarities_are_told_in_float32(tiny, model, monkeypatch):
    import torch

    monkeypatch.setattr(precision, "bfloat16", lambda kind: True)
    similarity = ranking_loss(model, tiny.settings(), "cosine").similarity_fct
    a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.999, 0.0447]])
    with precision.of_training("cpu"):
        assert float(similarity(a, b)) == pytest.approx(0.999, abs=1e-5)
        assert float(a @ b.T) != pytest.approx(0.999, abs=1e-5)
