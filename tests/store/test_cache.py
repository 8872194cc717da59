"""The vector cache gives back exactly what it was given, to its owner only."""

import os
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.core.store.hashes import sha256_of
from embassay.run.cache import cache as cache_module
from embassay.run.cache.cache import VectorCache

TEXTS = (("text", "one"), ("text", "two"), ("query", "one"))
ROWS = np.array([[1.5, -2.25], [3e-38, 4.0], [np.float32(0.1), 7.0]], dtype=np.float32)


@pytest.fixture
def cache(tmp_path):
    cache = VectorCache(tmp_path)
    cache.put("model", TEXTS, ROWS)
    return cache


@pytest.mark.parametrize(
    ("fingerprint", "text"),
    [
        ("another", ("text", "one")),
        ("model", ("document", "one")),
        ("model", ("text", "on")),
        ("mode", ("ltext", "one")),
    ],
)
def test_another_model_role_or_text_is_not_there(cache, fingerprint, text):
    assert cache.get(fingerprint, [text]) == [None]


def count(cache, fingerprint, texts):
    return sum(row is not None for row in cache.get(fingerprint, texts))


def files(folder):
    return sorted((folder / "vectors").glob("*/*.vectors"))


def test_a_file_of_another_encoder_is_not_its_own(tmp_path):
    cache = VectorCache(tmp_path)
    cache.put("model", TEXTS, ROWS)
    cache.put("other", TEXTS, -ROWS)
    first, second = files(tmp_path)
    first.replace(second)
    assert {row is None for name in ("model", "other") for row in cache.get(name, TEXTS)} == {True}


def test_a_file_is_hashed_again_when_it_changes(tmp_path, monkeypatch):
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    # SHA-256 of "abc": FIPS 180-4, appendix B.1.
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_of(path) == expected
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("it was hashed again"))
    assert sha256_of(path) == expected
    monkeypatch.undo()
    path.write_bytes(b"abd")
    os.utime(path, ns=(time.time_ns(), time.time_ns() + 10**9))
    assert sha256_of(path) != expected


TEXT = st.one_of(st.text(), st.text(st.characters(categories=["Cs", "Cc", "Ll"])), st.just("long " * 50))
PUT = st.tuples(
    st.sampled_from(["a", "b", "ab", ""]),
    st.lists(st.tuples(st.sampled_from(["text", "query", "", "a"]), TEXT), min_size=1, max_size=5, unique=True),
)


@pytest.mark.slow
@given(st.lists(PUT, max_size=6), st.booleans())
def test_it_does_as_a_dictionary_does(tmp_path_factory, puts, reopen):
    folder, model = tmp_path_factory.mktemp("model"), {}
    cache = VectorCache(folder)
    for number, (fingerprint, texts) in enumerate(puts):
        rows = np.random.default_rng(number).standard_normal((len(texts), 700), dtype=np.float32)
        cache.put(fingerprint, texts, rows)
        model |= {(fingerprint, text): row for text, row in zip(texts, rows, strict=True)}
        if reopen:
            cache = VectorCache(folder)
    every = list({text: None for _, texts in puts for text in texts})
    assert not cache.trouble
    for fingerprint in ("a", "b", "ab", "", "never put"):
        for text, row in zip(every, cache.get(fingerprint, every), strict=True):
            expected = model.get((fingerprint, text))
            assert (row is None) == (expected is None)
            assert row is None or np.array_equal(row, expected)


def test_a_full_cache_stores_no_more_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "LIMIT", 10**6)
    texts = [("text", str(n)) for n in range(400)]
    rows = np.ones((400, 768), dtype=np.float32)
    cache = VectorCache(tmp_path)
    for start in range(0, 400, 100):
        cache.put("one", texts[start : start + 100], rows[start : start + 100])
    assert cache.trouble == "it is full, at 1.0 MB; 'embassay cache clear' empties it"
    assert count(cache, "one", texts) == 300, "the files that fitted are there, whole"
