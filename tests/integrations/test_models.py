"""Vectors for libraries that take dense arrays only; the bridge to mteb without mteb."""

import numpy as np
import pytest

import embassay as ea
from embassay.cli.integrations.vectors import dense
from embassay.core.errors import EncoderError, SpecError


class Lengths:
    """One number for each text: its length."""

    def encode(self, texts):
        return np.array([[0.0, len(text)] for text in texts])


def test_what_is_no_list_of_texts_is_refused():
    encoder = ea.encoder(Lengths())
    with pytest.raises(SpecError, match="text 1 must be a str, is NoneType"):
        dense(encoder, ["a", None], "query")
    with pytest.raises(SpecError, match="needs a list of texts, not a single text"):
        dense(encoder, "who sleeps?", "query")


def test_no_texts_have_no_vectors_of_the_known_length(tmp_path):
    assert dense(ea.encoder("hashing,dim=8"), [], "query").shape == (0, 8)
    assert dense(ea.encoder(Lengths()), [], "document").shape == (0, 2)
    assert dense(ea.encoder("bow").fit(["a b"]), [], "text").shape == (0, 2)
    path = tmp_path / "vectors.jsonl"
    path.write_text('{"text": "a", "vector": [1, 2]}\n', encoding="utf-8")
    with pytest.raises(EncoderError, match=r"no texts, and the number of dimensions of .* is unknown"):
        dense(ea.encoder(f"vectors:{path}"), [], "query")


def test_sparse_vectors_become_dense():
    vectors = dense(ea.encoder("bow").fit(["a b", "b c"]), ["a b", "c"], "text")
    assert isinstance(vectors, np.ndarray)
    assert vectors.sum(axis=1).tolist() == [2, 1]
