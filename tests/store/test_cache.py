"""The vector cache gives back exactly what it was given, to its owner only."""

import os
import sys
import time

import lmdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.errors import InputError, OutputError, UnknownNameError
from embassay.store import records
from embassay.store.cache import FileHashes, VectorCache, default_folder, trouble_with

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
        keys = list(map(records.keys("model"), TEXTS))

        def damage(transaction):
            values = [bytes(transaction.get(key)) for key in keys]
            transaction.put(keys[0], values[1])
            transaction.put(keys[1], values[1][:-1] + b"\x00")
            transaction.put(keys[2], b"short")

        cache._shared.run(damage, write=True)
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


@pytest.mark.parametrize("content", ["{", "[]", "[" * 100_000])
def test_a_damaged_memory_of_hashes_is_made_anew(content, tmp_path):
    (tmp_path / "hashes.json").write_text(content)
    (tmp_path / "f").write_bytes(b"abc")
    assert FileHashes(tmp_path)(tmp_path / "f").startswith("ba7816bf")


@pytest.mark.skipif(sys.platform != "linux", reason="it needs a file whose reading fails")
def test_an_unreadable_memory_of_hashes_is_made_anew(tmp_path):
    # Also for root, reading the first byte of this file is an input/output error.
    (tmp_path / "hashes.json").symlink_to("/proc/self/mem")
    (tmp_path / "f").write_bytes(b"abc")
    assert FileHashes(tmp_path)(tmp_path / "f").startswith("ba7816bf")
    assert "ba7816bf" in (tmp_path / "hashes.json").read_text()


def test_the_file_is_an_lmdb_environment(tmp_path):
    with VectorCache(tmp_path) as cache:
        cache.put("model", TEXTS, ROWS)
    with lmdb.open(str(tmp_path / "vectors"), readonly=True) as env:
        assert env.stat()["entries"] == 5, "three vectors, the layout, the encoder"


TEXT = st.one_of(st.text(), st.text(st.characters(categories=["Cs", "Cc", "Ll"])), st.just("long " * 20_000))
PUT = st.tuples(
    st.sampled_from(["a", "b", "ab", ""]),
    st.lists(st.tuples(st.sampled_from(["text", "query", "", "a"]), TEXT), min_size=1, max_size=5, unique=True),
    st.sampled_from([1, 3, 700, 1500]),
)


@pytest.mark.slow
@given(st.lists(PUT, max_size=6), st.booleans())
def test_it_does_as_a_dictionary_does(tmp_path_factory, puts, reopen):
    folder, model, dims = tmp_path_factory.mktemp("model"), {}, {}
    cache = VectorCache(folder)
    for number, (fingerprint, texts, dim) in enumerate(puts):
        rows = np.random.default_rng(number).standard_normal((len(texts), dim), dtype=np.float32)
        cache.put(fingerprint, texts, rows)
        if dims.get(fingerprint) != dim:
            model = {key: row for key, row in model.items() if key[0] != fingerprint}
        dims[fingerprint] = dim
        model |= {(fingerprint, text): row for text, row in zip(texts, rows, strict=True)}
        if reopen:
            cache.__exit__(None, None, None)
            cache = VectorCache(folder)
    every = list({text: None for _, texts, _ in puts for text in texts})
    with cache:
        assert not cache.trouble
        for fingerprint in ("a", "b", "ab", "", "never put"):
            for text, row in zip(every, cache.get(fingerprint, every), strict=True):
                expected = model.get((fingerprint, text))
                assert (row is None) == (expected is None)
                assert row is None or np.array_equal(row, expected)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c", "d"), ("a", "bc", "d")),
        (("a", "b\x1fc", "d"), ("a", "b", "c\x1fd")),
        (("a", "1:b", "c"), ("a", "", "1:bc")),
        (("a", "text", "\ud83d\ude00"), ("a", "text", "\U0001f600")),
    ],
)
def test_what_looks_alike_when_joined_has_another_key(one, other):
    assert records.keys(one[0])(one[1:]) != records.keys(other[0])(other[1:])


