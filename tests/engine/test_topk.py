"""Exact search: the same bits as a naive float64 loop, on every route and in blocks of any size."""

import importlib.util
import subprocess
import sys
import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from embassay.engine import (
    _topk_count,
    _topk_eight,
    _topk_faiss,
    _topk_products,
    _topk_rows,
    _topk_scan,
    _topk_torch,
    topk,
)
from embassay.engine._topk_prepared import Prepared, Sizes, rounding
from embassay.engine._topk_task import Task
from embassay.engine.topk import search
from embassay.errors import MissingExtraError, UnknownNameError
from embassay.geometry.closeness import paired_cosine, paired_dot


def has_eight_bits():
    """Say whether torch is here, and multiplies 8 bits on this processor."""
    torch = importlib.util.find_spec("torch") and importlib.import_module("torch")
    return bool(torch) and _topk_eight.exact(torch)


eight = pytest.mark.skipif(not has_eight_bits(), reason="torch has no fast products of 8 bits here")
SIZES = (None, Sizes(16, 3, 8), Sizes(8, 1, 8), Sizes(40, 7, 16))
FIELDS = ("documents", "passages", "similarity", "own", "greater", "tied")


def naive(queries, passages, k, measure, starts=None, pairs=()):
    """Return the same arrays by a loop over queries."""
    paired = paired_cosine if measure == "cosine" else paired_dot
    count = passages.shape[0]
    starts = np.arange(count) if starts is None else starts
    ends = np.append(starts[1:], count)
    documents = np.full((queries.shape[0], k), -1)
    rows, similarity = documents.copy(), np.full(documents.shape, np.nan)
    own, greater, tied = np.full(len(pairs), np.nan), np.full(len(pairs), -1), np.full(len(pairs), -1)
    for q in range(queries.shape[0]):
        with np.errstate(invalid="ignore"):
            values = paired(queries[[q] * count], passages)
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


def same(found, expected):
    for name, right in zip(FIELDS, expected, strict=True):
        assert np.array_equal(getattr(found, name), right, equal_nan=name in ("similarity", "own")), name


def blocked(queries, passages, k, measure, starts=None, pairs=None, route="numpy", sizes=None):
    """Search in blocks of some size."""
    task = Task(queries, passages, starts, k, measure)
    pairs = np.empty((0, 2), np.int64) if pairs is None else pairs
    products, name = topk._products(task, route, "cpu", sizes, places=len(pairs) > 0)
    return topk._exact(task, pairs, k, products, name)


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
    return rows


KINDS = ("random", "quantised", "duplicates", "constant", "close", "lengths")


@st.composite
def tasks(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count, asked, width = draw(st.integers(1, 90)), draw(st.integers(1, 9)), draw(st.integers(1, 20))
    rows = vectors(rng, draw(st.sampled_from(KINDS)), count + asked, width)
    if draw(st.booleans()):
        rows[rng.random(len(rows)) < 0.2] = 0
    rows = rows.astype(draw(st.sampled_from([np.float32, np.float64])))
    starts = None
    if draw(st.booleans()):
        starts = np.unique(np.append(0, rng.integers(0, count, size=draw(st.integers(0, count)))))
    documents = count if starts is None else len(starts)
    pairs = rng.integers(0, (asked, documents), size=(draw(st.sampled_from([0, asked, 12 * asked])), 2))
    return rows[count:], rows[:count], draw(st.integers(1, 12)), draw(st.sampled_from(["cosine", "dot"])), starts, pairs


ALWAYS = -1000
"""So little does it cost to look at scattered scores that all counting is by them."""


@settings(max_examples=150, deadline=None)
@given(tasks(), st.sampled_from(SIZES), st.sampled_from([_topk_count.SCATTERED, ALWAYS]))
def test_equals_a_loop(task, sizes, scattered):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_topk_count, "SCATTERED", scattered)
        same(blocked(*task, sizes=sizes), naive(*task))


