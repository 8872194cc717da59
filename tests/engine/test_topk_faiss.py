"""Approximate search: the same for vectors in memory and in shards, in blocks of any size; exact if all lists count."""

import numpy as np
import pytest

from embassay._version import __version__
from embassay.engine.search import approximate as topk_faiss
from embassay.engine.search.approximate import approximate
from embassay.engine.search.exact import SearchTask
from embassay.engine.search.top import search
from embassay.errors import SourceError
from embassay.sharding.shard import reduced
from embassay.store.shards.shards import InputFile, Manifest, ShardFolder, ShardPlan, ShardRows
from embassay.store.shards.vectors import open_shards

K = 5
FIELDS = ("documents", "passages", "similarity", "greater", "tied")


def clustered(count, width=16):
    """Return vectors around 50 topics."""
    rng = np.random.default_rng(11)
    topics = rng.normal(size=(50, width))
    return (topics[rng.integers(0, 50, count)] + 0.3 * rng.normal(size=(count, width))).astype(np.float32)


def task_of(queries, passages, similarity_function="cosine", starts=None):
    """Return a task with two pairs for each query: a near document, and one that is the same for all."""
    documents = len(passages) if starts is None else len(starts)
    numbers = np.arange(len(queries))
    pairs = np.concatenate(
        [np.stack([numbers, numbers % documents], axis=1), np.stack([numbers, np.full(len(queries), 7)], axis=1)]
    )
    return SearchTask(queries, passages, starts, K, similarity_function, pairs)


def assert_same(answer, expected):
    for name in FIELDS:
        assert np.array_equal(getattr(answer, name), getattr(expected, name), equal_nan=True), name


def write_shards(path, vectors, dtype, rows=700):
    """Write a folder of shards; the last one is smaller."""
    plans = []
    for number, start in enumerate(range(0, len(vectors), rows)):
        plans.append(ShardPlan(number, "made.jsonl", start, min(rows, len(vectors) - start), "0" * 64))
    folder = ShardFolder(path)
    folder.open(
        Manifest(
            spec="made",
            fingerprint="0" * 16,
            similarity="cosine",
            role="document",
            dtype=dtype,
            id_column="id",
            text_column="text",
            shard_rows=rows,
            threads=1,
            files=(InputFile("made.jsonl", len(vectors), "0" * 64),),
            shards=tuple(plans),
            distinct=0,
            embassay=__version__,
        )
    )
    for plan in plans:
        stored, scale = reduced(vectors[plan.row : plan.row + plan.rows], dtype)
        ids = [str(plan.row + place) for place in range(plan.rows)]
        folder.write_shard(plan, ShardRows(stored, scale, ids, ids, plan.rows, 1.0, 0.0))
    return open_shards(path)


@pytest.fixture(autouse=True)
def faiss():
    return pytest.importorskip("faiss")


@pytest.mark.parametrize("similarity_function", ["cosine", "dot"])
@pytest.mark.parametrize("passages_per_document", [1, 3])
def test_if_all_lists_are_searched_it_is_exact(similarity_function, passages_per_document, monkeypatch):
    rows = clustered(3040)
    starts = np.arange(0, 3000, passages_per_document) if passages_per_document > 1 else None
    task = task_of(rows[:40], rows[40:], similarity_function, starts)
    monkeypatch.setattr(topk_faiss, "PROBED", 1)
    answer, name = approximate(task)
    exact = search(
        rows[:40],
        rows[40:],
        k=K,
        similarity_function=similarity_function,
        starts=starts,
        pairs=task.pairs,
        route="numpy",
    )
    assert name == "faiss IVF110 nprobe 110"
    for field in ("documents", "passages", "similarity"):
        assert np.array_equal(getattr(answer, field), getattr(exact, field)), field
    assert topk_faiss.recall(answer.documents, exact.documents) == 1.0
    # A rank is known where the document is among those that are proposed.
    ranked = answer.greater >= 0
    assert 0 < ranked.sum() < len(ranked)
    assert np.array_equal(answer.greater[ranked], exact.greater[ranked])
    assert np.array_equal(answer.tied[ranked], exact.tied[ranked])


