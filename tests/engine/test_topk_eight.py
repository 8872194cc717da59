"""Products of 8 bits: their bound in the worst of cases, when they are used, and what they need."""

import importlib.util
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from embassay.engine import _topk_codes, _topk_eight, _topk_products, _topk_scan, _topk_torch, topk
from embassay.engine._topk_codes import Pauses, Rounded
from embassay.engine._topk_eight import EightBitProduct
from embassay.engine._topk_prepared import Sizes
from embassay.engine._topk_products import Bound
from embassay.engine._topk_task import Task
from embassay.errors import InputError

torch = importlib.util.find_spec("torch") and importlib.import_module("torch")
eight = pytest.mark.skipif(
    not (torch and _topk_eight.exact(torch)), reason="torch is not here, or has no products of 8 bits"
)
NAME = "exact: torch int8 and float32, decided in float64"


def same_as_float32(queries, passages, k, measure, starts=None, sizes=None):
    """Search by 8 bits, compare with float32, return what was found."""
    task, nothing = Task(queries, passages, starts, k, measure), np.empty((0, 2), np.int64)
    found, right = (
        topk._exact(task, nothing, k, *topk._products(task, route, "cpu", sizes)) for route in ("int8", "numpy")
    )
    for name in ("documents", "passages", "similarity"):
        assert np.array_equal(getattr(found, name), getattr(right, name), equal_nan=name == "similarity"), name
    return found


def vectors(rng, kind, count, width):
    """Return vectors of a kind that is hard in its own way; the last 40 are queries."""
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
        rows *= 10.0 ** rng.integers(-11, 11, size=(count, 1))
    elif kind == "late":
        rows[:-40] *= 1e-9
        rows[512:-40] *= 10.0 ** rng.integers(0, 21, size=(count - 552, 1))
    elif kind == "early":
        rows[:-40] *= 1e9
        rows[512:-40] *= 10.0 ** -rng.integers(0, 21, size=(count - 552, 1)).astype(float)
    return rows.astype(np.float32)


def multiplied(passages, queries, measure, block):
    """Return a product that has multiplied the second block, its bounds, and the scores: −∞ where cut."""
    task = Task(queries, passages, None, 1, measure)
    product = EightBitProduct(task, np.arange(len(queries)), Sizes(block, len(queries), 8))
    for start in (0, block):
        product.data.begin(start)
        product.data.fill(0, 2)
        product.data.fill(1, 2)
        bound = product.turn()
    product.multiply(slice(0, len(queries)))
    return product, bound, scores_of(product, (len(queries), block))


def scores_of(product, shape):
    scores = np.full(shape, -np.inf)
    for row, column, score in product.reaching(np.full(shape[0], -np.inf)):
        scores[row, column] = score
    return scores


def exceeded(passages, queries, measure, block):
    """Return by what part of their bounds the scores of the second block are off."""
    product, bound, scores = multiplied(passages, queries, measure, block)
    assert not product.data.now.fine
    row, column = (a.ravel() for a in np.indices(scores.shape))
    task = product.data.task
    right = task.similarity(row, block + column)
    if measure == "dot":
        right /= np.sqrt(task.squares)[row]
    cut, error = np.isneginf(scores.ravel()), bound.of(row, column)
    assert ((right - error)[cut] <= bound.least[row][cut]).all()
    return (np.abs(scores.ravel() - right) / error)[~cut]


@eight
@pytest.mark.parametrize("measure", ["cosine", "dot"])
@pytest.mark.parametrize("kind", ["random", "quantised", "duplicates", "constant", "close", "lengths", "late", "early"])
def test_8_bits_agree_to_the_bit(monkeypatch, kind, measure):
    used, real = [], _topk_eight._multiply
    monkeypatch.setattr(_topk_eight, "_multiply", lambda *args: used.append(1) or real(*args))
    rows = vectors(np.random.default_rng(4), kind, 3040, 24)
    for k, starts, sizes in (
        (1, None, Sizes(512, 16, 8)),
        (10, np.arange(0, 3000, 3), Sizes(512, 40, 8)),
        (3, None, Sizes(128, 40, 8)),
    ):
        same_as_float32(rows[3000:], rows[:3000], k, measure, starts, sizes)
    assert used


@eight
@pytest.mark.parametrize("starts", [None, np.arange(0, 900, 3)])
def test_part_by_part_is_the_same(monkeypatch, starts):
    for module, name in (
        (_topk_eight, "PROPOSALS"),
        (_topk_eight, "BAND"),
        (_topk_products, "AT_ONCE"),
        (_topk_scan, "WAITING"),
    ):
        monkeypatch.setattr(module, name, 8)
    rows = np.random.default_rng(5).normal(size=(920, 16)).astype(np.float32)
    assert same_as_float32(rows[900:], rows[:900], 4, "cosine", starts, Sizes(300, 20, 8)).route == NAME