@settings(max_examples=60, deadline=None)
@given(tasks(), st.sampled_from(SIZES), st.sampled_from(["torch", "bf16"]), st.sampled_from([4, ALWAYS]))
def test_equals_a_loop_by_torch(task, sizes, route, scattered):
    pytest.importorskip("torch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_topk_count, "SCATTERED", scattered)
        same(blocked(*task, sizes=sizes, route=route), naive(*task))


@pytest.mark.parametrize("starts", [None, np.arange(0, 3000, 3)])
def test_places_near_the_top_are_counted_by_few_scores(monkeypatch, starts):
    rng = np.random.default_rng(4)
    rows = vectors(rng, "duplicates", 3020, 24).astype(np.float32)
    args = (rows[3000:], rows[:3000], 8, "cosine", starts)
    near = naive(*args)[0]
    pairs = np.stack([np.repeat(np.arange(20), 2), near[:, [2, 6]].ravel()], axis=1)
    monkeypatch.setattr(_topk_count, "_tally_others", lambda *_: pytest.fail("all scores were looked at"))
    right = naive(*args, pairs)
    same(blocked(*args, pairs, sizes=Sizes(1024, 16, 8)), right)
    # Part by part, with passages of one document in several parts.
    parts, real = [], _topk_count._sides
    monkeypatch.setattr(_topk_products, "AT_ONCE", 4)
    monkeypatch.setattr(_topk_count, "_sides", lambda *args: parts.append(len(args[2])) or real(*args))
    same(blocked(*args, pairs, sizes=Sizes(1024, 16, 8)), right)
    assert max(parts) <= 4 * 8
    assert len(parts) > 6


@eight
def test_equals_a_loop_by_eight_bits(monkeypatch):
    asked, settled, real = [], [], topk.scan

    def scan(answer, product, ids):
        left = real(answer, product, ids)
        if isinstance(product, _topk_eight.EightBitProduct):
            asked.append(len(ids))
            settled.append(len(ids) - len(left))
        return left

    monkeypatch.setattr(topk, "scan", scan)
    for seed, (kind, measure) in enumerate(product(KINDS, ["cosine", "dot"])):
        rng = np.random.default_rng(seed)
        for dtype in (np.float32, np.float64):
            count, step, width = (int(n) for n in rng.integers((100, 16, 1), (200, 41, 40)))
            rows = np.clip(vectors(rng, kind, count + 8, width), -1e11, 1e11).astype(dtype)
            if kind == "lengths":
                rows = rng.normal(size=rows.shape) * 10.0 ** rng.integers(-11, 12, size=(len(rows), 1))
            rows[rng.random(len(rows)) < rng.choice([0, 0.2])] = 0
            starts = None if rng.random() < 0.5 else np.unique(np.append(0, rng.integers(0, count, size=count // 2)))
            args = (rows[count:], rows[:count], int(rng.integers(1, 4)), measure, starts)
            same(blocked(*args, sizes=Sizes(step, int(rng.integers(1, 9)), 8), route="int8"), naive(*args))
    assert sum(settled) > sum(asked) / 2


@pytest.mark.parametrize(("route", "asks"), [("numpy", True), ("int8", False)])
@pytest.mark.parametrize("measure", ["cosine", "dot"])
def test_a_crew_of_three_finds_the_same(monkeypatch, route, asks, measure):
    if route == "int8" and not has_eight_bits():
        pytest.skip("torch has no products of 8 bits here")
    monkeypatch.setattr(_topk_products, "cores", lambda: 3)
    monkeypatch.setattr(_topk_products, "FOR_A_CORE", 8)
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(1040, 24)).astype(np.float32)
    starts = np.arange(0, 1000, 2)
    pairs = np.stack([np.arange(40), rng.integers(0, 500, 40)], axis=1)[: 40 * asks]
    args = (rows[1000:], rows[:1000], 5, measure, starts, pairs)
    found = blocked(*args, route=route, sizes=Sizes(96, 7, 8))
    assert "again" not in found.route
    same(found, naive(*args))


@settings(max_examples=80, deadline=None)
@given(tasks(), st.booleans())
def test_equals_a_loop_where_vectors_are_sparse(task, counts):
    queries, passages, *rest = task
    if counts:
        queries, passages = (np.abs(np.round(np.clip(m, -3, 3))) for m in (queries, passages))
    queries, passages = csr_array(queries), csr_array(passages)
    same(
        search(queries, passages, k=rest[0], measure=rest[1], starts=rest[2], pairs=rest[3]),
        naive(queries, passages, *rest),
    )


@pytest.mark.parametrize("measure", ["cosine", "dot"])
@pytest.mark.parametrize("kind", KINDS)
def test_routes_agree_to_the_bit(kind, measure):
    pytest.importorskip("torch")
    rng = np.random.default_rng(4)
    rows = vectors(rng, kind, 3040, 24).astype(np.float32)
    pairs = np.stack([rng.integers(0, 40, size=400), rng.integers(0, 1000, size=400)], axis=1)
    for starts in (None, np.arange(0, 3000, 3)):
        args = (rows[3000:], rows[:3000], 10, measure, starts, pairs)
        right = blocked(*args)
        for route in ("torch", "bf16"):
            same(blocked(*args, route=route, sizes=Sizes(512, 16, 8)), [getattr(right, name) for name in FIELDS])


def test_the_first_pass_settles_what_is_usual():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(9_030, 32)).astype(np.float32)
    pairs = np.stack([np.arange(30), rng.integers(0, 9_000, size=30)], axis=1)
    found = search(rows[:30], rows[30:], k=10, measure="cosine", pairs=pairs, route="numpy")
    assert found.route == "exact: numpy float32, decided in float64"
    same(found, naive(rows[:30], rows[30:], 10, "cosine", None, pairs))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("route", ["numpy", "torch", "bf16", "int8"])
def test_passages_that_are_not_finite_have_no_cosine(route, dtype):
    if route != "numpy":
        pytest.importorskip("torch")
    if route == "int8" and not has_eight_bits():
        pytest.skip("torch has no products of 8 bits here")
    rng = np.random.default_rng(14)
    rows = rng.normal(size=(410, 8)).astype(dtype)
    rows[rng.random(410) < 0.1, 3] = np.inf
    rows[rng.random(410) < 0.1, 5] = -np.inf
    rows[rng.random(410) < 0.1, 1] = np.nan
    rows[rng.random(410) < 0.1] = 0
    rows[:10] = rng.normal(size=(10, 8))
    rows[:5, [3, 5]] = 0
    for starts in (None, np.arange(0, 400, 4)):
        pairs = np.argwhere(np.ones((10, 60)))[:: 1 if route != "int8" else 601]
        pairs = pairs[: 0 if route == "int8" else None]
        args = (rows[:10], rows[10:], 4, "cosine", starts, pairs)
        found = blocked(*args, route=route, sizes=Sizes(64, 5, 8))
        assert "again" not in found.route
        assert "whole" not in found.route
        same(found, naive(*args))
    args = (rows[:10], rows[10:], 4, "dot")
    same(blocked(*args, route=route, sizes=Sizes(64, 5, 8)), naive(*args))


def test_passages_of_odd_lengths_that_are_finite_have_a_cosine():
    rows = np.random.default_rng(15).normal(size=(60, 8))
    rows[20], rows[30] = 1e200 * rows[20], 1e-200 * rows[30]
    same(blocked(rows[:4], rows, 50, "cosine"), naive(rows[:4], rows, 50, "cosine"))


def test_differences_below_single_precision_decide():
    query = np.zeros((1, 384))
    query[0, 0] = 1
    passages = np.zeros((500, 384))
    angle = 0.5 + 1e-9 * np.random.default_rng(1).permutation(500)
    passages[:, 0], passages[:, 1] = np.cos(angle), np.sin(angle)
    pairs = np.stack([np.zeros(500, int), np.arange(500)], axis=1)
    found = blocked(query, passages, 500, "cosine", None, pairs, sizes=Sizes(64, 4, 8))
    assert np.array_equal(found.documents[0], np.argsort(angle))
    assert np.array_equal(found.greater, np.argsort(np.argsort(angle)))
    assert (found.tied == 1).all()
    assert np.unique((passages @ query[0]).astype(np.float32)).size < 20


@pytest.mark.parametrize("kind", ["constant", "quantised"])
def test_thousands_of_equal_documents(kind):
    rng = np.random.default_rng(2)
    rows = vectors(rng, kind, 6010, 8).astype(np.float32)
    pairs = np.stack([np.arange(10), rng.integers(0, 6000, size=10)], axis=1)
    args = (rows[6000:], rows[:6000], 5, "cosine", None, pairs)
    found = blocked(*args, sizes=Sizes(1024, 8, 8))
    same(found, naive(*args))
    if kind == "constant":
        assert "10 worked out whole" in found.route
        assert (found.tied == 6000).all()


def test_a_document_longer_than_a_block():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(430, 8)).astype(np.float32)
    starts = np.array([0, 5, 205, 206, 399])
    pairs = np.argwhere(np.ones((30, 5)))
    args = (rows[400:], rows[:400], 3, "dot", starts, pairs)
    same(blocked(*args, sizes=Sizes(16, 8, 8)), naive(*args))


def test_worked_by_hand():
    passages = np.array([[1.0, 0], [0, 0], [0, 2], [3, 0], [0, 0], [0, 0]], dtype=np.float32)
    queries = np.array([[2.0, 0], [0, 0]], dtype=np.float32)
    starts = np.array([0, 1, 2, 4])
    pairs = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0]])
    found = search(queries, passages, k=3, measure="cosine", starts=starts, pairs=pairs)
    assert found.documents.tolist() == [[0, 2, -1], [-1, -1, -1]]
    assert found.passages.tolist() == [[0, 3, -1], [-1, -1, -1]]
    assert found.similarity[0, :2].tolist() == [1, 1]
    assert found.greater.tolist() == [0, 2, 0, 2, -1]
    assert found.tied.tolist() == [2, 2, 2, 2, -1]
    assert np.isnan(found.own[[1, 3, 4]]).all()


