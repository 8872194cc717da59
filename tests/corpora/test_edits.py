"""The built-in minimal pairs keep their own rules."""

from __future__ import annotations

import csv
import re
from collections import Counter
from importlib.resources import files

import pytest

from embassay.core.samples.minimal_pairs import EDITS
from embassay.run.resolve import load_corpus

WORD_EDITS = ("synonym", "antonym", "typo", "random_mlm")
NEGATIONS = ("negation_main", "negation_antonym")
NEGATION = re.compile(r"\bnot\b|n't\b|\bcannot\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def rows():
    text = files("embassay.core.data").joinpath("edits.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def sentences(row):
    return {row["original"], *(row[edit] for edit in EDITS)}


def replaced(first, second):
    """Return the tokens in which two sentences of one length differ, a and an apart."""
    a, b = first.split(), second.split()
    assert len(a) == len(b), (first, second)
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    return [(x, y) for x, y in pairs if not {x.lower(), y.lower()} <= {"a", "an"}]


def test_it_is_large_enough_and_each_row_is_full(rows):
    assert len(rows) >= 100
    for row in rows:
        assert set(row) == {"original", "word", *EDITS}
        assert all(cell and cell == cell.strip() for cell in row.values()), row


def test_no_word_and_no_sentence_occurs_in_two_rows(rows):
    assert max(Counter(row["word"] for row in rows).values()) == 1
    assert max(Counter(s for row in rows for s in sentences(row)).values()) == 1


def test_each_edit_changes_the_original_and_only_the_negations_may_be_equal(rows):
    for row in rows:
        texts = [row["original"], *(row[edit] for edit in WORD_EDITS), row["negation_main"]]
        assert len(set(texts)) == 6, row
        assert row["negation_antonym"] not in texts[:5], row


@pytest.mark.parametrize("edit", WORD_EDITS)
def test_a_word_edit_replaces_the_word_and_nothing_else(rows, edit):
    for row in rows:
        changed = replaced(row["original"], row[edit])
        assert len(changed) == 1, row
        old, new = (token.strip('.,;:!?"').lower() for token in changed[0])
        assert old == row["word"].lower(), row
        assert old != new, row


def test_a_or_an_agrees_with_the_next_letter(rows):
    for row in rows:
        for sentence in sentences(row):
            for article, following in re.findall(r"\b(an?) ([a-z])", sentence, re.IGNORECASE):
                if following.lower() not in "uho":  # a union, an hour, a one-way street
                    assert (article.lower() == "an") == (following.lower() in "aei"), sentence


@pytest.mark.parametrize("edit", NEGATIONS)
def test_a_negation_puts_in_one_not_or_takes_one_out(rows, edit):
    for row in rows:
        before, after = (len(NEGATION.findall(row[c])) for c in ("original", edit))
        assert abs(before - after) == 1, row


@pytest.mark.parametrize("edit", WORD_EDITS)
def test_a_word_edit_keeps_the_negations(rows, edit):
    for row in rows:
        assert len(NEGATION.findall(row["original"])) == len(NEGATION.findall(row[edit])), row


def test_no_adjective_is_negated_before_its_noun(rows):
    """Nobody writes "a not severe cough": the word that is negated stands after a verb."""
    for row in rows:
        for edit in NEGATIONS:
            assert not re.search(r"\b(?:an?|the) not\b", row[edit], re.IGNORECASE), row


def test_a_typo_is_one_or_two_letters_away(rows):
    for row in rows:
        ((old, new),) = replaced(row["original"], row["typo"])
        assert abs(len(old) - len(new)) <= 1, row
        common = Counter(old.lower()) & Counter(new.lower())
        assert len(old) - common.total() <= 1, row


def test_some_negations_differ_and_some_originals_are_negated(rows):
    assert sum(row["negation_main"] != row["negation_antonym"] for row in rows) >= 30
    assert sum(bool(NEGATION.search(row["original"])) for row in rows) >= 10


def test_each_row_is_a_sample_and_a_unit(rows):
    corpus = load_corpus("edits")
    assert (corpus.name, corpus.loader, corpus.shape, corpus.builtin) == ("edits", "edits", "minimal_pairs", True)
    assert corpus.licence == "CC-BY-4.0"
    assert corpus.source
    assert len(corpus.samples) == len(rows)
    assert corpus.units.tolist() == list(range(len(rows)))
    assert corpus.audit().duplicates == 0
    for sample, row in zip(corpus.samples, rows, strict=True):
        assert (sample.id, sample.original) == (row["word"], row["original"])
        assert sample.edits == tuple((edit, row[edit]) for edit in EDITS)
