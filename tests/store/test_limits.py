"""How large a cache may become."""

from pathlib import Path

import pytest

from embassay.core.errors import InputError
from embassay.run.cache import limits


@pytest.mark.parametrize(
    ("said", "bytes_"),
    [
        ("5GiB", 5 << 30),
        ("500MB", 500_000_000),
        ("500 mb", 500_000_000),
        ("1.5 KiB", 1536),
        ("2T", 2 * 10**12),
        ("10b", 10),
        ("1048576", 1 << 20),
        ("0", 0),
    ],
)
def test_sizes(said, bytes_):
    assert limits.size(said) == bytes_


@pytest.mark.parametrize("said", ["plenty", "-1", "5 GiBs", "GiB", "1e9", "1,5GB", "٥GB x"])
def test_what_is_no_size(said):
    with pytest.raises(InputError, match="EMBASSAY_CACHE_LIMIT"):
        limits.size(said)


def test_the_usual_limit(tmp_path, monkeypatch):
    from collections import namedtuple

    usage = namedtuple("usage", "free")
    monkeypatch.setattr(limits.shutil, "disk_usage", lambda _: usage(1000 << 30))
    assert limits.limit(tmp_path, 0) == 20 * 10**9
    monkeypatch.setattr(limits.shutil, "disk_usage", lambda _: usage(6 << 30))
    assert limits.limit(tmp_path, 4 << 30) == 5 << 30, "what the cache has counts as free"
    monkeypatch.setenv("EMBASSAY_CACHE_LIMIT", "1GiB")
    assert limits.limit(Path("/nowhere"), 0) == 1 << 30