@pytest.mark.parametrize("similarity_function", ["cosine", "dot"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_shards_give_the_same_as_their_vectors_in_memory(tmp_path, monkeypatch, dtype, similarity_function):
    rows = clustered(3040)
    shards = write_shards(tmp_path, rows[40:], dtype)
    expected, name = approximate(task_of(rows[:40], shards[:], similarity_function))
    # The last block, and several others, have rows of two shards.
    monkeypatch.setattr(topk_faiss, "STEP", 450)
    answer, name_of_shards = approximate(task_of(rows[:40], shards, similarity_function))
    assert name == name_of_shards == "faiss IVF110 nprobe 7"
    assert_same(answer, expected)


def test_queries_may_be_searched_and_ranked_in_parts(monkeypatch):
    rows = clustered(3040)
    task = task_of(rows[:40], rows[40:], starts=np.arange(0, 3000, 3))
    expected, _ = approximate(task)
    monkeypatch.setattr(topk_faiss, "RANKED", 7)
    answer, _ = approximate(task)
    assert_same(answer, expected)


class Watched:
    """Vectors that remember how many rows were read at once."""

    def __init__(self, rows):
        self.rows, self.shape, self.dtype, self.largest = rows, rows.shape, rows.dtype, 0

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, rows):
        read = self.rows[rows]
        self.largest = max(self.largest, len(read))
        return read


def test_only_some_rows_are_read_at_once(monkeypatch):
    monkeypatch.setattr(topk_faiss, "SCALED", 100)
    rows = clustered(3040)
    watched = Watched(rows[40:])
    answer, _ = approximate(task_of(rows[:40], watched))
    # Similarities in float64 read up to 512 rows.
    assert 100 <= watched.largest <= 512
    assert_same(answer, approximate(task_of(rows[:40], rows[40:]))[0])


def test_the_number_of_lists_and_the_sample_have_a_limit(monkeypatch):
    monkeypatch.setattr(topk_faiss, "LISTS", 20)
    monkeypatch.setattr(topk_faiss, "SAMPLED", 50)
    rows = clustered(3040)
    answer, name = approximate(task_of(rows[:40], rows[40:]))
    assert name == "faiss IVF20 nprobe 2"
    exact = search(rows[:40], rows[40:], k=K, similarity_function="cosine", route="numpy")
    assert topk_faiss.recall(answer.documents, exact.documents) > 0.7


def test_queries_without_a_similarity_get_no_documents():
    rows = clustered(1040)
    queries = rows[:4].copy()
    queries[[0, 2]] = 0
    answer, _ = approximate(task_of(queries, rows[40:]))
    assert (answer.documents[[0, 2]] == -1).all()
    assert (answer.documents[[1, 3]] >= 0).all()
    nothing, _ = approximate(task_of(np.zeros_like(queries), rows[40:]))
    assert (nothing.documents == -1).all()


def test_a_few_shards_are_searched_exactly(tmp_path):
    rows = clustered(1040)
    shards = write_shards(tmp_path, rows[40:], "float16")
    result = search(rows[:40], shards, k=K, similarity_function="cosine", route="faiss")
    assert result.route == "exact: only 1,000 passages"


def test_recall_is_measured_in_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(topk_faiss, "FEW", 1000)
    # Without topics, the nearest passages are often in lists that are not searched.
    rows = np.random.default_rng(3).normal(size=(3040, 16)).astype(np.float32)
    shards = write_shards(tmp_path, rows[40:], "int8")
    result = search(rows[:40], shards, k=K, similarity_function="cosine", route="faiss")
    exact = search(rows[:40], shards, k=K, similarity_function="cosine", route="numpy")
    recall = topk_faiss.recall(result.documents, exact.documents)
    assert 0.2 < recall < 1
    assert result.route == f"approximate: faiss IVF110 nprobe 7, recall@5 {recall:.3f} on 40 queries"


def test_success_counts_queries_with_a_right_passage():
    nearest = np.array([[5, 2], [7, -1], [1, 0]])
    # Query 3 has two right passages, of which one is near; query 8 has none near; query 9 none at all; 4 is not asked.
    pairs = np.array([[3, 2], [3, 9], [8, 4], [4, 7]])
    assert topk_faiss.success(nearest, np.array([3, 8, 9]), pairs) == 1 / 3


def test_a_missing_file_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(topk_faiss, "FEW", 1000)
    rows = clustered(3040)
    shards = write_shards(tmp_path, rows[40:], "float16")
    next(tmp_path.rglob("*.npy")).unlink()
    with pytest.raises(SourceError, match="repeat the 'embassay encode' that made the folder"):
        search(rows[:40], shards, k=K, similarity_function="cosine", route="faiss")
