"""Nothing that happens to the cache's file gives a wrong vector, a crash or a traceback."""

import os
import random
import subprocess
import sys
from pathlib import Path

import lmdb
import numpy as np
import pytest

from embassay.store import records
from embassay.store.cache import VectorCache, trouble_with
from embassay.store.environment import DamagedError
from embassay.store.files import clear

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
    """Read, write, remove and verify; return how many vectors were there at first, None where the cache is refused.

    LMDB may find damage late: then everything after it is refused too, with the same message.
    """
    try:
        with VectorCache(folder) as cache:
            found = compare(cache)
            for fingerprint, rows in TRUTH.items():
                cache.put(fingerprint, TEXTS, rows)
            compare(cache)
            cache.put("more", MORE, np.ones((200, 384), dtype=np.float32))
            cache.verify()
            cache.info()
            if not cache.trouble:
                cache.clear("more")
            compare(cache)
            assert cache.trouble in ("", damage(folder))
    except DamagedError as error:
        assert damage(folder) in str(error)
        return None
    return found


def damage(folder):
    return f"its file is damaged; 'embassay cache clear --cache {folder}' removes it"


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


def headers(content, rng):
    """Yield places in the headers of pages and nodes, and in the two pages that describe all others."""
    while True:
        page = 4096 * rng.randrange(len(content) // 4096)
        yield page + rng.randrange(64)
        yield 4096 * rng.randrange(2) + rng.randrange(16, 160)
        head = np.frombuffer(content[page : page + 4096], "<u2")
        if head[5] in (1, 2) and head[6] > 16:
            yield page + int(head[8 + rng.randrange((int(head[6]) - 16) // 2)]) + rng.randrange(8)


def test_a_sound_file_is_used_as_it_is(tmp_path, sound, capsys):
    lay(tmp_path, sound)
    assert use(tmp_path) == 240
    assert capsys.readouterr().err == ""


def flipped(content, place, rng):
    changed = bytearray(content)
    changed[place] ^= 1 << rng.randrange(8)
    return bytes(changed)


def test_a_flipped_bit_anywhere(tmp_path, sound):
    rng = random.Random(0)  # noqa: S311
    for number in range(30):
        lay(tmp_path / str(number), flipped(sound, rng.randrange(len(sound)), rng))
        use(tmp_path / str(number))


def test_a_flipped_bit_in_a_header_gives_no_wrong_vector(tmp_path, sound):
    """Nothing is written here: LMDB may crash then, see ``soundness``."""
    rng = random.Random(0)  # noqa: S311
    refused = 0
    for number, place in zip(range(40), headers(sound, rng), strict=False):
        lay(tmp_path / str(number), flipped(sound, place, rng))
        try:
            with VectorCache(tmp_path / str(number)) as cache:
                compare(cache)
        except DamagedError:
            refused += 1
    assert 0 < refused < 40


@pytest.mark.parametrize("noise", [bytes, random.Random(4).randbytes])  # noqa: S311
def test_a_block_of_zeros_or_noise_anywhere(tmp_path, sound, noise):
    rng = random.Random(1)  # noqa: S311
    found = []
    for number in range(12):
        place, size = rng.randrange(0, len(sound) - 4096, 512), rng.choice([512, 4096])
        lay(tmp_path / str(number), sound[:place] + noise(size) + sound[place + size :])
        found.append(use(tmp_path / str(number)))
    assert {None, 240} < set(found), "some files are refused, some have lost nothing, others a few vectors"


def test_a_vector_that_was_written_over_is_encoded_again(tmp_path, sound, capsys):
    place = sound.index(TRUTH["large"][7].tobytes())
    lay(tmp_path, sound[:place] + bytes(64) + sound[place + 64 :])
    assert use(tmp_path) == 239
    with VectorCache(tmp_path) as cache:
        assert compare(cache) == 240
    assert capsys.readouterr().err == ""


def test_a_file_cut_off_is_refused_and_clearing_makes_a_new_one(tmp_path, sound, capsys):
    rng = random.Random(2)  # noqa: S311
    for number, size in enumerate([1, 100, 4096, 5000, 8192, *(rng.randrange(len(sound)) for _ in range(5))]):
        folder = tmp_path / str(number)
        lay(folder, sound[:size])
        assert use(folder) is None
        assert trouble_with(folder) == damage(folder)
        assert (folder / "vectors" / "data.mdb").read_bytes() == sound[:size]
        clear(folder)
        assert use(folder) == 0
    assert capsys.readouterr().err == ""


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


def test_the_whole_file_is_read_only_when_something_else_has_changed_it(tmp_path, sound):
    """The price: a file that lost pages is opened where its size and time say that nothing has changed."""
    lay(tmp_path, sound)
    with VectorCache(tmp_path):
        pass
    data = tmp_path / "vectors" / "data.mdb"
    before = data.stat()
    with data.open("r+b") as file:
        file.seek(len(sound) // 2)
        file.write(bytes(len(sound) // 2))
    os.utime(data, ns=(before.st_atime_ns, before.st_mtime_ns))
    with VectorCache(tmp_path):
        pass
    with pytest.raises(DamagedError):
        VectorCache(tmp_path, suspicious=True)
    data.touch()
    with pytest.raises(DamagedError):
        VectorCache(tmp_path)


@pytest.mark.parametrize("error", [lmdb.CorruptedError, lmdb.PageNotFoundError])
def test_damage_found_in_use_is_absent_and_the_next_time_the_file_is_read_first(tmp_path, sound, error):
    def broken(_transaction):
        raise error("mdb_get: MDB_CORRUPTED: Located page was wrong type")

    with VectorCache(tmp_path) as cache:
        cache.put("one", TEXTS, TRUTH["one"])
    with VectorCache(tmp_path) as cache:
        with pytest.raises(DamagedError):
            cache._shared.run(broken)
        cache.put("one", TEXTS, TRUTH["one"])
    assert not (tmp_path / "vectors" / "checked").exists()
    with VectorCache(tmp_path) as cache:
        assert compare(cache) == 80
    assert (tmp_path / "vectors" / "checked").exists()


def test_a_file_of_a_later_lmdb_is_left_alone(tmp_path):
    content = bytes(24) + (0xBEEFC0DE).to_bytes(4, "little") + bytes(8192)
    lay(tmp_path, content)
    assert trouble_with(tmp_path) == damage(tmp_path)
    assert (tmp_path / "vectors" / "data.mdb").read_bytes() == content


def test_a_layout_that_is_not_known_is_refused(tmp_path):
    with VectorCache(tmp_path) as cache:
        value = records.pack(records.LAYOUT_KEY, b"2")[:-1] + b"3"
        cache._shared.run(lambda transaction: transaction.put(records.LAYOUT_KEY, value), write=True)
    assert trouble_with(tmp_path) == damage(tmp_path)


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
