"""Exact search: the same bits as a naive float64 loop, by every product, in blocks of any size and by many threads."""

import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info

from embassay.core.cores import single_threads
from embassay.search.exact import exact as topk_exact
from embassay.search.exact import top as topk
from embassay.search.exact.exact import ExactSearch, multiply, rounding, torch_device
from embassay.search.exact.top import search
from embassay.stats.geometry.closeness import paired_cosine, paired_dot

FIELDS = ("documents", "passages", "similarity", "own", "greater", "tied")


def naive(queries, passages, k, similarity_function, starts=None, pairs=()):
    """Return the same arrays by a loop over queries."""
    paired = paired_cosine if similarity_function == "cosine" else paired_dot
    count = passages.shape[0]
    starts = np.arange(count) if starts is None else starts
    ends = np.append(starts[1:], count)
    documents = np.full((queries.shape[0], k), -1)
    rows, similarity = documents.copy(), np.full(documents.shape, np.nan)
    own, greater, tied = np.full(len(pairs), np.nan), np.full(len(pairs), -1), np.full(len(pairs), -1)
    for q in range(queries.shape[0]):
        with np.errstate(all="ignore"):
            values = paired(queries[[q] * count], passages)
        # The sum of a dot product that overflows.
        values[values == -np.inf] = np.nan
        best = values
        if len(starts) < count:
            best = np.array([np.fmax.reduce(values[a:z]) for a, z in zip(starts, ends, strict=True)])
        order = [d for d in np.lexsort((np.arange(len(best)), -best)) if not np.isnan(best[d])]
        for rank, d in enumerate(order[:k]):
            documents[q, rank], similarity[q, rank] = d, best[d]
            rows[q, rank] = starts[d] + np.flatnonzero(values[starts[d] : ends[d]] == best[d])[0]
        for r in [r for r, (asked, _) in enumerate(pairs) if asked == q and order]:
            own[r] = best[pairs[r][1]]
            lost = np.isnan(own[r])
            greater[r] = len(order) if lost else (best > own[r]).sum()
            tied[r] = np.isnan(best).sum() if lost else (best == own[r]).sum()
    return documents, rows, similarity, own, greater, tied


def assert_same(found, expected):
    for name, right in zip(FIELDS, expected, strict=True):
        assert np.array_equal(getattr(found, name), right, equal_nan=name in ("similarity", "own")), name


def searched(queries, passages, k, similarity_function, starts=None, pairs=None, device=""):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topk, "torch_device", lambda: device)
        return search(queries, passages, k=k, similarity_function=similarity_function, starts=starts, pairs=pairs)


def use_threads(patch, count):
    """Search by this many threads, however small a search is."""
    patch.setattr(topk_exact, "cores", lambda: count)
    patch.setattr(topk_exact, "single_threads", lambda _: single_threads(count))


