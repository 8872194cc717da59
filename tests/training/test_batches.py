"""Which rows go through a model together."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from embassay.training.batches import Row, draw


def test_every_row_comes_once_an_epoch_and_in_another_order_each():
    batches = draw([Row(length) for length in range(50)], 8, 2, 0)
    first, second = batches[:7], batches[7:]
    for epoch in (first, second):
        assert Counter(row for batch in epoch for row in batch) == Counter(range(50))
    assert first != second


def test_a_part_of_an_epoch_takes_its_first_batches():
    rows = [Row(5)] * 80
    assert draw(rows, 8, 1.5, 0)[:10] == draw(rows, 8, 1, 0)
    assert len(draw(rows, 8, 1.5, 0)) == 15


def test_rows_of_a_batch_are_about_as_long():
    lengths = np.random.default_rng(0).integers(5, 100, 1000)
    batches = draw([Row(int(length)) for length in lengths], 10, 1, 0)
    padded = sum(lengths[list(batch)].max() * len(batch) for batch in batches)
    assert padded < 1.2 * lengths.sum()


def test_no_text_stands_twice_and_no_right_one_among_the_wrong():
    rng = np.random.default_rng(1)
    texts = [f"t{n}" for n in range(60)]
    rights = {f"q{n}": frozenset(rng.choice(texts, 2, replace=False).tolist()) for n in range(100)}
    rows = []
    for question, own in rights.items():
        for right in sorted(own):
            wrong = [t for t in rng.choice(texts, 3, replace=False).tolist() if t not in own]
            rows.append(Row(5, question, (right, *wrong), own))
    batches = draw(rows, 8, 1, 0)
    assert sorted(row for batch in batches for row in batch) == list(range(len(rows)))
    for batch in batches:
        for a, b in combinations([rows[row] for row in batch], 2):
            assert not {a.question, *a.candidates} & {b.question, *b.candidates}
            assert not a.rights & set(b.candidates)
            assert not b.rights & set(a.candidates)
    assert np.mean([len(batch) for batch in batches]) > 4


def of_documents(questions, documents, passages):
    """Rows of questions on documents of several passages: any of these is right for a question on its document."""
    rng = np.random.default_rng(2)
    found = []
    for n in range(questions):
        own = frozenset(f"{n % documents}.{p}" for p in range(passages))
        wrong = f"{(n + 1 + int(rng.integers(documents - 1))) % documents}.{rng.integers(passages)}"
        found.append(Row(int(rng.integers(5, 100)), f"q{n}", (f"{n % documents}.{rng.integers(passages)}", wrong), own))
    return found


def test_batches_of_many_questions_on_each_document_are_full_and_soon_made():
    rows = of_documents(4000, 400, 5)
    batches = draw(rows, 32, 1, 0)
    assert sorted(row for batch in batches for row in batch) == list(range(4000))
    assert sum(len(batch) == 32 for batch in batches) > 120  # of 125


def test_where_no_row_fits_batches_stay_smaller_and_are_soon_made():
    rows = of_documents(4000, 10, 5)
    batches = draw(rows, 32, 1, 0)
    assert sorted(row for batch in batches for row in batch) == list(range(4000))
    for batch in batches[::20]:
        for a, b in combinations([rows[row] for row in batch], 2):
            assert not a.rights & set(b.candidates)
            assert not b.rights & set(a.candidates)
    assert np.mean([len(batch) for batch in batches]) > 4  # of ten documents five at most: each brings a wrong one too


def test_rows_of_as_many_wrong_texts_go_together():
    rows = [Row(5, f"q{n}", tuple(f"{n}.{c}" for c in range(1 + n % 3))) for n in range(60)]
    batches = draw(rows, 10, 1, 0)
    mixed = [batch for batch in batches if len({len(rows[row].candidates) for row in batch}) > 1]
    assert len(batches) == 6
    assert not mixed


@pytest.mark.parametrize("count", [1, 2])
def test_a_pair_alone_tells_nothing_apart(count):
    rows = [Row(5, f"q{n}", (f"r{n}",)) for n in range(count)]
    assert len(draw(rows, 8, 1, 0)) == count - 1
