"""Trees: bracketed parses, and trees over the words alone."""

import numpy as np
import pytest

from embassay.core.errors import SourceError, UnknownNameError
from embassay.models.static.trees import balanced, joined, parser, read_brackets, right, words_of

PARSE = "(S (NP (DT The) (NN shop)) (VP (VBZ is) (RB not) (ADJP (JJ open))) (. .))"


def shown(tree):
    """Write a tree as nested pairs."""
    names = words_of(tree)
    merges, roots = joined([tree])
    names += [None] * len(merges)
    for place, (left, right_) in enumerate(merges):
        names[-1 - place] = f"({names[left]} {names[right_]})"
    return names[roots[0]] if roots else ""


@pytest.fixture
def read(tmp_path):
    def read(line):
        (tmp_path / "parses.mrg").write_text(line, encoding="utf-8")
        [tree] = read_brackets(tmp_path / "parses.mrg")
        return tree

    return read


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


def test_brackets_of_several_parts_are_binarised_to_the_right(read):
    tree = read(PARSE)
    assert words_of(tree) == ["the", "shop", "is", "not", "open", "."]
    assert shown(tree) == "((the shop) ((is (not open)) .))"


def test_traces_labels_and_escapes(read):
    tree = read("( (S (NP-SBJ (-NONE- *T*-1)) (VP (VB Go)) (-LRB- -LRB-) (ADVP (RB now)) (-RRB- -RRB-) (`` ``)) )")
    assert words_of(tree) == ["go", "(", "now", ")", '"']
    assert shown(tree) == '(go (( (now () "))))'


@pytest.mark.parametrize("text", ["(S (NP the shop)", "(S open))", "The shop is open.", ") ("])
def test_what_is_no_parse_is_refused(text, tmp_path):
    (tmp_path / "parses.mrg").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=r"parses\.mrg: not bracketed parses: "):
        parser(str(tmp_path / "parses.mrg"))


def test_brackets_of_one_part_and_traces_are_left_out(read):
    assert shown(read("(S (X (-NONE- *)) (A (B a)) (C b (X (-NONE- *)) c) d)")) == "(a ((b c) d))"


def test_sources():
    assert words_of(parser("right")("The shop isn't open.")) == ["the", "shop", "isn", "'", "t", "open", "."]
    assert parser("right")("") == parser("balanced")("") == ()
    assert shown(parser("balanced")("a b c d")) == "((a b) (c d))"


def test_an_unknown_source():
    with pytest.raises(UnknownNameError, match="did you mean 'balanced'"):
        parser("balance")