@pytest.mark.parametrize("measure", ["cosine", "dot"])
def test_memory_mapped_passages(tmp_path, measure):
    rows = np.random.default_rng(6).normal(size=(700, 12)).astype(np.float32)
    mapped = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(690, 12))
    mapped[:] = rows[:690]
    same(blocked(rows[690:], mapped, 4, measure, sizes=Sizes(64, 4, 8)), naive(rows[690:], rows[:690], 4, measure))


def test_memory_does_not_grow_with_the_passages():
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(60_000, 16)).astype(np.float32)
    pairs = np.stack([np.arange(500), np.arange(500)], axis=1)
    search(rows[:5], rows, k=10, measure="cosine", route="numpy")
    tracemalloc.start()
    search(rows[:500], rows, k=10, measure="cosine", route="numpy", pairs=pairs)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


@pytest.mark.parametrize("sizes", SIZES)
def test_nothing_to_find(sizes):
    for queries, passages in ((0, 3), (2, 0), (0, 0)):
        starts = np.arange(0, passages)
        found = blocked(np.ones((queries, 4)), np.ones((passages, 4)), 2, "dot", starts, sizes=sizes)
        assert found.documents.shape == (queries, 2)
        assert (found.documents[:, 0] == (0 if passages else -1)).all()


def test_no_documents_wanted_but_places():
    rows = np.eye(3)
    found = search(rows, rows, k=0, measure="cosine", pairs=np.array([[1, 1], [1, 2]]))
    assert found.documents.shape == (3, 0)
    assert found.greater.tolist() == [0, 1]


