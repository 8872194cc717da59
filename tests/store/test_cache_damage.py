"""Nothing that happens to the cache's file gives a wrong vector, a crash or a traceback."""

import os
import random
import subprocess
import sys
from pathlib import Path

import lmdb
import numpy as np
import pytest

from embassay.errors import OutputError
from embassay.store import environment, pages
from embassay.store.cache import VectorCache, trouble_with

DIMS = {"one": 384, "large": 1100, "small": 16}
TRUTH = {
    fingerprint: np.random.default_rng(dim).standard_normal((80, dim), dtype=np.float32)
    for fingerprint, dim in DIMS.items()
}
TEXTS = [("text", str(number)) for number in range(80)]
MORE = [("query", str(number)) for number in range(200)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a file with inner pages, values of several pages, and free pages."""
    folder = tmp_path_factory.mktemp("sound")
    with VectorCache(folder) as cache:
        cache.put("gone", MORE, np.ones((200, 500), dtype=np.float32))
        for fingerprint, rows in TRUTH.items():
            for start in range(0, 80, 20):
                cache.put(fingerprint, TEXTS[start : start + 20], rows[start : start + 20])
        cache.clear("gone")
    return (folder / "vectors" / "data.mdb").read_bytes()


def use(folder):
    """Read, write, remove and verify; return how many vectors were there at first."""
    with VectorCache(folder) as cache:
        found = compare(cache)
        for fingerprint, rows in TRUTH.items():
            cache.put(fingerprint, TEXTS, rows)
        compare(cache)
        cache.put("more", MORE, np.ones((200, 384), dtype=np.float32))
        cache.verify()
        cache.info()
        cache._evict("more")
        assert not cache.trouble
    with VectorCache(folder) as cache:
        compare(cache)
        assert cache.count("more", MORE) == 200
    return found


def compare(cache):
    rows = [
        (row, expected)
        for name, those in TRUTH.items()
        for row, expected in zip(cache.get(name, TEXTS), those, strict=True)
    ]
    assert all(np.array_equal(row, expected) for row, expected in rows if row is not None)
    return sum(row is not None for row, _ in rows)


def lay(folder, content):
    (folder / "vectors").mkdir(parents=True)
    (folder / "vectors" / "data.mdb").write_bytes(content)


def places(content, rng):
    """Yield places in the file: of any kind, in headers, in nodes, in the pages that name all others."""
    while True:
        page = 4096 * rng.randrange(len(content) // 4096)
        yield page + rng.randrange(4096)
        yield page + rng.randrange(64)
        yield 4096 * rng.randrange(2) + rng.randrange(16, 160)
        head = np.frombuffer(content[page : page + 4096], "<u2")
        if head[5] in (1, 2) and head[6] > 16:
            yield page + int(head[8 + rng.randrange((int(head[6]) - 16) // 2)]) + rng.randrange(8)


def test_a_sound_file_is_used_as_it_is(tmp_path, sound, capsys):
    lay(tmp_path, sound)
    assert use(tmp_path) == 240
    assert capsys.readouterr().err == ""


def test_a_flipped_bit_anywhere(tmp_path, sound):
    rng = random.Random(0)  # noqa: S311
    found = []
    for number, place in zip(range(60), places(sound, rng), strict=False):
        content = bytearray(sound)
        content[place] ^= 1 << rng.randrange(8)
        lay(tmp_path / str(number), content)
        found.append(use(tmp_path / str(number)))
    assert 0 in found
    assert max(found) == 240


def test_a_block_of_zeros_anywhere(tmp_path, sound):
    rng = random.Random(1)  # noqa: S311
    for number in range(20):
        place, size = rng.randrange(0, len(sound), 512), rng.choice([512, 4096])
        content = sound[:place] + bytes(min(size, len(sound) - place)) + sound[place + size :]
        lay(tmp_path / str(number), content)
        use(tmp_path / str(number))


def test_a_file_cut_off_is_begun_afresh(tmp_path, sound, capsys):
    rng = random.Random(2)  # noqa: S311
    for number, size in enumerate([1, 100, 4096, 5000, 8192, *(rng.randrange(len(sound) // 2) for _ in range(10))]):
        lay(tmp_path / str(number), sound[:size])
        assert use(tmp_path / str(number)) == 0
        assert f"{number} was damaged (" in capsys.readouterr().err


def test_an_empty_file_is_a_new_cache(tmp_path, capsys):
    lay(tmp_path, b"")
    assert use(tmp_path) == 0
    assert capsys.readouterr().err == ""


def test_an_older_state_is_never_mistaken_for_a_sound_one(tmp_path, sound):
    """The meta page of an earlier transaction made the newer one: its pages have been written over."""
    content = bytearray(sound)
    older = min((0, 4096), key=lambda at: int.from_bytes(sound[at + 144 : at + 152], "little"))
    content[older + 144 : older + 152] = (10**6).to_bytes(8, "little")
    lay(tmp_path, content)
    use(tmp_path)


def test_every_kind_of_damage_is_seen(tmp_path):
    """Of each field of a leaf page's header and nodes, and of the list of free pages."""
    with VectorCache(tmp_path / "few") as cache:
        cache.put("small", TEXTS[:5], TRUTH["small"][:5])
    few = (tmp_path / "few" / "vectors" / "data.mdb").read_bytes()
    meta = max(pages.metas(tmp_path / "few" / "vectors" / "data.mdb"), key=lambda meta: meta.transaction)
    leaf = meta.main.root * 4096
    node = leaf + int.from_bytes(few[leaf + 16 : leaf + 18], "little")
    free = meta.free.root * 4096
    listed = free + int.from_bytes(few[free + 16 : free + 18], "little") + 16
    for number, place in enumerate(
        [leaf, leaf + 10, leaf + 12, leaf + 14, leaf + 16, node, node + 2, node + 4, node + 6, listed, listed + 15]
    ):
        content = bytearray(few)
        content[place] ^= 4
        lay(tmp_path / str(number), content)
        with (
            lmdb.open(str(tmp_path / str(number) / "vectors"), map_size=1 << 30) as env,
            env.begin() as transaction,
            pytest.raises(pages.DamagedError),
        ):
            pages.check(tmp_path / str(number) / "vectors" / "data.mdb", transaction.id())


def test_pages_are_looked_at_only_when_someone_else_has_written(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(environment, "_look", lambda *_: looked.append(1))
    for _ in range(3):
        with VectorCache(tmp_path) as cache:
            cache.put("one", TEXTS, TRUTH["one"])
            cache.get("one", TEXTS)
    assert not looked
    (tmp_path / "vectors" / "data.mdb").touch()
    with VectorCache(tmp_path):
        assert len(looked) == 1
    with VectorCache(tmp_path, suspicious=True):
        assert len(looked) == 2


@pytest.mark.parametrize("error", [lmdb.CorruptedError, lmdb.PageNotFoundError])
def test_damage_found_in_use_is_absent_and_the_next_time_begins_afresh(tmp_path, monkeypatch, capsys, error):
    def broken(*_):
        raise error("mdb_get: MDB_CORRUPTED: Located page was wrong type")

    with VectorCache(tmp_path) as cache:
        cache.put("one", TEXTS, TRUTH["one"])
        monkeypatch.setattr("embassay.store.cache.note_of", broken)
        assert cache.get("one", TEXTS) == [None] * 80
        assert cache.trouble == "Located page was wrong type"
        cache.put("one", TEXTS, TRUTH["one"])
        monkeypatch.setattr("embassay.store.cache.holdings", broken)
        with pytest.raises(OutputError, match="Located page was wrong type"):
            cache.info()
    monkeypatch.undo()
    with VectorCache(tmp_path) as cache:
        assert "was damaged (a page could not be read)" in capsys.readouterr().err
        assert cache.count("one", TEXTS) == 0
        cache.put("one", TEXTS, TRUTH["one"])
    with VectorCache(tmp_path) as cache:
        assert cache.count("one", TEXTS) == 80


def test_a_file_of_a_later_lmdb_is_left_alone(tmp_path):
    content = bytes(24) + (0xBEEFC0DE).to_bytes(4, "little") + bytes(8192)
    lay(tmp_path, content)
    assert trouble_with(tmp_path) == "it was written by a later version of LMDB"
    assert (tmp_path / "vectors" / "data.mdb").read_bytes() == content


def test_a_layout_that_is_not_known_is_begun_afresh(tmp_path, capsys):
    from embassay.store.records import LAYOUT_KEY

    with VectorCache(tmp_path) as cache:
        cache._shared.run(lambda transaction: transaction.put(LAYOUT_KEY, b"damaged"), write=True)
    with VectorCache(tmp_path) as cache:
        cache.put("one", TEXTS, TRUTH["one"])
        assert cache.count("one", TEXTS) == 80
    assert "its layout is not known" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error", [lmdb.DiskError("mdb_txn_commit: No space left on device"), OSError(28, "No space left on device")]
)
def test_a_full_disk_is_named_and_nothing_more_is_kept(tmp_path, monkeypatch, error):
    with VectorCache(tmp_path) as cache:
        cache.put("one", TEXTS[:1], TRUTH["one"][:1])
        monkeypatch.setattr(cache._shared, "run", _raising(cache._shared.run, error))
        cache.put("one", TEXTS, TRUTH["one"])
        assert cache.trouble == "No space left on device"
        cache.put("one", TEXTS, TRUTH["one"])
        assert cache.count("one", TEXTS) == 1


def _raising(run, error):
    def instead(work, write=False):
        if write:
            raise error
        return run(work, write)

    return instead


FILL = """
import numpy as np, sys
from pathlib import Path
from embassay.store.cache import VectorCache, trouble_with
folder = Path(sys.argv[1])
texts = [("text", str(n)) for n in range(200)]
rows = np.ones((200, 384), dtype=np.float32)
with VectorCache(folder) as cache:
    for number in range(30):
        cache.put(str(number), texts, rows)
    kept = [cache.count(str(number), texts) for number in range(30)]
    print(cache.trouble, sorted(set(kept)), cache.verify().removed, sep="|")
with VectorCache(folder, suspicious=True) as cache:
    print([cache.count(str(number), texts) for number in range(30)] == kept)
"""


ASK = """
import sys
from pathlib import Path
from embassay.store.cache import trouble_with
print(trouble_with(Path(sys.argv[1])))
"""


@pytest.fixture
def on_small_disk(tmp_path):
    """Run Python code with a folder on a tmpfs of its own, where the system lets us have one."""

    def run(code, size, before="true"):
        mount = f"mount -t tmpfs -o size={size} none {tmp_path}"
        if subprocess.run(["unshare", "-rm", "bash", "-c", mount], capture_output=True).returncode:
            pytest.skip("no tmpfs of our own here")
        script = f"{mount}; cd {tmp_path}; {before}; {sys.executable} -c '{code}' {tmp_path}/cache"
        environment = os.environ | {"EMBASSAY_CACHE_LIMIT": "0"}
        done = subprocess.run(["unshare", "-rm", "bash", "-c", script], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def test_a_disk_that_becomes_full(on_small_disk):
    first, second = on_small_disk(FILL, "4m")
    trouble, kept, removed = first.split("|")
    assert trouble in ("No space left on device", "the disk is full, or fails (Input/output error)")
    assert (kept, removed) == ("[0, 200]", "0"), "whole transactions only"
    assert second == "True"


def test_a_new_cache_on_a_disk_that_is_full_already(on_small_disk):
    (said,) = on_small_disk(ASK, "1m", "mkdir cache; head -c 2m /dev/zero > filler 2> /dev/null")
    assert "No space left on device" in said


def test_few_addresses_are_enough(tmp_path):
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 35, 1 << 35)); from pathlib import Path; "
        "from embassay.store.cache import trouble_with; print(trouble_with(Path(sys.argv[1])))"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert done.stdout == "None\n", done.stderr
    assert Path(tmp_path / "vectors" / "data.mdb").exists()
