"""Several users of one cache at once: threads, processes, and processes that die."""

import subprocess
import sys
import time

import numpy as np
import pytest

from embassay.run.cache.cache import VectorCache

COUNT = 5000
WRITE = """
import sys
from pathlib import Path
import numpy as np
from embassay.run.cache.cache import VectorCache
folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
cache = VectorCache(folder)
for start in range(0, count, 250):
    texts = [("text", f"{name} {number}") for number in range(start, start + 250)]
    cache.put("model", texts, np.arange(start, start + 250, dtype=np.float32)[:, None] * np.ones(64, np.float32))
print(cache.trouble)
"""


@pytest.fixture
def start(start_process):
    """Start a Python program with these arguments."""

    def start_code(code, *arguments):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return start_process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start_code


def named(name, count=COUNT):
    return [("text", f"{name} {number}") for number in range(count)]


def count(cache, texts):
    return sum(row is not None for row in cache.get("model", texts))


def test_two_writers_and_a_reader_lose_nothing(tmp_path, start):
    writers = [start(WRITE, tmp_path, name, COUNT) for name in ("one", "two")]
    seen = [0]
    while any(writer.poll() is None for writer in writers):
        cache = VectorCache(tmp_path)
        seen.append(count(cache, named("one", 4000)))
        time.sleep(0.05)
    assert [(writer.communicate(), writer.returncode) for writer in writers] == [(("\n", ""), 0)] * 2
    assert seen == sorted(seen)
    assert {count % 250 for count in seen} == {0}, "a block is there whole or not at all"
    cache = VectorCache(tmp_path)
    for name in ("one", "two"):
        assert np.array_equal(np.array(cache.get("model", named(name)))[:, 0], np.arange(COUNT))
    assert [holding.vectors for holding in cache.info()] == [2 * COUNT]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_writer_killed_at_any_moment(tmp_path, start, wait_until):
    for number in range(4):
        process = start(WRITE, tmp_path, number, COUNT)
        wait_until(lambda: list(tmp_path.glob("vectors/*/*.vectors")), "the writer has begun")
        time.sleep(0.05 * number)
        process.kill()
        process.communicate()
        cache = VectorCache(tmp_path)
        assert count(cache, named(number)) % 250 == 0
        cache.put("other", [("text", "x")], np.ones((1, 8), dtype=np.float32))
        assert not cache.trouble
