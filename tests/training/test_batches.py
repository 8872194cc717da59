"""Which rows go through a model together."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from embassay.training.batches import BatchRow, draw


def test_every_row_comes_once_an_epoch_and_in_another_order_each():
    batches = draw([BatchRow(length) for length in range(50)], 8, 2, 0)
    first, second = batches[:7], batches[7:]
    for epoch in (first, second):
        assert Counter(row for batch in epoch for row in batch) == Counter(range(50))
    assert first != second


def test_a_part_of_an_epoch_takes_its_first_batches():
    rows = [BatchRow(5)] * 80
    assert draw(rows, 8, 1.5, 0)[:10] == draw(rows, 8, 1, 0)
    assert len(draw(rows, 8, 1.5, 0)) == 15


def test_rows_of_a_batch_are_about_as_long():
    lengths = np.random.default_rng(0).integers(5, 100, 1000)
    batches = draw([BatchRow(int(length)) for length in lengths], 10, 1, 0)
    padded = sum(lengths[list(batch)].max() * len(batch) for batch in batches)
    assert padded < 1.2 * lengths.sum()


def test_no_text_belongs_to_two_rows_of_a_batch():
    rng = np.random.default_rng(1)
    texts = [f"t{n}" for n in range(60)]
    rows = []
    for n in range(200):
        own = rng.choice(texts, 5, replace=False).tolist()
        rows.append(BatchRow(5, frozenset({f"q{n // 2}", *own}), 3))
    batches = draw(rows, 8, 1, 0)
    assert sorted(row for batch in batches for row in batch) == list(range(len(rows)))
    for batch in batches:
        for a, b in combinations(batch, 2):
            assert not rows[a].texts & rows[b].texts
    assert np.mean([len(batch) for batch in batches]) > 4


def of_documents(questions, documents, passages):
    """Rows of questions on documents of several passages: any of these is right for a question on its document."""
    rng = np.random.default_rng(2)
    found = []
    for n in range(questions):
        own = {f"{n % documents}.{p}" for p in range(passages)}
        wrong = f"{(n + 1 + int(rng.integers(documents - 1))) % documents}.{rng.integers(passages)}"
        found.append(BatchRow(int(rng.integers(5, 100)), frozenset({f"q{n}", *own, wrong}), 1))
    return found


@pytest.mark.parametrize(("documents", "mean"), [(400, 30), (10, 4)])
def test_batches_are_full_where_documents_suffice_and_soon_made(documents, mean):
    rows = of_documents(4000, documents, 5)
    batches = draw(rows, 32, 1, 0)
    assert sorted(row for batch in batches for row in batch) == list(range(4000))
    # Of ten documents a batch holds five at most, because each row brings a wrong one too.
    assert np.mean([len(batch) for batch in batches]) > mean


def test_rows_of_as_many_wrong_texts_go_together():
    rows = [BatchRow(5, frozenset({f"q{n}"}), n % 3) for n in range(60)]
    batches = draw(rows, 10, 1, 0)
    assert len(batches) == 6
    assert not [batch for batch in batches if len({rows[row].wrong for row in batch}) > 1]


@pytest.mark.parametrize("count", [1, 2])
def test_a_pair_alone_tells_nothing_apart(count):
    rows = [BatchRow(5, frozenset({f"q{n}", "right"})) for n in range(count)]
    assert draw(rows, 8, 1, 0) == []
    assert len(draw([BatchRow(5)] * count, 1, 1, 0)) == count
