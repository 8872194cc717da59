"""Nothing that happens to the cache's files gives a wrong vector or a traceback; what is damaged is encoded again."""

import random

import numpy as np
import pytest

from embassay.run.cache.cache import VectorCache

DIMS = {"one": 384, "large": 1100, "small": 16}
TRUTH = {
    fingerprint: np.random.default_rng(dim).standard_normal((80, dim), dtype=np.float32)
    for fingerprint, dim in DIMS.items()
}
TEXTS = [("text", str(number)) for number in range(80)]


@pytest.fixture
def filled(tmp_path):
    """A cache with four files for each encoder."""
    cache = VectorCache(tmp_path)
    for fingerprint, rows in TRUTH.items():
        for start in range(0, 80, 20):
            cache.put(fingerprint, TEXTS[start : start + 20], rows[start : start + 20])
    return tmp_path


def sound_vectors(cache):
    """Return how many vectors are there; all of them must be right."""
    count = 0
    for fingerprint, rows in TRUTH.items():
        for row, expected in zip(cache.get(fingerprint, TEXTS), rows, strict=True):
            assert row is None or np.array_equal(row, expected)
            count += row is not None
    return count


def flipped(content, rng):
    changed = bytearray(content)
    changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwritten(content, rng):
    start = rng.randrange(len(content))
    length = min(rng.randrange(1, 5000), len(content) - start)
    return content[:start] + rng.randbytes(length) + content[start + length :]


def zeroed(content, rng):
    start = rng.randrange(len(content))
    return content[:start] + bytes(len(content) - start)


def truncated(content, rng):
    return content[: rng.randrange(len(content))]


def lengthened(content, rng):
    return content + rng.randbytes(1 + rng.randrange(9))


@pytest.mark.parametrize("damage", [flipped, overwritten, zeroed, truncated, lengthened])
def test_a_damaged_file_is_skipped_counted_and_its_texts_are_stored_again(filled, damage):
    rng = random.Random(damage.__name__)  # noqa: S311
    files = sorted((filled / "vectors").glob("*/*.vectors"))
    for path in files:
        sound = path.read_bytes()
        path.write_bytes(damage(sound, rng))
        cache = VectorCache(filled)
        assert 220 <= sound_vectors(cache) <= 240
        assert not cache.trouble
        path.write_bytes(sound)
    for path in files:
        path.write_bytes(damage(path.read_bytes(), rng))
    cache = VectorCache(filled)
    for fingerprint, rows in TRUTH.items():
        cache.put(fingerprint, TEXTS, rows)
    assert sound_vectors(cache) == 240
    cache = VectorCache(filled)
    assert sound_vectors(cache) == 240, "the sound file is preferred to the damaged one"


def test_a_full_disk_is_said_and_nothing_is_half_written(filled, monkeypatch):
    def fails(handle):
        raise OSError(28, "No space left on device")

    cache = VectorCache(filled)
    before = sorted((filled / "vectors").rglob("*"))
    monkeypatch.setattr("os.fsync", fails)
    cache.put("one", [("text", "more")], np.ones((1, 384), dtype=np.float32))
    assert cache.trouble.endswith("cannot be written: No space left on device")
    assert sorted((filled / "vectors").rglob("*")) == before
