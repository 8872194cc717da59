"""The built-in paraphrase groups keep their own rules."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter, defaultdict
from importlib.resources import files

import pytest

from embassay.run.resolve import load_corpus


@pytest.fixture(scope="module")
def text():
    return files("embassay.core.data").joinpath("paraphrases.tsv").read_bytes().decode("utf-8")


@pytest.fixture(scope="module")
def rows(text):
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def groups(rows):
    found = defaultdict(list)
    for row in rows:
        found[row["group"]].append(row["sentence"])
    return found


def words(sentence):
    return re.findall(r"\w+", sentence.lower())


def test_it_is_a_plain_table_of_three_full_columns(text, rows):
    assert text.startswith("id\tgroup\tsentence\n")
    assert text.endswith("\n")
    assert "\r" not in text
    for line, row in zip(text.splitlines()[1:], rows, strict=True):
        assert line == f"{row['id']}\t{row['group']}\t{row['sentence']}"
        assert all(cell and cell == cell.strip() for cell in row.values()), row


def test_it_is_as_large_as_the_documentation_says(rows, groups):
    assert (len(rows), len(groups)) == (250, 62)
    assert Counter(map(len, groups.values())) == {3: 3, 4: 54, 5: 5}


def test_groups_stand_together_and_ids_count_within_them(rows, groups):
    expected = [f"{name}-{n}" for name, sentences in groups.items() for n in range(1, len(sentences) + 1)]
    assert [row["id"] for row in rows] == expected
    assert len(set(expected)) == len(rows)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in groups)


def test_no_sentence_occurs_twice_not_even_with_other_punctuation(rows):
    assert max(Counter(tuple(words(row["sentence"])) for row in rows).values()) == 1


def test_each_text_is_one_sentence_of_5_to_22_words(rows):
    for row in rows:
        assert re.fullmatch(r"[A-Z][a-zA-Z', -]*[a-z]\.", row["sentence"]), row
        assert "  " not in row["sentence"], row
        assert 5 <= len(row["sentence"].split()) <= 22, row


def test_the_sentences_of_a_group_are_about_one_thing(groups):
    for name, sentences in groups.items():
        stems = [{word[:5] for word in words(sentence) if len(word) > 3} for sentence in sentences]
        assert set.intersection(*stems), name


def test_the_same_words_mean_different_things_in_different_groups(rows):
    bags = defaultdict(set)
    for row in rows:
        bags[tuple(sorted(words(row["sentence"])))].add(row["group"])
    assert sum(len(found) > 1 for found in bags.values()) >= 5


def test_words_alone_do_not_tell_the_groups_apart_but_help(rows):
    bags = [Counter(words(row["sentence"])) for row in rows]
    norms = [math.sqrt(sum(n * n for n in bag.values())) for bag in bags]
    right = 0
    for i, bag in enumerate(bags):
        near = {j: sum(bag[word] * n for word, n in other.items()) / norms[j] for j, other in enumerate(bags) if j != i}
        right += rows[max(near, key=near.__getitem__)]["group"] == rows[i]["group"]
    assert 0.1 < right / len(rows) < 0.5  # by chance 3 of 249


def test_the_units_of_the_corpus_are_the_groups(rows, groups):
    corpus = load_corpus("paraphrases")
    audit = corpus.audit()
    assert (corpus.name, corpus.loader, corpus.shape) == ("paraphrases", "paraphrases", "groups")
    assert corpus.builtin
    assert corpus.licence == "CC-BY-4.0"
    assert [(s.id, s.group, s.text) for s in corpus.samples] == [tuple(row.values()) for row in rows]
    assert (audit.items, audit.units, audit.duplicates, audit.distinct) == (len(rows), len(groups), 0, len(rows))
    assert [list(groups).index(row["group"]) for row in rows] == corpus.units.tolist()
