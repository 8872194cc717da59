"""Two sentences in one by rules: each pattern by hand, what is rejected, capitals."""

import pytest

pytest.importorskip("lemminflect", reason="needs the extra 'build'")
pytest.importorskip("textblob", reason="needs the extra 'build'")

from embassay.testsets.english.capitals import lowered
from embassay.testsets.english.fusion import fuse

FUSED = [
    # apposition
    (
        "The Orla is a river in the north.",
        "It flows into a lake.",
        "The Orla, a river in the north, flows into a lake.",
    ),
    (
        "Lindqvist was a painter of ships.",
        "He lived by the harbour.",
        "Lindqvist, a painter of ships, lived by the harbour.",
    ),
    ("Otters are animals that swim well.", "They eat fish.", "Otters are animals that swim well, and they eat fish."),
    (
        "The mill is one of the oldest buildings in town.",
        "The mill has a wheel of oak.",
        "The mill, one of the oldest buildings in town, has a wheel of oak.",
    ),
    # shared subject
    ("She opened the door.", "She called the dog.", "She opened the door and called the dog."),
    (
        "The old ferry left the port at noon.",
        "The old ferry reached the island before dark.",
        "The old ferry left the port at noon and reached the island before dark.",
    ),
    (
        "The council bought the land, the barn and the well.",
        "The council sold the barn again.",
        "The council bought the land, the barn and the well, and sold the barn again.",
    ),
    (
        "It was built of stone.",
        "It burned in a single night.",
        "It was built of stone, and it burned in a single night.",
    ),
    # a pronoun that may mean someone else stays
    (
        "Petersen met his brother in Rome.",
        "He left a week later.",
        "Petersen met his brother in Rome, and he left a week later.",
    ),
    ("Petersen wrote a book in Rome.", "He left a week later.", "Petersen wrote a book in Rome and left a week later."),
    # relative clause
    (
        "The river rose by two metres.",
        "This will destroy the bridge.",
        "The river rose by two metres, which will destroy the bridge.",
    ),
    # conjunctions
    ("The roof is new.", "The walls were painted last year.", "The roof is new, and the walls were painted last year."),
    ("The road was closed.", "However, the trains went on.", "The road was closed, but the trains went on."),
    ("The harvest was poor.", "Therefore, prices rose quickly.", "The harvest was poor, so prices rose quickly."),
    ("The hall has two stages.", "In addition, it has a library.", "The hall has two stages, and it has a library."),
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
        "In summer, the terns nest here.",
        "Only two pairs came back.",
        "In summer, the terns nest here; only two pairs came back.",
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
        ("A quiet place by the sea.", "A very old one.", "a sentence without a finite verb that the rules see"),
    ],
)
def test_what_the_rules_do_not_fuse_has_a_reason(first, second, problem):
    fusion = fuse(first, second)
    assert (fusion.text, fusion.problem) == ("", problem)


def test_the_seed_chooses_among_conjunctions_that_fit_equally_well():
    first, second = "The harbour lies in the east.", "The castle stands on a hill in the west."
    found = {seed: fuse(first, second, seed).text for seed in range(20)}
    assert set(found.values()) == {
        "The harbour lies in the east, and the castle stands on a hill in the west.",
        "The harbour lies in the east, while the castle stands on a hill in the west.",
    }
    assert all(fuse(first, second, seed).text == text for seed, text in found.items())


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
    assert lowered(sentence, other) == expected
