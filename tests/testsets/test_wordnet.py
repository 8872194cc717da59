"""WordNet read from its own files."""

import zipfile

import pytest

from embassay.core.errors import InputError
from embassay.testsets.english import wordnet as wordnet_module
from embassay.testsets.english.wordnet import antonyms, connected, places, senses, synonyms

there = any((place / "data.verb").is_file() for place in places())
needs_wordnet = pytest.mark.skipif(not there, reason="WordNet is not installed: apt-get install wordnet-base")


@needs_wordnet
def test_senses_come_most_frequent_first():
    happy = senses("happy", "a")
    assert len(happy) == 4
    assert happy[2].words == ("glad", "happy")


@needs_wordnet
def test_antonyms_are_of_this_word_alone():
    assert antonyms("big", "a") == ("little",)  # "large" of the same set is the opposite of "small"
    assert antonyms("large", "a") == ("small",)


@needs_wordnet
def test_synonyms_are_of_all_senses():
    assert {"large", "bad"} <= set(synonyms("big", "a"))


@needs_wordnet
def test_derived_words_and_opposites_are_related():
    assert {"happy", "unhappy", "happiness", "glad"} <= connected("happy")
    assert "table" not in connected("happy")


def test_without_wordnet_both_lines_that_install_it_are_said(monkeypatch, tmp_path):
    monkeypatch.setattr(wordnet_module, "places", lambda: [tmp_path])
    with pytest.raises(InputError) as error:
        wordnet_module.open_wordnet.__wrapped__()
    assert "apt-get install wordnet-base" in str(error.value)
    assert "python -m nltk.downloader wordnet" in str(error.value)


def test_a_database_that_is_not_whole_is_named(monkeypatch, tmp_path):
    (tmp_path / "data.verb").write_text("")
    monkeypatch.setattr(wordnet_module, "open_wordnet", lambda: tmp_path)
    with pytest.raises(InputError, match=r"not a whole WordNet database: cannot read index\.verb"):
        wordnet_module._data.__wrapped__("index.verb")


def test_the_zip_file_of_nltk_is_read(monkeypatch, tmp_path):
    with zipfile.ZipFile(tmp_path / "wordnet.zip", "w") as archive:
        archive.writestr("wordnet/index.verb", "eat v 1")
    monkeypatch.setattr(wordnet_module, "places", lambda: [tmp_path / "wordnet"])
    assert (wordnet_module.open_wordnet.__wrapped__() / "index.verb").read_bytes() == b"eat v 1"