def vectors(rng, kind, count, width):
    """Return vectors of a kind that is hard in its own way."""
    rows = rng.normal(size=(count, width))
    if kind == "quantised":
        rows = rng.integers(-1, 2, size=(count, width)).astype(float)
    elif kind == "duplicates":
        rows = rows[rng.integers(0, max(1, count // 4), size=count)]
    elif kind == "constant":
        rows = np.ones((count, width))
    elif kind == "close":
        rows = 1 + 1e-6 * rows
    elif kind == "lengths":
        rows *= 10.0 ** rng.integers(-20, 20, size=(count, 1))
    elif kind == "extreme lengths":
        rows *= 10.0 ** rng.integers(-180, 160, size=(count, 1))
    elif kind == "not finite":
        rows[rng.random(rows.shape) < 0.02] = np.inf
        rows[rng.random(rows.shape) < 0.02] = -np.inf
        rows[rng.random(rows.shape) < 0.01] = np.nan
    return rows


KINDS = ("random", "quantised", "duplicates", "constant", "close", "lengths", "extreme lengths", "not finite")


@st.composite
def tasks(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count, asked, width = draw(st.integers(1, 90)), draw(st.integers(1, 9)), draw(st.integers(1, 20))
    rows = vectors(rng, draw(st.sampled_from(KINDS)), count + asked, width)
    if draw(st.booleans()):
        rows[rng.random(len(rows)) < 0.2] = 0
    with np.errstate(over="ignore", under="ignore"):
        rows = rows.astype(draw(st.sampled_from([np.float32, np.float64])))
    starts = None
    if draw(st.booleans()):
        starts = np.unique(np.append(0, rng.integers(0, count, size=draw(st.integers(0, count)))))
    documents = count if starts is None else len(starts)
    pairs = rng.integers(0, (asked, documents), size=(draw(st.sampled_from([0, asked, 40 * asked])), 2))
    return rows[count:], rows[:count], draw(st.integers(1, 12)), draw(st.sampled_from(["cosine", "dot"])), starts, pairs


@settings(max_examples=60, deadline=None)
@given(tasks())
def test_equals_a_loop(task):
    assert_same(searched(*task), naive(*task))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(tasks(), st.data())
def test_equals_a_loop_in_blocks_of_any_size(task, data):
    sizes = {"PASSAGES": [3, 16, 8192], "QUERIES": [1, 3, 512], "STRIP": [1, 2, 64], "PAIRS": [1, 7, 512]}
    with pytest.MonkeyPatch.context() as patch:
        use_threads(patch, data.draw(st.sampled_from([1, 1, 3])))
        for name, values in sizes.items():
            patch.setattr(topk_exact, name, data.draw(st.sampled_from(values)))
        assert_same(searched(*task), naive(*task))


@settings(max_examples=60, deadline=None)
@given(tasks())
def test_equals_a_loop_by_torch(task):
    pytest.importorskip("torch")
    assert_same(searched(*task, device="cpu"), naive(*task))


def large(rng, kind, starts):
    """Return a search of several blocks by several threads."""
    rows = np.float32(vectors(rng, kind, 9_110, 6))
    pairs = np.stack([rng.integers(0, 110, size=300), rng.integers(0, 1800, size=300)], axis=1)
    return rows[9_000:], rows[:9_000], 5, "dot", starts, pairs


@settings(max_examples=30, deadline=None)
@given(tasks(), st.booleans())
def test_equals_a_loop_where_vectors_are_sparse(task, counts):
    queries, passages, *rest = task
    queries, passages = (np.nan_to_num(m, posinf=1, neginf=-1) for m in (queries, passages))
    if counts:
        queries, passages = (np.abs(np.round(np.clip(m, -3, 3))) for m in (queries, passages))
    queries, passages = csr_array(queries), csr_array(passages)
    assert_same(searched(queries, passages, *rest), naive(queries, passages, *rest))


def test_worked_by_hand():
    passages = np.array([[1.0, 0], [0, 0], [0, 2], [3, 0], [0, 0], [0, 0]], dtype=np.float32)
    queries = np.array([[2.0, 0], [0, 0]], dtype=np.float32)
    starts = np.array([0, 1, 2, 4])
    pairs = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0]])
    found = search(queries, passages, k=3, similarity_function="cosine", starts=starts, pairs=pairs)
    assert found.documents.tolist() == [[0, 2, -1], [-1, -1, -1]]
    assert found.passages.tolist() == [[0, 3, -1], [-1, -1, -1]]
    assert found.similarity[0, :2].tolist() == [1, 1]
    assert found.greater.tolist() == [0, 2, 0, 2, -1]
    assert found.tied.tolist() == [2, 2, 2, 2, -1]
    assert np.isnan(found.own[[1, 3, 4]]).all()


class ReadOnAccess:
    """Passages that are larger than memory: rows are copied when they are read."""

    ndim, dtype = 2, np.dtype(np.float32)

    def __init__(self, rows):
        self._rows, self.shape = rows, rows.shape

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        assert isinstance(rows, slice) or rows.dtype == np.int64
        return np.array(self._rows[rows])


@pytest.mark.parametrize("similarity_function", ["cosine", "dot"])
def test_passages_that_are_not_in_memory(tmp_path, similarity_function):
    rows = np.random.default_rng(6).normal(size=(700, 12)).astype(np.float32)
    mapped = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(690, 12))
    mapped[:] = rows[:690]
    starts, pairs = np.arange(0, 690, 3), np.array([[0, 5], [9, 229]])
    right = naive(rows[690:], rows[:690], 4, similarity_function, starts, pairs)
    for passages in (mapped, ReadOnAccess(mapped)):
        assert_same(searched(rows[690:], passages, 4, similarity_function, starts, pairs), right)


