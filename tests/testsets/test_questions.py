"""Question tags: found, turned around, dropped."""

import pytest

from embassay.testsets.english.question_tags import split_tag, with_tag


@pytest.mark.parametrize(
    ("sentence", "clause", "turned"),
    [
        ("It's cold, isn't it?", "It's cold.", "It's cold, is it?"),
        ("You're not serious, are you?", "You're not serious.", "You're not serious, aren't you?"),
        ("She can swim, can't she?", "She can swim.", "She can swim, can she?"),
        ("They won't mind, will they?", "They won't mind.", "They won't mind, won't they?"),
        ("I'm late, aren't I?", "I'm late.", "I'm late, am I?"),
        ("It’s cold, isn’t it?", "It’s cold.", "It’s cold, is it?"),
    ],
)
def test_a_tag_turns_around(sentence, clause, turned):
    found, tag = split_tag(sentence)
    assert found == clause
    assert with_tag(found, tag.opposite()) == turned
    assert with_tag(found, tag) == sentence.replace("isn’t", "isn't")


def test_a_tag_that_does_not_turn_is_dropped():
    assert split_tag("You are ready, right?") == ("You are ready.", None)


def test_aint_has_no_other_side():
    assert split_tag("He's good, ain't he?")[1].opposite() is None


@pytest.mark.parametrize("sentence", ["Is it cold?", "It is cold.", "I wonder if it is."])
def test_other_sentences_have_none(sentence):
    assert split_tag(sentence) == (sentence, None)
