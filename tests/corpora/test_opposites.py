"""The built-in choice corpus keeps its own rules."""

import csv
from collections import Counter
from importlib.resources import files

import pytest

from embassay.run.resolve import load_corpus

PATTERNS = {
    "not": " not ",
    "n't": "n't ",
    "never": " never ",
    "no longer": " no longer ",
    "cannot": " cannot ",
    "by no means": " by no means ",
    "it is not true that": "It is not true that ",
}


@pytest.fixture(scope="module")
def rows():
    text = files("embassay.core.data").joinpath("opposites.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_it_is_large_and_mixed_enough(rows):
    assert len(rows) >= 60
    assert min(Counter(r["part_of_speech"] for r in rows).values()) >= 15
    assert set(Counter(r["negation"] for r in rows)) == set(PATTERNS)
    assert min(Counter(r["negation"] for r in rows).values()) >= 7


def test_no_sentence_and_no_word_occurs_twice(rows):
    sentences = [r[c] for r in rows for c in ("sentence", "negated", "antonym_sentence", "negated_antonym")]
    words = [r[c] for r in rows for c in ("word", "antonym")]
    assert len(set(sentences)) == len(sentences)
    assert len(set(words)) == len(words)


def test_the_negation_stands_where_it_should_and_nowhere_else(rows):
    for row in rows:
        mark = PATTERNS[row["negation"]]
        assert mark in row["negated"], row
        assert mark in row["negated_antonym"], row
        assert not any(m in row["sentence"] + row["antonym_sentence"] for m in PATTERNS.values()), row


def test_antonym_sentences_differ_in_one_word(rows):
    for row in rows:
        for first, second in (("sentence", "antonym_sentence"), ("negated", "negated_antonym")):
            a, b = row[first].split(), row[second].split()
            assert len(a) == len(b), row
            assert sum(x != y for x, y in zip(a, b, strict=True)) == 1, row


def test_each_quadruple_is_a_unit_with_four_inputs(rows):
    corpus = load_corpus("opposites")
    audit = corpus.audit()
    assert (audit.items, audit.units, audit.duplicates) == (4 * len(rows), len(rows), 0)
    assert corpus.builtin


def test_paraphrase_changes_both_and_the_others_one(rows):
    corpus = load_corpus("opposites")
    by_quadruple = {tuple(corpus.samples[i : i + 4]) for i in range(0, len(corpus.samples), 4)}
    for quadruple in by_quadruple:
        sentence, negated, antonym, negated_antonym = (s.input for s in quadruple)
        assert [s.paraphrase for s in quadruple] == [negated_antonym, antonym, negated, sentence]
        assert [s.antonym for s in quadruple] == [antonym, negated_antonym, sentence, negated]
        assert [s.polarity for s in quadruple] == [negated, sentence, negated_antonym, antonym]