def test_another_dimension_replaces_the_first(cache):
    cache.put("model", TEXTS[:1], np.ones((1, 5), dtype=np.float32))
    first, *others = cache.get("model", TEXTS)
    assert np.array_equal(first, np.ones(5))
    assert others == [None, None]
    assert [holding.vectors for holding in cache.info().encoders] == [1]


def test_info_says_what_there_is_the_last_used_first(tmp_path):
    start = time.time()
    with VectorCache(tmp_path) as cache:
        cache.put("one", TEXTS, ROWS)
        cache.note("two", "org/two")
        cache.put("two", TEXTS[:2], np.ones((2, 7), dtype=np.float32))
        info = cache.info()
    assert [(h.note.fingerprint, h.note.name, h.note.dim, h.vectors) for h in info.encoders] == [
        ("two", "org/two", 7, 2),
        ("one", "", 2, 3),
    ]
    assert [h.bytes for h in info.encoders] == [2 * (33 + 8 + 28), 3 * (33 + 8 + 8)]
    assert info.vectors == 5
    assert 0 < info.live <= (tmp_path / "vectors" / "data.mdb").stat().st_size
    assert int(start) <= info.encoders[0].note.used <= time.time()


def test_reading_is_use_and_counting_is_not(tmp_path):
    with VectorCache(tmp_path) as cache:
        for fingerprint in ("one", "two", "three"):
            cache.put(fingerprint, TEXTS, ROWS)
    with VectorCache(tmp_path) as cache:
        cache.note("two", "second")
        cache.get("two", TEXTS)
        cache.count("one", TEXTS)
        cache.get("nobody", TEXTS)
    with VectorCache(tmp_path) as cache:
        assert [(h.note.fingerprint, h.note.name) for h in cache.info().encoders] == [
            ("two", "second"),
            ("three", ""),
            ("one", ""),
        ]


def test_verify_removes_what_is_not_sound(cache):
    cache.put("other", TEXTS, np.array([[1, np.nan], [np.inf, 1], [1, 1]], dtype=np.float32))
    key = records.keys("model")(TEXTS[0])

    def damage(transaction):
        transaction.put(key, b"short")
        transaction.put(records.prefix("nobody") + bytes(20), records.pack(b"", b"1234"))
        transaction.put(b"strange", b"record")

    cache._shared.run(damage, write=True)
    found = cache.verify()
    assert (found.vectors, found.removed) == (7, 4)
    assert cache.count("model", TEXTS) == 2
    assert (cache.verify().vectors, cache.verify().removed) == (3, 0)


def test_a_damaged_record_of_an_encoder_hides_its_vectors_until_it_is_written_again(cache):
    key = records.note_key(records.prefix("model"))
    cache._shared.run(lambda transaction: transaction.put(key, b"damaged"), write=True)
    assert cache.count("model", TEXTS) == 0
    assert [h.note for h in cache.info().encoders] == [None]
    cache.put("model", TEXTS[:1], ROWS[:1])
    assert cache.count("model", TEXTS) == 3


@pytest.mark.parametrize("by", ["model", "org/model"])
def test_clearing_one_encoder(cache, by):
    cache.note("model", "org/model")
    cache.put("model", TEXTS, ROWS)
    cache.put("other", TEXTS, ROWS)
    before = cache.info().live
    assert cache.clear(by) == 3
    assert (cache.count("model", TEXTS), cache.count("other", TEXTS)) == (0, 3)
    assert cache.info().live <= before


def test_clearing_an_encoder_without_its_scheme(cache):
    for fingerprint, name in (("one", "st:tall"), ("two", "st:tall,dim=2")):
        cache.note(fingerprint, name)
        cache.put(fingerprint, TEXTS, ROWS)
    assert cache.clear("tall") == 3
    assert (cache.count("one", TEXTS), cache.count("two", TEXTS)) == (0, 3)


