"""Questions by templates: what they make of a sentence, and what they leave alone."""

from __future__ import annotations

import pytest

from embassay.builders._headings import question_of
from embassay.builders._passages import Passage
from embassay.builders._subjects import Casing, subject_of
from embassay.builders._templates import by_templates

KNOWN = Casing.of(
    ["We rinse the lint filter and the drain hose, and a heat pump or steam helps, as the spin cycle and routers do."]
)


def asked(body, heading="", alone=False):
    found = by_templates(Passage("p", body, "u", heading, alone), KNOWN)
    return [(a.question, a.answer, a.way.removeprefix("template: ")) for a in found]


@pytest.mark.parametrize(
    ("sentence", "question", "answer", "kind"),
    [
        (
            "A lint filter is a screen that catches fibres in a dryer.",
            "What is a lint filter?",
            "a screen that catches fibres in a dryer",
            "definition",
        ),
        (
            "Steam is an invisible gas that forms when water boils.",
            "What is steam?",
            "an invisible gas that forms when water boils",
            "definition",
        ),
        (
            "Ida Brandt was a Danish engineer who drew the first model.",
            "Who was Ida Brandt?",
            "a Danish engineer who drew the first model",
            "definition",
        ),
        (
            "The Velmo Works are a group of plants on the coast.",
            "What are the Velmo Works?",
            "a group of plants on the coast",
            "definition",
        ),
        (
            "Routers are devices that pass packets between networks.",
            "What are routers?",
            "devices that pass packets between networks",
            "definition",
        ),
        (
            "The term spin cycle refers to the part of a wash in which water is flung out.",
            "What does spin cycle mean?",
            "the part of a wash in which water is flung out",
            "meaning",
        ),
        (
            "Hard water is defined as water with many dissolved minerals.",
            "How is Hard water defined?",
            "water with many dissolved minerals",
            "meaning",
        ),
        (
            "It speaks the Simple Laundry Protocol (SLP) over a cable.",
            "What does SLP stand for?",
            "Simple Laundry Protocol",
            "abbreviation",
        ),
        (
            "Every unit has an RCD (residual current device) in its plug.",
            "What does RCD stand for?",
            "residual current device",
            "abbreviation",
        ),
        ("Velmo was founded in Aarhus in 1931.", "When was Velmo founded?", "in 1931", "date"),
        ("In 1931, Velmo was founded by two brothers.", "When was Velmo founded?", "In 1931", "date"),
        ("The Velmo Museum opened on 3 May 1988.", "When did the Velmo Museum open?", "on 3 May 1988", "date"),
        ("Velmo was founded by Ida Brandt and her son.", "Who founded Velmo?", "Ida Brandt", "maker"),
        ("Ida Brandt invented the tilting drum.", "Who invented the tilting drum?", "Ida Brandt", "maker"),
        ("A heat pump dryer has two fans.", "How many fans does a heat pump dryer have?", "two", "number"),
        ("Norrby has a population of 4,210.", "What is the population of Norrby?", "4,210", "count"),
        ("Norrby is the largest town in Velland.", "What is the largest town in Velland?", "Norrby", "superlative"),
        ("The Velmo Museum is located in Norrby.", "Where is the Velmo Museum located?", "in Norrby", "place"),
        ("A drain hose is used to carry water away.", "What is a drain hose used for?", "to carry water away", "use"),
        (
            "To clean the lint filter, rinse it under the tap.",
            "How do I clean the lint filter?",
            "rinse it under the tap",
            "how-to",
        ),
        ("`--eco` halves nothing but sets 40 degrees.", None, None, None),
        ("`--eco` sets the water to 40 degrees.", "What does --eco do?", "sets the water to 40 degrees", "effect"),
    ],
)
def test_a_sentence_becomes_a_question(sentence, question, answer, kind):
    assert asked(sentence) == ([(question, answer, kind)] if question else [])


@pytest.mark.parametrize(
    "sentence",
    [
        "It is a screen that catches fibres in a dryer.",
        "This filter is a screen that catches fibres.",
        "The filter is a screen that catches fibres.",
        "Their company was founded in 1931 by brothers.",
        "The company was founded in 1931 by brothers.",
        "The main reason is a lack of water in the drum.",
        "Another lint filter is a screen of finer mesh.",
        "However, steam is a gas that nobody can see.",
        "A common mistake is a load that is far too big.",
        "The number of towns is a matter of long debate.",
        "Steam is a lot hotter than most people think.",
        "Steam is a gas of this kind, as told before.",
        "Steam is the same in all of our machines today.",
        "Steam and foam are a problem that many owners have.",
        "What steam is, is a question for the engineers.",
        "Is steam a gas that forms when water boils?",
        "To do this, press the button on the left.",
        "To clean the lint filter, the tap is opened.",
        "The drum turns slowly (TDX) when it starts.",
        "Two letters name the Velmo Works (VW) on the coast.",
        "Velmo was founded in the 1930s by brothers.",
        "A heat pump dryer has two more fans than others.",
        "| Velmo was founded in 1931. |",
    ],
)
def test_what_is_not_named_in_full_or_says_nothing_is_left_alone(sentence):
    assert asked(sentence) == []


def test_a_common_noun_with_the_is_good_where_it_is_the_heading():
    sentence = "The drain pump is a small motor that empties the drum."
    assert asked(sentence) == []
    assert asked(sentence, "Drain pump")[0][0] == "What is the drain pump?"


def test_marks_of_markdown_are_no_part_of_a_question():
    found = asked("- The **Velmo Museum** is a [gallery](x.md) of old machines in the `yard`.")
    assert found == [("What is the Velmo Museum?", "a gallery of old machines in the yard", "definition")]


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("How do I reset the router?", "How do I reset the router?"),
        ("How to reset the router", "How do I reset the router?"),
        ("Resetting your router", "How do I reset my router?"),
        ("3. Setting up a guest network", "How do I set up a guest network?"),
        ("Routers", ""),
        ("Guest networks and printers", ""),
        ("Resetting it to this", ""),
        ("Sterling silver parts", ""),
    ],
)
def test_a_heading_becomes_the_question_that_a_reader_would_type(heading, question):
    assert question_of(heading) == question
    body = "Hold the button on the back for ten seconds until it blinks."
    assert [q for q, _, kind in asked(body, heading, alone=True) if kind == "heading"] == (
        [question] if question else []
    )
    assert asked(body, heading, alone=False) == []


def test_the_first_word_of_a_subject_is_written_as_inside_a_sentence():
    seen = Casing.of(["The new router and a Velmo drum."])
    assert subject_of("Router ", seen) == "router"
    assert subject_of("Velmo ", seen) == "Velmo"
    assert subject_of("Access Point ", seen) == "Access Point"
    assert subject_of("IPv6 ", seen) == "IPv6"
