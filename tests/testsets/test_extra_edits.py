"""Edits beyond HEROS: numbers and names."""

import re

import pytest

pytest.importorskip("textblob")
pytest.importorskip("lemminflect")

from embassay.randomness import generator
from embassay.testsets.english.exchanges import Names, number
from embassay.testsets.english.wordnet import open_wordnet, places
from embassay.testsets.english.words import tag

needs_wordnet = pytest.mark.skipif(
    not any(place.suffix == ".zip" or (place / "data.verb").is_file() for place in places()),
    reason="WordNet is not installed: apt-get install wordnet-base",
)


@pytest.mark.parametrize("seed", range(20))
def test_another_number_of_as_many_digits(seed):
    made = number(tag("The farm has 40 cows in the field."), generator(seed, "n"))
    value = int(re.fullmatch(r"The farm has (\d0) cows in the field\.", made).group(1))
    assert value != 40


def test_a_spelt_number():
    made = number(tag("Three boats came in."), generator(0, "n"))
    assert made != "Three boats came in." and re.fullmatch(r"[A-Z][a-z]+ boats came in\.", made)


@pytest.mark.parametrize(
    "text", ["It was 1 degree.", "Call 911 now.", "We are open 24/7 here.", "Chapter 12 is long.", "No number at all."]
)
def test_a_number_that_counts_nothing_stays(text):
    assert number(tag(text), generator(0, "n")) is None


@needs_wordnet
def test_a_name_becomes_another_of_the_corpus_of_its_kind():
    corpus = [tag("We flew to Texas in May."), tag("She lives in Utah now."), tag("He left Belgium early.")]
    names = Names(corpus, open_wordnet(), "Jackie")
    assert names.entity(tag("I have never seen Texas."), generator(0, "e")) == "I have never seen Utah."
    assert names.entity(tag("I have never seen Belgium."), generator(0, "e")) is None
    assert names.entity(tag("I have never seen snow."), generator(0, "e")) is None


@needs_wordnet
def test_the_placeholders_name_becomes_another():
    made = Names([], open_wordnet(), "Jackie").entity(tag("I met Jackie there."), generator(0, "e"))
    assert re.fullmatch(r"I met (Robin|Casey|Jamie|Morgan) there\.", made)
