"""Trees over the words of a text."""

import numpy as np
import pytest

from embassay.core.errors import UnknownNameError
from embassay.models.static.trees import balanced, joined, parser, right, words_of


def shown(tree):
    """Write a tree as nested pairs."""
    names = words_of(tree)
    merges, roots = joined([tree])
    names += [None] * len(merges)
    for place, (left, right_) in enumerate(merges):
        names[-1 - place] = f"({names[left]} {names[right_]})"
    return names[roots[0]] if roots else ""


def height(tree):
    """Return the number of steps on the longest path down to a word."""
    stack = []
    for part in tree:
        stack.append(0 if part is not None else 1 + max(stack.pop(), stack.pop()))
    return stack[0]


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (right(tuple("abcd")), "(a (b (c d)))"),
        (balanced(tuple("abcd")), "((a b) (c d))"),
        (balanced(tuple("abcde")), "(((a b) c) (d e))"),
        (right(("a", "b")), "(a b)"),
        (right(("a",)), "a"),
        (right(()), ""),
        (balanced(()), ""),
    ],
)
def test_trees_over_the_words_alone(tree, expected):
    assert shown(tree) == expected


def test_a_balanced_tree_is_as_low_as_can_be():
    for words in range(2, 70):
        assert height(balanced(("word",) * words)) == int(np.ceil(np.log2(words)))


def test_words_and_merges_of_several_trees_are_numbered_together():
    merges, roots = joined([right(tuple("abc")), (), ("d",), balanced(tuple("efgh"))])
    assert merges == [(1, 2), (0, -1), (4, 5), (6, 7), (-3, -4)]
    assert roots == [-2, 3, -5]


def test_shapes():
    assert words_of(parser("right")("The shop isn't open.")) == ["the", "shop", "isn", "'", "t", "open", "."]
    assert parser("right")("") == parser("balanced")("") == ()
    assert shown(parser("balanced")("a b c d")) == "((a b) (c d))"


def test_an_unknown_shape():
    with pytest.raises(UnknownNameError, match="did you mean 'balanced'"):
        parser("balance")