@eight
@pytest.mark.parametrize("mean", [0, 3])
def test_8_bits_settle_what_is_usual(monkeypatch, mean):
    rng = np.random.default_rng(5)
    rows = (mean + rng.normal(size=(9_030, 64))).astype(np.float32)
    used, real = [], _topk_eight._multiply
    monkeypatch.setattr(_topk_eight, "_multiply", lambda *args: used.append(1) or real(*args))
    found = same_as_float32(rows[:30], rows[30:], 10, "cosine", sizes=Sizes(1024, 30, 8))
    assert found.route == NAME
    assert len(used) == 8  # all blocks but the first


@eight
def test_the_nearest_may_be_far():
    """All passages after the first block are opposite to the query: their products are cut."""
    rng = np.random.default_rng(7)
    query, passages = np.zeros((1, 64), np.float32), rng.normal(size=(600, 64)).astype(np.float32)
    query[0, 0] = 1
    passages[:, 0] = -40
    passages[:64, 0] = 0
    passages[64:, 1:] *= 0.1
    for k in (3, 100):
        same_as_float32(query, passages[::-1][:590], k, "cosine", sizes=Sizes(64, 1, 8))


@eight
def test_what_holds_no_passage_is_not_found():
    """A score of 0, that of a zero vector and of columns without a passage, would be the best."""
    rng = np.random.default_rng(8)
    passages = (0.3 * rng.normal(size=(390, 16))).astype(np.float32)
    passages[:, 0] = -1
    passages[200::7] = 0
    query = np.eye(16, dtype=np.float32)[:1]
    assert same_as_float32(query, passages, 3, "cosine", sizes=Sizes(128, 1, 16)).route == NAME


@eight
def test_the_centre_is_that_of_passages():
    rows = np.random.default_rng(9).normal(size=(100, 8)).astype(np.float32) + 3
    rows[::2] = 0
    data = Rounded(Task(rows[1:2], rows, None, 1, "cosine"), np.array([0]), Sizes(64, 1, 8))
    data.begin(0)
    data.fill(0, 1)
    assert data.turn()
    unit = rows[1:64:2] / np.linalg.norm(rows[1:64:2], axis=1, keepdims=True)
    assert np.allclose(data.centre, unit.mean(axis=0), atol=1e-6)


@eight
@pytest.mark.parametrize("measure", ["cosine", "dot"])
@pytest.mark.parametrize("mean", [0.0, 2.0])
def test_the_bound_holds(measure, mean):
    rng = np.random.default_rng(8)
    rows = (mean + rng.normal(size=(820, 100))).astype(np.float32)
    rows[500:510] *= 30  # beyond the step of the first block
    rows[520:523, 4] = 50
    assert (exceeded(rows[20:], rows[:20], measure, 400) <= 1).all()
    product, bound, scores = multiplied(rows[20:], rows[:20], measure, 400)
    row, column = (a.ravel() for a in np.indices(scores.shape))
    right = product.data.task.similarity(row, 400 + column)
    if measure == "dot":
        right /= np.sqrt(product.data.task.squares)[row]
    again, error = product.again(row, column)
    assert (np.abs(again - right) <= error).all()
    assert (error < 0.01 * bound.of(row, column)).all()
    for least in (-0.2, 0.0, 0.3):
        reached = np.concatenate([r * 400 + c for r, c, _ in product.reaching(np.full(20, least))])
        assert np.isin(np.flatnonzero(scores >= least), reached).all()
        assert (scores.ravel()[reached] >= least - product.data.now.unit).all()


@eight
def test_the_bound_holds_where_queries_lie_between_their_codes():
    """What rounding takes from each query points the way of the passages, whose own codes are exact."""
    rng = np.random.default_rng(10)
    signs = rng.choice([-1, 1], size=(20, 100))
    queries = rng.integers(-2, 3, size=(20, 100)) + 0.49 * signs
    queries[:, 0] = 63
    first = np.zeros((40, 100))
    first[::2, 1], first[1::2, 1] = 127 / 1.1, -127 / 1.1  # a centre of 0, a step of 1
    passages = 100.0 * np.concatenate([signs, -signs])
    off = exceeded(np.concatenate([first, passages]), queries, "dot", 40)
    assert 0.9 < off.max() <= 1


@eight
def test_the_bound_holds_where_float32_holds_little():
    """The passages are what float32 rounds: their differences are near its last digit."""
    rng = np.random.default_rng(11)
    passages = 1000 + 1e-5 * rng.normal(size=(200, 64))
    off = exceeded(passages, rng.normal(size=(20, 64)), "dot", 100)
    assert off.max() <= 1


