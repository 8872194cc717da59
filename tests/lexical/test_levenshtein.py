"""The edit distance of lists of tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.stats.lexical.levenshtein import levenshtein

TOKENS = st.lists(st.sampled_from(["a", "b", "ab", "##ing", "the", "é", "中"]), max_size=10)


def naive(a, b):
    """Edits by the textbook table, over the longer length."""
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (x != y)))
        previous = current
    return previous[-1] / max(len(a), len(b), 1)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("it is good", "it is bad", 1 / 3),  # one word of three replaced
        ("it is good", "it is not good", 1 / 4),  # one put in, four in the longer
        ("a b c d", "b c d a", 2 / 4),  # a taken out at the start and put in at the end
        ("a b", "b a", 1),  # no exchange of neighbours: both are replaced
        ("a b c", "a b c", 0),
        ("a b c", "d e f g", 1),
        ("", "a b", 1),
        ("a b", "", 1),
        ("", "", 0),
    ],
)
def test_levenshtein_by_hand(first, second, expected):
    assert levenshtein(first.split(), second.split()) == pytest.approx(expected, abs=1e-15)


def test_a_token_is_changed_as_a_whole():
    assert levenshtein(["playing"], ["played"]) == 1
    assert levenshtein(["play", "##ing"], ["play", "##ed"]) == 0.5


@settings(deadline=None)
@given(TOKENS, TOKENS)
def test_levenshtein_equals_the_textbook_table(first, second):
    assert levenshtein(first, second) == pytest.approx(naive(first, second), abs=1e-15)


@settings(deadline=None)
@given(TOKENS, TOKENS)
def test_levenshtein_is_symmetric_and_0_only_for_the_same(first, second):
    assert levenshtein(first, second) == levenshtein(second, first)
    assert (levenshtein(first, second) == 0) == (first == second)
    assert 0 <= levenshtein(first, second) <= 1
