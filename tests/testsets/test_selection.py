"""Which sentences become originals: every reason by itself."""

import pytest

pytest.importorskip("better_profanity")

from embassay.testsets.english.selection import is_profane, named, unfit

FINE = "The new library near the station opens at nine in the morning."


def test_a_plain_sentence_is_fit():
    assert unfit(FINE) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The library opens at nine in the morning", "fewer than 9 words"),
        (" ".join(["word"] * 25), "more than 24 words"),
        ("The [RELIGION] festival near the station opens at nine today.", "a placeholder other than [NAME]"),
        ("I saw [NAME] and [NAME] near the station at nine today.", "more than one [NAME]"),
        ("Does the library near the station open at nine today?", "a question"),
        ("The library *near the station* opens at nine in the morning.", "quotation, markup, emoticon or address"),
        ("See www.example.org for when the library near here opens.", "quotation, markup, emoticon or address"),
        ("The library is near the station. it opens at nine.", "several sentences"),
        (
            "Don’t understand why the library near the station opens at nine.",
            "no subject, or a subordinate clause alone",
        ),
        ("Which is why the library near the station opens at nine.", "no subject, or a subordinate clause alone"),
        ("The library near the station opens sooo00 EARLYYYY in the morning.", "dots, capitals or letters in a row"),
        ("The damn library near the station opens at nine today.", "profanity"),
        ("The function open() near the top of the file returns nothing.", "quotation, markup, emoticon or address"),
    ],
)
def test_each_reason(text, reason):
    assert unfit(text) == reason


@pytest.mark.parametrize(
    ("text", "profane"),
    [
        ("the lens in the pots", False),
        ("a virus such as HIV", False),
        ("a class of bosses", False),
        ("two bastards", True),
        ("this bull shit", True),
    ],
)
def test_a_word_is_profane_as_a_whole_and_in_its_usual_sense(text, profane):
    assert is_profane(text) is profane


@pytest.mark.parametrize(("words", "fit"), [(8, False), (9, True), (24, True), (25, False)])
def test_more_than_8_and_fewer_than_25_words(words, fit):
    assert (unfit(" ".join(["We", *(["walk"] * (words - 1))])) == "") is fit


def test_the_placeholder_becomes_a_name():
    assert named("I met [NAME] today.") == "I met Jackie today."
