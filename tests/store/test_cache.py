"""The vector cache gives back exactly what it was given, to its owner only."""

import os
import time

import lmdb
import numpy as np
import pytest

from embassay.errors import OutputError
from embassay.store.cache import FileHashes, VectorCache, default_folder

TEXTS = (("text", "one"), ("text", "two"), ("query", "one"))
ROWS = np.array([[1.5, -2.25], [3e-38, 4.0], [np.float32(0.1), 7.0]], dtype=np.float32)


@pytest.fixture
def cache(tmp_path):
    with VectorCache(tmp_path) as cache:
        cache.put("model", TEXTS, ROWS)
        yield cache


def test_exactly_what_was_put_comes_back(cache):
    assert np.array_equal(np.array(cache.get("model", TEXTS)), ROWS)


def test_it_survives_closing(tmp_path):
    with VectorCache(tmp_path) as cache:
        cache.put("model", TEXTS, ROWS)
    with VectorCache(tmp_path) as cache:
        assert np.array_equal(np.array(cache.get("model", TEXTS)), ROWS)


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


def test_a_damaged_or_foreign_value_is_treated_as_absent(tmp_path):
    with VectorCache(tmp_path) as cache:
        cache.put("model", TEXTS, ROWS)
        with cache._env.begin(write=True) as transaction:
            keys = [bytes(key) for key, _ in transaction.cursor()]
            values = [bytes(transaction.get(key)) for key in keys]
            transaction.put(keys[0], values[1])
            transaction.put(keys[1], values[1][:-1] + b"\x00")
            transaction.put(keys[2], b"short")
        assert cache.get("model", TEXTS) == [None, None, None]


def test_counting(cache):
    assert cache.count("model", [*TEXTS, ("text", "three")]) == 3


def test_a_place_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="no cache there"):
        VectorCache(tmp_path / "file")


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "own"))
    assert default_folder() == tmp_path / "own"
    monkeypatch.delenv("EMBASSAY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "embassay"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "embassay"


def test_file_hashes_are_remembered_until_the_file_changes(tmp_path, monkeypatch):
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    # SHA-256 of "abc": FIPS 180-4, appendix B.1.
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert FileHashes(tmp_path)(path) == expected
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("it was hashed again"))
    assert FileHashes(tmp_path)(path) == expected
    monkeypatch.undo()
    path.write_bytes(b"abd")
    os.utime(path, ns=(time.time_ns(), time.time_ns() + 10**9))
    assert FileHashes(tmp_path)(path) != expected


def test_a_damaged_memory_of_hashes_is_made_anew(tmp_path):
    (tmp_path / "hashes.json").write_text("{")
    (tmp_path / "f").write_bytes(b"abc")
    assert FileHashes(tmp_path)(tmp_path / "f").startswith("ba7816bf")


def test_the_file_is_an_lmdb_environment(tmp_path):
    with VectorCache(tmp_path) as cache:
        cache.put("model", TEXTS, ROWS)
    with lmdb.open(str(tmp_path / "vectors"), readonly=True) as env:
        assert env.stat()["entries"] == 3