def test_an_empty_list_asks_for_no_places():
    assert search(np.eye(3), np.eye(3), k=1, measure="dot", pairs=[]).greater.shape == (0,)


def test_of_several_devices_the_first_searches():
    pytest.importorskip("torch")
    found = search(np.eye(3), np.eye(3), k=1, measure="dot", route="torch", device="cpu,cuda:0")
    assert found.route == "exact: torch float32 on cpu, decided in float64"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("measure", ["cosine", "dot"])
def test_the_bound_holds(dtype, measure):
    rng = np.random.default_rng(8)
    rows = (rng.normal(size=(300, 700)) * 10.0 ** rng.integers(-3, 4, size=(300, 1))).astype(np.float32)
    task = Task(rows[:20], rows[20:], None, 1, measure)
    data = Prepared(task, np.arange(20), Sizes(280, 20, 8), dtype)
    data.begin(0)
    data.fill(0, 1)
    assert data.turn()
    lengths, scores = data.now.lengths, data.queries @ data.now.rows.T
    right = np.stack([task.similarity(np.full(280, q), np.arange(280)) for q in range(20)])
    if measure == "dot":
        right /= np.sqrt(task.squares)[:, None]
    assert (np.abs(scores - right) <= data.error * lengths).all()
    assert data.error == rounding(700, np.finfo(dtype).eps / 2)


