"""The built-in documents keep their own rules."""

from __future__ import annotations

import csv
import re
from collections import Counter
from importlib.resources import files

import pytest

from embassay.run.resolve import load_corpus

SENTENCES = ("S1", "S2", "S3", "F12", "F23")
FUSED = {"F12": ("S1", "S2"), "F23": ("S2", "S3")}
NUMBERS = re.compile(
    r"\d+(?:[.,]\d+)*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million"
    r"|dozen|half|quarter|twice)\b"
)


@pytest.fixture(scope="module")
def rows():
    text = files("embassay.core.data").joinpath("vignettes.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def numbers(text):
    return set(NUMBERS.findall(text.lower()))


def test_it_is_large_and_mixed_enough_and_each_row_is_full(rows):
    assert len(rows) >= 60
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({row["topic"] for row in rows}) >= 20
    for row in rows:
        assert set(row) == {"id", "topic", *SENTENCES}
        assert all(cell and cell == cell.strip() for cell in row.values()), row


def test_no_sentence_occurs_twice(rows):
    assert max(Counter(row[field] for row in rows for field in SENTENCES).values()) == 1


def test_each_text_is_one_sentence(rows):
    for row in rows:
        for field in SENTENCES:
            assert re.fullmatch(r"[A-Z0-9].*[.!?]", row[field]), row
            assert not re.search(r"[a-z]{3}[.!?] [A-Z]", row[field]), row


@pytest.mark.parametrize("fusion", FUSED)
def test_a_fusion_says_every_number_of_its_parts_and_no_other(rows, fusion):
    for row in rows:
        first, second = FUSED[fusion]
        assert numbers(row[fusion]) == numbers(row[first]) | numbers(row[second]), row


@pytest.mark.parametrize("fusion", FUSED)
def test_a_fusion_is_longer_than_either_part_and_not_much_longer_than_both(rows, fusion):
    for row in rows:
        lengths = [len(row[part].split()) for part in FUSED[fusion]]
        assert max(lengths) < len(row[fusion].split()) <= sum(lengths) + 5, row


@pytest.mark.parametrize("fusion", FUSED)
def test_a_fusion_keeps_most_words_of_its_parts(rows, fusion):
    for row in rows:
        said = set(re.findall(r"\w+", row[fusion].lower()))
        for part in FUSED[fusion]:
            long = {word for word in re.findall(r"\w+", row[part].lower()) if len(word) > 3}
            assert len(long & said) >= len(long) / 2, (row, part)


@pytest.mark.parametrize("fusion", FUSED)
def test_a_fusion_gives_no_reason_that_its_parts_do_not_give(rows, fusion):
    for row in rows:
        parts = " ".join(row[part] for part in FUSED[fusion]).lower()
        for reason in ("because", "since", "due to", "therefore", "so that", "thanks to"):
            assert reason in parts or reason not in row[fusion].lower(), row


def test_each_document_is_a_unit_of_nine_samples(rows):
    corpus = load_corpus("vignettes")
    audit = corpus.audit()
    assert (audit.items, audit.units, audit.duplicates) == (9 * len(rows), len(rows), 0)
    assert (corpus.name, corpus.loader, corpus.shape) == ("vignettes", "vignettes", "composition")
    assert corpus.builtin
    assert corpus.licence == "CC-BY-4.0"
    assert Counter(s.operator for s in corpus.samples) == {
        "overlap": len(rows),
        "difference": 6 * len(rows),
        "union": 2 * len(rows),
    }
    assert corpus.filtered_with == ()
    assert not any(s.ratings or s.mirrored for s in corpus.samples)


def test_the_samples_are_those_of_the_documents(rows):
    samples = load_corpus("vignettes").samples
    for place, row in enumerate(rows):
        mine = samples[9 * place : 9 * place + 9]
        assert {s.unit for s in mine} == {row["id"]}
        assert (mine[0].a, mine[0].b, mine[0].target) == (row["F12"], row["F23"], row["S2"])
        assert (mine[8].a, mine[8].b, mine[8].target) == (row["S2"], row["S3"], row["F23"])