@eight
def test_the_bound_holds_where_squares_vanish():
    """After passages of a length of 1e12 the others are so small in steps that the squares of these are 0."""
    one = np.full(1600, 1 / 40)
    passages = np.zeros((128, 1600), np.float32)
    passages[:60:2, 1], passages[:60:2, 0] = 6.5e11, -6.5e11
    passages[1:60:2] = -passages[:60:2]
    passages[60:64] = 1.5e-12 * one
    passages[64:] = 1.2e-12 * one
    passages[100:105] = 5e-12 * one
    queries = np.stack([one] * 4).astype(np.float32)
    assert exceeded(passages, queries, "dot", 64).max() <= 1
    same_as_float32(queries, passages, 3, "dot", sizes=Sizes(64, 4, 8))


@eight
@pytest.mark.parametrize(("times", "fine"), [(1e8, False), (1e21, True)])
def test_passages_too_long_for_codes_are_for_float32(times, fine):
    rows = (1e-10 * np.random.default_rng(12).normal(size=(600, 8))).astype(np.float32)
    rows[300] *= times
    queries = np.random.default_rng(13).normal(size=(50, 8)).astype(np.float32)
    task = Task(queries, rows, None, 3, "dot")
    data = Rounded(task, np.arange(50), Sizes(200, 50, 8))
    for start in (0, 200, 400):
        data.begin(start)
        data.fill(0, 1)
        assert data.turn()
        assert data.now.fine == (start == 0 or (fine and start == 200))
        assert np.isfinite(data.now.unit)
    same_as_float32(queries, rows, 3, "dot", sizes=Sizes(200, 50, 8))


def test_vectors_too_wide_to_sum_are_for_float32(monkeypatch):
    monkeypatch.setattr(_topk_codes, "WIDEST", 7)
    rows = np.random.default_rng(14).normal(size=(64, 8)).astype(np.float32)
    data = Rounded(Task(rows, rows, None, 1, "dot"), np.arange(64), Sizes(16, 64, 8))
    data.begin(32)
    assert data._next.fine
    assert 255 * _topk_codes.QUERY_SIDE * 100_000 < 2**31


@pytest.mark.parametrize("bar", [np.nan, -np.inf])
def test_what_is_no_number_does_not_pass_for_sure(bar):
    bound = Bound(np.zeros(1), np.ones(4), np.zeros(4), np.array([-5.0]))
    assert bound.blind(slice(0, 1), np.array([bar])).all()
    assert not bound.blind(slice(0, 1), np.array([-4.0])).any()


def test_after_too_many_proposals_pauses_become_longer():
    pauses = Pauses()
    fine = [pauses.next(False)]
    for _ in range(21):
        fine.append(pauses.next(not fine[-1]))
    assert "".join("f" if f else "8" for f in fine) == "8f8ff8ffff8ffffffff8ff"


@eight
def test_blocks_of_which_too_much_is_proposed_are_for_float32():
    rows = np.random.default_rng(6).normal(size=(1500, 16)).astype(np.float32)
    data = Rounded(Task(rows[:30], rows[30:], None, 10, "cosine"), np.arange(30), Sizes(128, 30, 8))
    fine = []
    for start in range(0, 128 * 9, 128):
        data.begin(start)
        data.fill(0, 1)
        assert data.turn()
        fine.append(data.now.fine)
        data.proposed.append(0 if data.now.fine else 30 * _topk_codes.MANY + 1)
    assert fine == [True, False, True, False, True, True, False, True, True]


@eight
def test_a_query_is_given_up_before_all_that_is_proposed_was_looked_at(monkeypatch):
    monkeypatch.setattr(_topk_scan, "CROWD", 20)
    monkeypatch.setattr(_topk_eight, "PROPOSALS", 8)
    looked, real = [], EightBitProduct.again
    monkeypatch.setattr(EightBitProduct, "again", lambda self, q, c: looked.append(len(q)) or real(self, q, c))
    rng = np.random.default_rng(15)
    passages = rng.normal(size=(800, 16)).astype(np.float32)
    passages[100:] = passages[0] + 1e-3 * passages[100:]
    same_as_float32(passages[:1], passages, 1, "cosine", sizes=Sizes(100, 1, 8))
    assert 20 < sum(looked) <= 20 + 4 + 8


@eight
def test_places_are_for_float32():
    rows = np.random.default_rng(9).normal(size=(70, 8)).astype(np.float32)
    pairs = np.array([[0, 3]])
    found = topk.search(rows[:10], rows[10:], k=2, measure="cosine", pairs=pairs, route="int8")
    assert found.route == "exact: numpy float32, decided in float64"