def test_the_bound_allows_for_the_worst():
    """d products, each with a rounding, the sums of them with another, and both vectors' scaling."""
    assert rounding(700, 2**-24) >= 1.5 * 700 * 2**-24


def test_the_bound_of_bfloat16_holds_where_it_loses_most():
    """Each coordinate is all but half a digit above a number of bfloat16, and pulls the same way."""
    pytest.importorskip("torch")
    rng = np.random.default_rng(16)
    signs = rng.choice([-1.0, 1], size=(20, 64))
    sizes = rng.choice([1, 2**-6], size=(400, 64), p=[5 / 6, 1 / 6])
    passages = np.repeat(signs, 20, axis=0) * sizes * (1 + 0.98 * 2**-8)
    task = Task(signs, passages, None, 1, "dot")
    found = _topk_torch.TorchProduct(task, np.arange(20), Sizes(400, 20, 8), half=True)
    found.data.begin(0)
    found.data.fill(0, 1)
    bound = found.turn()
    found.multiply(slice(0, 20))
    row, column = (a.ravel() for a in np.indices((20, 400)))
    right = task.similarity(row, column) / 8
    off = np.abs(found.lines(np.arange(20))[row, column] - right) / bound.of(row, column)
    assert 0.6 < off.max() <= 1


def test_float32_in_less_precision_has_a_wider_bound():
    torch = pytest.importorskip("torch")
    rows = np.random.default_rng(17).normal(size=(40, 8))
    task, before = Task(rows, rows, None, 3, "cosine"), torch.get_float32_matmul_precision()
    try:
        for precision, least in (("highest", 0), ("medium", 3 * 2**-8)):
            torch.set_float32_matmul_precision(precision)
            found = _topk_torch.TorchProduct(task, np.arange(40), Sizes(40, 40, 8))
            assert least <= found._per_query.min() <= found._per_query.max() < least + 1e-4 + least / 10
        same(blocked(rows[:9], rows, 3, "cosine", route="torch"), naive(rows[:9], rows, 3, "cosine"))
    finally:
        torch.set_float32_matmul_precision(before)