def test_clearing_an_encoder_that_is_not_there(cache):
    with pytest.raises(UnknownNameError, match="did you mean 'model'"):
        cache.clear("modle")


def test_the_least_recently_used_make_room(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE_LIMIT", "1MiB")
    texts = [("text", str(n)) for n in range(100)]
    rows = np.ones((100, 768), dtype=np.float32)
    with VectorCache(tmp_path) as cache:
        cache.put("one", texts, rows)
        cache.put("two", texts, rows)
    with VectorCache(tmp_path) as cache:
        cache.get("one", texts)
    with VectorCache(tmp_path) as cache:
        cache.put("three", texts, rows)
        assert not cache.trouble
        assert [h.note.fingerprint for h in cache.info().encoders] == ["three", "one"]
        assert cache.info().live <= 1 << 20


def test_the_one_that_is_written_is_never_evicted(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE_LIMIT", "1MiB")
    texts = [("text", str(n)) for n in range(400)]
    rows = np.ones((400, 768), dtype=np.float32)
    with VectorCache(tmp_path) as cache:
        cache.put("other", texts[:10], rows[:10])
        for start in range(0, 400, 100):
            cache.put("one", texts[start : start + 100], rows[start : start + 100])
        assert cache.trouble == "it is full, at 1.0 MiB; EMBASSAY_CACHE_LIMIT sets another limit"
        assert cache.count("one", texts) == 200, "the blocks that fitted are there, whole"
        assert cache.count("other", texts) == 0
        assert cache.info().live <= 1 << 20


def test_room_is_used_again(tmp_path):
    texts = [("text", str(n)) for n in range(200)]
    rows = np.ones((200, 384), dtype=np.float32)
    with VectorCache(tmp_path) as cache:
        cache.put("one", texts, rows)
        size = cache._shared.data.stat().st_size
        for _ in range(20):
            cache.clear("one")
            cache.put("one", texts, rows)
        assert cache._shared.data.stat().st_size < 3 * size


def test_a_limit_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE_LIMIT", "plenty")
    with pytest.raises(InputError, match=r"EMBASSAY_CACHE_LIMIT: 'plenty' is not a size; write for example 5GiB"):
        VectorCache(tmp_path)
    with pytest.raises(InputError, match="not a size"):
        trouble_with(tmp_path)


def test_no_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE_LIMIT", "0")
    with VectorCache(tmp_path) as cache:
        cache.put("model", TEXTS, ROWS)
        assert cache.info().limit is None
        assert cache.count("model", TEXTS) == 3


def test_a_cache_of_an_earlier_version_is_emptied_and_that_is_said_once(tmp_path, capsys):
    (tmp_path / "vectors").mkdir()
    with lmdb.open(str(tmp_path / "vectors"), map_size=1 << 24) as env, env.begin(write=True) as transaction:
        for number in range(100):
            transaction.put(bytes([number]) * 32, bytes(1544))
    for expected in (f"the cache in {tmp_path} came from an earlier version and has been emptied\n", ""):
        with VectorCache(tmp_path) as cache:
            assert cache.count("model", TEXTS) == (0 if expected else 3)
            cache.put("model", TEXTS, ROWS)
            assert cache.info().vectors == 3
        assert capsys.readouterr().err == expected


def test_a_cache_of_a_later_version_is_left_alone(tmp_path):
    with VectorCache(tmp_path) as cache:
        cache.put("model", TEXTS, ROWS)
        later = records.pack(records.LAYOUT_KEY, b"3")
        cache._shared.run(lambda transaction: transaction.put(records.LAYOUT_KEY, later), write=True)
    before = (tmp_path / "vectors" / "data.mdb").read_bytes()
    with pytest.raises(OutputError, match=r"written by a later version: layout 3, not 2.*--cache, or --no-cache"):
        VectorCache(tmp_path)
    assert trouble_with(tmp_path) == "it was written by a later version: layout 3, not 2"
    assert (tmp_path / "vectors" / "data.mdb").read_bytes() == before