def test_8_bits_are_for_many_and_for_processors_that_are_known(monkeypatch):
    asked = []
    monkeypatch.setattr(_topk_eight, "fast", lambda torch: True)
    monkeypatch.setattr(_topk_eight, "exact", lambda torch: asked.append(torch) or True)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert not _topk_eight.worth(10**4, 10**6)
    monkeypatch.setitem(sys.modules, "torch", "here")
    assert _topk_eight.worth(500, 50_000)
    assert not _topk_eight.worth(499, 50_000)
    assert not _topk_eight.worth(500, 49_999)
    assert asked == ["here"]


@pytest.mark.parametrize(
    ("name", "right"), [("AVX2", True), ("AVX512_VNNI", True), ("DEFAULT", False), ("NO AVX", False)]
)
def test_processors_are_known_by_their_name(name, right):
    cpu = SimpleNamespace(get_cpu_capability=lambda: name)
    assert _topk_eight.fast(SimpleNamespace(backends=SimpleNamespace(cpu=cpu))) == right
    assert not _topk_eight.fast(SimpleNamespace())


@pytest.mark.parametrize("pairs_hold", [2**15 - 1, 2**15 - 1000, None])
def test_8_bits_have_to_be_exact(monkeypatch, pairs_hold):
    """A processor that cuts the sum of two products earlier than 8 and 7 bits need is found out."""
    fake = SimpleNamespace(from_numpy=lambda array: array)
    monkeypatch.setattr(_topk_eight, "_pack", lambda torch, codes, steps: codes.astype(int))

    def multiply(torch, passages, step, codes, unit):
        if pairs_hold is None:
            raise RuntimeError("not implemented")
        two = passages[:, None].astype(int) * codes
        two = np.clip(two[:, :, ::2] + two[:, :, 1::2], -pairs_hold - 1, pairs_hold)
        sums = two.sum(axis=2) - 128 * codes.sum(axis=1)
        return np.clip(np.rint(sums / unit) + 40, 0, 255).astype(np.uint8)

    monkeypatch.setattr(_topk_eight, "_multiply", multiply)
    assert _topk_eight.exact.__wrapped__(fake) == (pairs_hold == 2**15 - 1)


def test_the_torch_that_is_known_has_them():
    """Else all tests of 8 bits here would be skipped, and nothing say so."""
    if not (torch and torch.__version__.startswith("2.13.") and _topk_eight.fast(torch)):
        pytest.skip("another torch or processor than those known")
    assert _topk_eight.exact(torch)


def test_a_torch_without_them_is_named(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(_topk_eight, "exact", lambda torch: False)
    with pytest.raises(InputError, match=r"'int8': torch has no exact products of 8 bits here; say route='auto'"):
        topk.search(np.eye(3), np.eye(3), k=1, measure="dot", route="int8")


def test_queries_are_rounded_a_block_at_a_time():
    rows = np.random.default_rng(16).normal(size=(20_000, 32)).astype(np.float32)
    task = Task(rows, rows[:64], None, 1, "cosine")
    assert len(task.squares)
    tracemalloc.start()
    data = Rounded(task, np.arange(20_000), Sizes(64, 512, 8))
    data.begin(0)
    data.fill(0, 1)
    assert data.turn()
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < kept + 0.5 * rows.nbytes
    whole = np.rint(data.queries / data.steps[:, None])
    assert np.array_equal(data.signed, whole)
    assert np.allclose(data.offset, data.queries @ data.centre, atol=1e-6)


def test_proposals_are_handed_on_part_by_part():
    product = EightBitProduct.__new__(EightBitProduct)
    product.data = SimpleNamespace(now=SimpleNamespace(fine=False, unit=1.0))
    product._eight, product._offset = np.full((8192, 256), 99, np.uint8), np.zeros(256, np.float32)
    tracemalloc.start()
    parts = [(len(row), row[0], column[0]) for row, column, _ in product.reaching(np.zeros(256))]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert parts == [(131_072, 0, start) for start in range(0, 8192, 512)]
    assert peak < 12e6


@eight
def test_a_search_for_places_never_tries_8_bits(monkeypatch):
    monkeypatch.setattr(_topk_eight, "worth", lambda *_: True)
    monkeypatch.setattr(_topk_torch, "choose", lambda *_: ("numpy", "cpu"))
    monkeypatch.setattr(topk._topk_eight, "EightBitProduct", lambda *a, **k: pytest.fail("8 bits were tried"))
    rows = np.random.default_rng(17).normal(size=(500, 8)).astype(np.float32)
    pairs = np.array([[0, 3], [4, 4]])
    for route in ("auto", "faiss"):
        found = topk.search(rows[:5], rows, k=3, measure="cosine", route=route, pairs=pairs)
        assert found.greater[1] == 0
