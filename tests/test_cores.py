"""Threads of libraries are held back while several cores work, and only then."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest

from embassay.core import cores


class Library:
    """Has a number of threads, as torch does."""

    def __init__(self, threads):
        self.threads = threads

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, count):
        self.threads = count


class Blas(Library):
    """Has a number of threads that threadpoolctl can limit."""

    def limit(self, limits, user_api):
        assert user_api == "blas"
        limiter = ThreadLimit(self)
        self.threads = limits
        return limiter


class ThreadLimit:
    def __init__(self, library):
        self.library, self.before = library, library.threads

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.threads = self.before


@pytest.fixture
def libraries(monkeypatch):
    """Return numpy's and torch's threads, three and four of them."""
    blas, torch = Blas(3), Library(4)
    monkeypatch.setattr(cores, "_libraries", lambda: blas)
    monkeypatch.setitem(sys.modules, "torch", torch)
    return SimpleNamespace(blas=blas, torch=torch, threads=lambda: (blas.threads, torch.threads))


def test_libraries_have_their_threads_back_when_the_last_use_ends(libraries):
    first_is_in, second_is_in, first_is_out = Event(), Event(), Event()

    def first():
        with cores.single_threads(2) as pool:
            pool.submit(int).result()
            first_is_in.set()
            assert second_is_in.wait(10)
        first_is_out.set()

    def second():
        assert first_is_in.wait(10)
        with cores.single_threads(2) as pool:
            pool.submit(int).result()
            second_is_in.set()
            assert first_is_out.wait(10)
            assert libraries.threads() == (1, 1)

    with ThreadPoolExecutor(2) as pool:
        for use in [pool.submit(first), pool.submit(second)]:
            use.result(20)
    assert libraries.threads() == (3, 4)
    with cores.single_threads(1) as pool:
        pool.submit(int).result()
        assert libraries.threads() == (1, 1)
    assert libraries.threads() == (3, 4)


@pytest.mark.parametrize("count", [1, 3])
def test_each_thread_does_its_share(count):
    shared = np.arange(10)
    assert sum(cores.in_threads(count, lambda n, of: int(shared[n::of].sum()))) == 45
    assert cores.in_threads(count, lambda n, of: (n, of)) == [(n, count) for n in range(count)]


OVERLAPPING = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from threadpoolctl import threadpool_info
from embassay.core.cores import single_threads

def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

square = np.ones((50, 50), np.float32)

def work(_):
    with single_threads(2) as pool:
        return list(pool.map(lambda number: square @ square, range(4)))

print(set(threads()))
for attempt in range(5):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))
    print(set(threads()))
"""


def test_threads_are_given_back_whoever_ends_last():
    # In a process of its own, with two threads of OpenBLAS whatever this one has.
    settings = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", OVERLAPPING], env=settings, capture_output=True, text=True, check=True)
    if done.stdout.startswith("{1}"):
        pytest.skip("OpenBLAS has one thread here")
    assert done.stdout == "{2}\n" * 6
