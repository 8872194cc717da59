"""The data card says where a test set comes from and how it was made."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from embassay.core.samples.retrieval import Document, Question
from embassay.core.samples.shapes import Choice, Composition, Grouped, MinimalPairs
from embassay.testsets.base import Built, Resource, library
from embassay.testsets.card import card_of, counts_of
from embassay.testsets.files import lines_of
from embassay.testsets.options import BuildOptions, Order

PAIRS = (
    MinimalPairs("1", "The door is open.", (("antonym", "The door is closed."), ("typo", "The door is opne."))),
    MinimalPairs("2", "Prices rose.", (("typo", "Pricse rose."),)),
)
ORDER = Order(
    "minimal-pairs",
    Path("my|file.txt"),
    BuildOptions(licence="CC0", seed=7, count=2),
    {"mlm": None, "filters": (), "generator": SimpleNamespace(name="m at host")},
)
BUILT = Built(
    PAIRS,
    Counter({"a question": 1_200, "profanity": 3}),
    ("A note.",),
    3_000,
    (Resource("WordNet", "3.0", "WordNet licence", "antonyms"),),
    sha256="ab" * 32,
)


def card(corpus, order, built):
    return card_of(corpus, lines_of(built), order, built)


def counts(built):
    return counts_of(lines_of(built))


def narrow(text):
    return re.sub(" +", " ", text)


CARD = narrow(card("pairs.jsonl@0123456789abcdef", ORDER, BUILT))


def row(*cells):
    return f"| {' | '.join(cells)} |"


def test_it_says_where_the_test_set_comes_from():
    lines = CARD.splitlines()
    assert lines[0] == "# Data card: pairs.jsonl"
    for expected in (
        row("test set", "pairs.jsonl@0123456789abcdef, 2 samples of shape minimal_pairs"),
        row("made from", "my\\|file.txt, 3,000 rows"),
        row("its SHA-256", "ab" * 32),
        row("its licence", "CC0"),
        row("seed", "7"),
        row("options", "count=2, generator=m at host, language=en"),
        row("WordNet", "3.0", "WordNet licence", "antonyms"),
        "- A note.",
    ):
        assert expected in lines


def test_it_counts_what_was_built_and_what_was_left_out():
    built, left = CARD.index("## Built"), CARD.index("## Left out")
    assert row("samples", "2") in CARD[built:left]
    assert row("typo", "2") in CARD[built:left]
    assert row("antonym", "1") in CARD[built:left]
    assert row("a question", "1,200") in CARD[left:]


def test_a_licence_that_was_not_given_is_asked_for():
    order = Order("groups", Path("f.csv"))
    assert row("its licence", "not stated; set it with --licence") in narrow(card("g@0", order, BUILT))


def test_samples_are_counted_and_what_is_rated_of_them_by_edit():
    choice = Choice("1-1", "a", "b", "c", "d", "verb", "x–y", "never")
    assert counts(Built((choice,), Counter())) == {"samples": 1, "quadruple": 1}
    groups = (Grouped("1", "a", "g"), Grouped("2", "b", "g"), Grouped("3", "c", "h"))
    assert counts(Built(groups, Counter())) == {"samples": 3, "group": 3}
    composed = Composition("1", "union", "a", "b", "c"), Composition("2", "union", "b", "c", "d")
    assert counts(Built(composed, Counter())) == {"samples": 2, "union": 2}
    asked = Question("1", "Why?", ("d",)), Question("2", "How?", ())
    built = Built(asked, Counter(), documents=(Document("d", ("Because.",)),))
    assert counts(built) == {"documents": 1, "samples": 2, "question": 2}


def test_what_a_generator_was_told_stands_there_as_it_was():
    text = card("m@0", ORDER, replace(BUILT, prompt="Fuse {first}\n\n# and {second}."))
    told = text[text.index("## Prompt of the generator") : text.index("## Read by people")]
    assert "\n    Fuse {first}\n    \n    # and {second}.\n" in told
    assert "Prompt of the generator" not in CARD


def test_a_library_is_described_by_its_own_metadata():
    found = library("numpy", "arrays")
    assert found.version[0].isdigit()
    assert "BSD" in found.licence
