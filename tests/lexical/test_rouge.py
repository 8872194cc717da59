"""ROUGE by hand, and against the package rouge-score."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.stats.lexical.rouge import rouge_l, rouge_n
from embassay.stats.lexical.tokens import words

LATIN = st.text(st.characters(max_codepoint=0x24F, exclude_characters="µĿŀ"))
"""rouge-score has no words of other scripts; for those, tests/lexical/test_tokens.py."""
FEW = st.lists(st.sampled_from(["a", "b", "c", "the", "cat", "7"]), max_size=12)
"""Few words, so that most are repeated and orders clash."""
SENTENCES = [
    ("The cat sat on the mat.", "The cat lay on the mat."),
    ("It's 7:30 a.m. -- the café isn't open, is it?", "At 7.30 the cafe wasn't open; was it?"),
    ("the the the the", "the the"),
    ("A man, a plan, a canal: Panama!", "a PLAN a MAN a canal panama panama"),
    ("One two three four five six seven.", "Seven six five four three two one."),
    ("!?…", "No token on the other side."),
    ("", "Nothing on the other side."),
    ("", ""),
    ("x_y-z İstanbul ſ K", "x y z istanbul s k"),
]


@pytest.fixture(scope="module")
def oracle():
    """rouge-score 0.1.2 of google-research, without stemming."""
    scorer = pytest.importorskip("rouge_score.rouge_scorer")
    return scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


def ours(first, second):
    a, b = words(first), words(second)
    return rouge_n(a, b, 1), rouge_n(a, b, 2), rouge_l(a, b)


def theirs(oracle, first, second):
    found = oracle.score(first, second)
    return tuple(found[name].fmeasure for name in ("rouge1", "rouge2", "rougeL"))


def naive_lcs(a, b):
    """Length of the longest common subsequence, by the textbook table."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@pytest.mark.parametrize(
    ("first", "second", "one", "two", "longest"),
    [
        # Five of six words (the twice, cat, on, mat); bigrams the cat, on the, the mat of five; in order, too.
        ("the cat sat on the mat", "the cat lay on the mat", 10 / 12, 6 / 10, 10 / 12),
        # Counted as multisets: a once, b once of 4 and 3; bigrams aa aa ab and ab bb share ab; the run a b.
        ("a a a b", "a b b", 4 / 7, 2 / 5, 4 / 7),
        # The same words backwards: all unigrams, no bigram, one in order.
        ("one two three four", "four three two one", 1, 0, 2 / 8),
        ("a b c", "a b c", 1, 1, 1),
        ("a b c", "d e f", 0, 0, 0),
        # One word has no bigram.
        ("a", "a", 1, 0, 1),
        ("", "a", 0, 0, 0),
        ("", "", 0, 0, 0),
    ],
)
def test_rouge_by_hand(first, second, one, two, longest):
    assert ours(first, second) == pytest.approx((one, two, longest), abs=1e-15)


@pytest.mark.parametrize(("first", "second"), SENTENCES)
def test_sentences_agree_with_rouge_score(oracle, first, second):
    assert ours(first, second) == pytest.approx(theirs(oracle, first, second), abs=1e-15)


@settings(deadline=None)
@given(first=FEW, second=FEW)
def test_lists_of_few_words_agree_with_rouge_score(oracle, first, second):
    assert ours(" ".join(first), " ".join(second)) == pytest.approx(
        theirs(oracle, " ".join(first), " ".join(second)), abs=1e-15
    )


@settings(deadline=None)
@given(first=LATIN, second=LATIN)
def test_any_texts_agree_with_rouge_score(oracle, first, second):
    assert ours(first, second) == pytest.approx(theirs(oracle, first, second), abs=1e-15)


@settings(deadline=None)
@given(FEW, FEW)
def test_rouge_l_equals_the_textbook_table(first, second):
    shared = naive_lcs(first, second)
    expected = 2 * shared / (len(first) + len(second)) if shared else 0.0
    assert rouge_l(first, second) == pytest.approx(expected, abs=1e-15)


@settings(deadline=None)
@given(FEW, FEW, st.integers(1, 4))
def test_rouge_n_equals_a_loop_over_ngrams(first, second, n):
    a, b = ([tuple(side[i : i + n]) for i in range(len(side) - n + 1)] for side in (first, second))
    shared = sum(min(a.count(gram), b.count(gram)) for gram in set(a))
    expected = 2 * shared / (len(a) + len(b)) if shared else 0.0
    assert rouge_n(first, second, n) == pytest.approx(expected, abs=1e-15)
