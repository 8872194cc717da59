"""WordNet read from its own files."""

import pytest

from embassay.core.errors import InputError
from embassay.testsets.english import wordnet as wordnet_module
from embassay.testsets.english.wordnet import WordNet, open_wordnet, places

there = any(place.suffix == ".zip" or (place / "data.verb").is_file() for place in places())
needs_wordnet = pytest.mark.skipif(not there, reason="WordNet is not installed: apt-get install wordnet-base")


@needs_wordnet
def test_senses_come_most_frequent_first():
    senses = open_wordnet().senses("happy", "a")
    assert len(senses) == 4
    assert senses[2].words == ("glad", "happy")


@needs_wordnet
def test_antonyms_are_of_this_word_alone():
    assert open_wordnet().antonyms("big", "a") == ("little",)  # "large" of the same set is the opposite of "small"
    assert open_wordnet().antonyms("large", "a") == ("small",)


@needs_wordnet
def test_synonyms_are_of_all_senses():
    assert {"large", "bad"} <= set(open_wordnet().synonyms("big", "a"))


@needs_wordnet
def test_derived_words_and_opposites_are_related():
    related = open_wordnet().related("happy")
    assert {"happy", "unhappy", "happiness", "glad"} <= related
    assert "table" not in related


def test_without_wordnet_both_lines_that_install_it_are_said(monkeypatch, tmp_path):
    monkeypatch.setattr(wordnet_module, "places", lambda: [tmp_path])
    with pytest.raises(InputError) as error:
        wordnet_module.open_wordnet.__wrapped__()
    assert "apt-get install wordnet-base" in str(error.value)
    assert "python -m nltk.downloader wordnet" in str(error.value)


def test_a_database_that_is_not_whole_is_named(tmp_path):
    (tmp_path / "data.verb").write_text("")
    with pytest.raises(InputError, match=r"not a whole WordNet database: cannot read index\.verb"):
        WordNet(tmp_path).senses("eat", "v")