def test_memory_does_not_grow_with_the_passages():
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(60_000, 16)).astype(np.float32)
    pairs = np.stack([np.arange(500), np.arange(500)], axis=1)
    search(rows[:5], rows, k=10, similarity_function="cosine")
    tracemalloc.start()
    search(rows[:500], rows, k=10, similarity_function="cosine", pairs=pairs)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


def test_nothing_to_find():
    for queries, passages in ((0, 3), (2, 0), (0, 0)):
        starts = np.arange(0, passages)
        found = searched(np.ones((queries, 4)), np.ones((passages, 4)), 2, "dot", starts)
        assert found.documents.shape == (queries, 2)
        assert (found.documents[:, 0] == (0 if passages else -1)).all()


@pytest.mark.parametrize("matrix", [np.array, csr_array])
@pytest.mark.parametrize("device", ["", "cpu"])
@pytest.mark.parametrize("similarity_function", ["cosine", "dot"])
def test_the_bound_holds(matrix, device, similarity_function):
    pytest.importorskip("torch")
    rng = np.random.default_rng(8)
    rows = (rng.normal(size=(300, 700)) * 10.0 ** rng.integers(-3, 4, size=(300, 1))).astype(np.float32)
    queries, passages = matrix(rows[:20]), matrix(rows[20:])
    no_pairs = np.empty((0, 2), dtype=np.int64)
    task = ExactSearch(queries, passages, np.arange(281), 1, similarity_function, no_pairs, device)
    scaled, lengths = task._scaled(passages)
    query, passage = (a.ravel() for a in np.indices((20, 280)))
    right = task._exact(query, passages, passage).reshape(20, 280)
    error = task._error[:, None] * lengths.max()
    assert (np.abs(multiply(task._rows, scaled, device) - right) <= error).all()
    # And it is of use: a hundredth of the greatest similarity at most.
    assert error.max() < 0.01 * np.abs(right).max()


def test_the_bound_allows_for_the_worst():
    """d products and d sums, each with half the roundings of Higham's bound, and both vectors' conversions."""
    assert rounding(700, np.float32) >= 702 * 2**-24


@pytest.mark.parametrize("starts", [None, np.arange(0, 125, 5)])
def test_a_product_that_breaks_its_bound_is_not_trusted(monkeypatch, starts):
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(130, 16)).astype(np.float32)
    devices = []

    def wrong(queries, passages, device):
        devices.append(device)
        products = multiply(queries, passages)
        return products + 0.01 * rng.normal(size=products.shape).astype(products.dtype) if device else products

    monkeypatch.setattr(topk_exact, "multiply", wrong)
    found = searched(rows[:5], rows[5:], 4, "cosine", starts, device="cpu")
    assert devices == ["cpu", ""]
    assert_same(found, naive(rows[:5], rows[5:], 4, "cosine", starts))


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_searches_at_once_find_the_same_and_leave_the_threads_of_blas_alone(monkeypatch):
    use_threads(monkeypatch, 2)
    task = large(np.random.default_rng(23), "random", None)
    right, before = searched(*task), blas_threads()
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: searched(*task), range(8)):
            assert_same(found, [getattr(right, name) for name in FIELDS])
    assert blas_threads() == before


INTERRUPTED = """
import signal
import numpy as np
from threadpoolctl import threadpool_info
from embassay.search.exact.top import search

def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

rows = np.random.default_rng(24).normal(size=(60_000, 16)).astype(np.float32)
before = threads()
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    search(rows, rows, k=5, similarity_function="cosine")
except KeyboardInterrupt:
    print("interrupted", threads() == before)
"""


def test_ctrl_c_ends_a_search_and_leaves_the_threads_of_blas_alone():
    # In a process of its own, where nobody else waits for signals. The whole search takes half a minute.
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted True\n"


def test_torch_multiplies_where_it_is_loaded_and_precise(monkeypatch):
    torch = pytest.importorskip("torch")
    assert torch_device() == "cpu"
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    assert torch_device() == "cuda"
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        assert torch_device() == ""
    finally:
        torch.set_float32_matmul_precision(before)
    monkeypatch.delitem(sys.modules, "torch")
    assert torch_device() == ""