def test_candidates_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(_topk_scan, "WAITING", 100)
    monkeypatch.setattr(_topk_products, "AT_ONCE", 8)
    waiting, real = [], _topk_scan._compact

    def compact(lane, answer):
        waiting.append(sum(len(part[0]) for part in lane.waiting))
        real(lane, answer)

    monkeypatch.setattr(_topk_scan, "_compact", compact)
    rows = np.random.default_rng(18).normal(size=(520, 8)).astype(np.float32)
    same(blocked(rows[:20], rows, 60, "cosine", sizes=Sizes(128, 20, 8)), naive(rows[:20], rows, 60, "cosine"))
    assert max(waiting) <= 100 + 8 * 8


@pytest.mark.parametrize("wrong_by", ["much", "nan"])
def test_a_product_that_breaks_its_bound_is_not_trusted(monkeypatch, wrong_by):
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(130, 16)).astype(np.float32)
    real = np.matmul

    def wrong(a, b, out):
        real(a, b, out=out)
        if wrong_by == "nan":
            out[:, 7] = np.nan
        else:
            out += 0.01 * rng.normal(size=out.shape).astype(out.dtype)

    monkeypatch.setattr("embassay.engine._topk_products.np.matmul", wrong)
    for starts in (None, np.arange(0, 125, 5)):
        found = blocked(rows[:5], rows[5:], 4, "cosine", starts)
        assert "5 worked out whole" in found.route
        same(found, naive(rows[:5], rows[5:], 4, "cosine", starts))


def test_all_similarities_are_those_that_decide():
    rows = np.random.default_rng(10).normal(size=(1100, 50)).astype(np.float32)
    for measure in ("cosine", "dot"):
        task = Task(rows[:3], rows, None, 1, measure)
        ((_, scores, _),) = _topk_rows._dense(task, np.arange(3), 3)
        for q in range(3):
            assert np.array_equal(scores[q], task.similarity(np.full(1100, q), np.arange(1100)))


def clustered(rng, count, width=16):
    return (rng.normal(size=(50, width))[rng.integers(0, 50, count)] + 0.3 * rng.normal(size=(count, width))).astype(
        "f4"
    )


@pytest.mark.parametrize("measure", ["cosine", "dot"])
def test_approximate_search_says_its_recall(monkeypatch, measure):
    pytest.importorskip("faiss")
    monkeypatch.setattr(_topk_faiss, "FEW", 1000)
    rows = clustered(np.random.default_rng(11), 3040)
    right = search(rows[:40], rows[40:], k=5, measure=measure, route="numpy")
    pairs = np.stack([np.arange(40), right.documents[:, 0]], axis=1)
    pairs = np.concatenate([pairs, np.stack([np.arange(40), np.full(40, 7)], axis=1)])
    right = search(rows[:40], rows[40:], k=5, measure=measure, route="numpy", pairs=pairs)
    found = search(rows[:40], rows[40:], k=5, measure=measure, route="faiss", pairs=pairs)
    hits = sum(len(np.intersect1d(a, b)) for a, b in zip(right.documents, found.documents, strict=True)) / 200
    assert found.route.startswith("approximate: faiss IVF110 nprobe 7, recall@5 ")
    assert found.route.endswith(f"recall@5 {hits:.3f} on 40 queries")
    assert hits > 0.7
    assert (found.greater[40:] == -1).any()
    assert np.array_equal(found.own, right.own)
    first = found.documents[:, 0] == right.documents[:, 0]
    assert np.array_equal(found.greater[:40] == 0, first)
    assert np.array_equal(found.similarity[first, 0], right.similarity[first, 0])


def test_few_passages_are_searched_exactly():
    rows = clustered(np.random.default_rng(12), 500)
    found = search(rows[:5], rows, k=3, measure="cosine", route="faiss")
    assert found.route == "exact: 500 passages are few"
    same(found, naive(rows[:5], rows, 3, "cosine"))


