"""What a folder lies on, and how large a cache may become."""

from pathlib import Path

import pytest

from embassay.errors import InputError, OutputError
from embassay.store import disks
from embassay.store.cache import VectorCache, trouble_with


@pytest.fixture
def mounts(tmp_path, monkeypatch):
    """Pretend that folders are mounted so."""

    def pretend(*lines):
        path = tmp_path / "mounts"
        path.write_text("".join(f"device {point} {kind} rw 0 0\n" for point, kind in lines))
        monkeypatch.setattr(disks, "MOUNTS", path)

    return pretend


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "lustre"])
def test_a_network_disk_is_refused(tmp_path, mounts, kind):
    mounts(("/", "ext4"), (tmp_path, kind))
    reason = f"it lies on a network disk, {kind}, where a cache is not safe"
    assert trouble_with(tmp_path / "cache") == reason
    with pytest.raises(OutputError, match=f"no cache there .{reason}"):
        VectorCache(tmp_path / "cache")
    assert not (tmp_path / "cache" / "vectors").exists()


def test_the_nearest_mount_counts_and_of_equals_the_last(tmp_path, mounts):
    mounts(("/", "nfs"), (tmp_path, "nfs"), (tmp_path, "ext4"), (tmp_path / "else", "cifs"), ("/nowhere", "nfs"))
    assert disks.remote(tmp_path / "cache") is None
    assert disks.remote(tmp_path / "else" / "cache") == "cifs"
    assert disks.remote(tmp_path / "elsewhere") is None


def test_spaces_in_names_and_links(tmp_path, mounts):
    (tmp_path / "with space").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "with space")
    mounts(("/", "ext4"), (str(tmp_path / "with space").replace(" ", r"\040"), "nfs"))
    assert disks.remote(tmp_path / "link" / "cache") == "nfs"


def test_where_nothing_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(disks, "MOUNTS", tmp_path / "none")
    assert disks.remote(tmp_path) is None


@pytest.mark.parametrize(
    ("said", "bytes_"),
    [
        ("5GiB", 5 << 30),
        ("500MB", 500_000_000),
        ("500 mb", 500_000_000),
        ("1.5 KiB", 1536),
        ("2T", 2 << 40),
        ("10b", 10),
        ("1048576", 1 << 20),
        ("0", 0),
    ],
)
def test_sizes(said, bytes_):
    assert disks.size(said) == bytes_


@pytest.mark.parametrize("said", ["plenty", "-1", "5 GiBs", "GiB", "1e9", "1,5GB", "٥GB x"])
def test_what_is_no_size(said):
    with pytest.raises(InputError, match="EMBASSAY_CACHE_LIMIT"):
        disks.size(said)


def test_the_usual_limit(tmp_path, monkeypatch):
    from collections import namedtuple

    usage = namedtuple("usage", "free")
    monkeypatch.setattr(disks.shutil, "disk_usage", lambda _: usage(1000 << 30))
    assert disks.limit(tmp_path / "not" / "there", 0) == 20 << 30
    monkeypatch.setattr(disks.shutil, "disk_usage", lambda _: usage(6 << 30))
    assert disks.limit(tmp_path, 4 << 30) == 5 << 30, "what the cache has counts as free"
    monkeypatch.setenv("EMBASSAY_CACHE_LIMIT", "1GiB")
    assert disks.limit(Path("/nowhere"), 0) == 1 << 30


def test_sizes_for_people():
    assert [disks.shown(n) for n in (0, 1023, 1024, 3 << 29, 20 << 30, 5 << 40)] == [
        "0 bytes",
        "1023 bytes",
        "1.0 KiB",
        "1.5 GiB",
        "20.0 GiB",
        "5.0 TiB",
    ]