def test_faiss_is_an_extra(monkeypatch):
    monkeypatch.setattr(_topk_faiss, "FEW", 100)
    monkeypatch.setitem(sys.modules, "faiss", None)
    rows = clustered(np.random.default_rng(13), 200)
    with pytest.raises(MissingExtraError, match=r"approximate search needs the extra 'ann'"):
        search(rows[:5], rows, k=3, measure="cosine", route="faiss")


@pytest.mark.parametrize("route", ["torch", "bf16", "int8"])
def test_torch_is_an_extra(monkeypatch, route):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"the search by torch needs the extra 'hf'"):
        search(np.eye(3), np.eye(3), k=1, measure="dot", route=route)
    assert search(np.eye(3), np.eye(3), k=1, measure="dot").route == "exact: numpy float32, decided in float64"


class FakeTorch:
    """Says what a machine has."""

    def __init__(self, cuda, half):
        self.cuda = type("cuda", (), {"is_available": lambda: cuda})
        self.cpu = type("cpu", (), {"_is_avx512_bf16_supported": lambda: half})

    def empty(self, size, device):
        if not self.cuda.is_available():
            raise AssertionError("Torch not compiled with CUDA enabled")


@pytest.mark.parametrize(
    ("torch", "device", "count", "expected"),
    [
        (None, "auto", 10**6, ("numpy", "cpu")),
        (None, "cuda:1", 10, ("numpy", "cpu")),
        (FakeTorch(True, True), "cuda:1,cuda:0", 10, ("torch", "cuda:1")),
        (FakeTorch(False, True), "cuda:1", 10, ("numpy", "cpu")),
        (FakeTorch(True, True), "auto", 10**6, ("torch", "cuda")),
        (FakeTorch(True, True), "auto", 10**3, ("numpy", "cpu")),
        (FakeTorch(True, True), "cpu", 10**6, ("bf16", "cpu")),
        (FakeTorch(False, True), "auto", 10**6, ("bf16", "cpu")),
        (FakeTorch(False, True), "auto", 10**5, ("numpy", "cpu")),
        (FakeTorch(False, False), "auto", 10**6, ("numpy", "cpu")),
    ],
)
def test_the_route_is_chosen_by_what_there_is(monkeypatch, torch, device, count, expected):
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(_topk_torch, "_free", lambda: 2**31)
    assert _topk_torch.choose(device, 1000 * count, count) == expected
    monkeypatch.setattr(_topk_torch, "_free", lambda: 2**20)
    assert _topk_torch.choose(device, 1000 * count, count)[0] != "bf16"


def test_what_does_not_fit_is_refused():
    rows = np.ones((4, 3))
    with pytest.raises(UnknownNameError, match="numpi"):
        search(rows, rows, k=1, measure="dot", route="numpi")
    for wrong in (
        {"passages": np.ones((4, 2))},
        {"passages": csr_array(rows)},
        {"starts": np.array([1, 2])},
        {"starts": np.array([0, 2, 2])},
        {"starts": np.array([0, 4])},
        {"starts": np.array([], dtype=int)},
        {"pairs": np.array([0, 1])},
        {"pairs": np.array([[0, 4]])},
        {"pairs": np.array([[-1, 0]])},
    ):
        with pytest.raises(ValueError, match=r"do not fit|starts must|pairs"):
            search(rows, **({"passages": rows} | wrong), k=1, measure="dot")


def test_torch_and_faiss_are_imported_when_used():
    code = "import sys, embassay.engine.topk; print(sorted({'torch', 'faiss'} & set(sys.modules)))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


@pytest.mark.parametrize("device", ["cuda", "cuda:0,cuda:1", "mps"])
def test_a_device_that_is_not_there_changes_no_result(device):
    import torch

    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("this machine has such a device")
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(n, 8)).astype(np.float32) for n in (5, 40)]
    found, plain = (search(*rows, k=3, measure="cosine", device=d) for d in (device, "cpu"))
    assert np.array_equal(found.documents, plain.documents)
    assert np.array_equal(found.similarity, plain.similarity)
