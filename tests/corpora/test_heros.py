"""HEROS: the table as released, its two columns of one name, and tables that are broken."""

from __future__ import annotations

import pytest

from embassay.corpora.minimal_pairs.heros import touches
from embassay.run.resolve import load_corpus

HEAD = ("Original", "Synonym", "Antonym", "Negation", "Random", "Typo", "Negation")
# Original, synonym, antonym, main verb negated, random word, typo, chosen word negated; of our own writing.
ROWS = [
    (
        "Tom said the soup was cold.",
        "Tom said the soup was chilly.",
        "Tom said the soup was hot.",
        "Tom did not say the soup was cold.",
        "Tom said the soup was free.",
        "Tom said the soup was clod.",
        "Tom said the soup was not cold.",
    ),
    (
        "A quick walk clears her head.",
        "A fast walk clears her head.",
        "A slow walk clears her head.",
        "A quick walk does not clear her head.",
        "A daily walk clears her head.",
        "A qiuck walk clears her head.",
        "A not quick walk clears her head.",
    ),
    # Here the chosen word is the main verb: both negations are one, and touch its place.
    (
        'He "likes" the early train.',
        'He "enjoys" the early train.',
        'He "hates" the early train.',
        'He does not "like" the early train.',
        'He "drives" the early train.',
        'He "liks" the early train.',
        'He does not "like" the early train.',
    ),
]
MAIN, CHOSEN = 3, 6


@pytest.fixture
def table(tmp_path):
    def write(rows, head=HEAD):
        path = tmp_path / "heros.tsv"
        path.write_text("\n".join("\t".join(row) for row in [head, *rows]) + "\n", encoding="utf-8")
        return str(path)

    return write


def swapped(row, i=MAIN, j=CHOSEN):
    row = list(row)
    row[i], row[j] = row[j], row[i]
    return row


def test_the_released_form_is_understood(table):
    corpus = load_corpus(table(ROWS))
    assert (corpus.loader, corpus.shape, corpus.name) == ("heros", "minimal_pairs", "heros")
    assert [s.id for s in corpus.samples] == ["0", "1", "2"]
    assert corpus.units.tolist() == [0, 1, 2]
    for sample, row in zip(corpus.samples, ROWS, strict=True):
        original, synonym, antonym, main, random, typo, chosen = row
        assert sample.original == original
        assert list(dict(sample.edits)) == [
            "synonym",
            "antonym",
            "typo",
            "random_mlm",
            "negation_main",
            "negation_antonym",
        ]
        assert [text for _, text in sample.edits] == [synonym, antonym, typo, random, main, chosen]


def test_the_negations_are_told_apart_by_content_in_either_order(table):
    expected = load_corpus(table(ROWS))
    assert expected.notes == (
        "two columns Negation: the second is negation_antonym (rows that change the synonym's place: 1, 3)",
    )
    found = load_corpus(table([swapped(row) for row in ROWS]))
    assert found.samples == expected.samples
    assert found.notes[0].startswith("two columns Negation: the first is negation_antonym ")


def test_any_order_of_columns_gives_the_same_samples(table):
    expected = load_corpus(table(ROWS)).samples
    for order in [(6, 5, 4, 3, 2, 1, 0), (1, 0, 3, 2, 5, 4, 6), (6, 0, 1, 2, 3, 4, 5)]:
        moved = [[row[i] for i in order] for row in ROWS]
        assert load_corpus(table(moved, [HEAD[i] for i in order])).samples == expected


def test_columns_that_cannot_be_told_apart_are_taken_as_they_stand(table):
    corpus = load_corpus(table(ROWS[2:] * 2))
    assert [name for name, _ in corpus.samples[0].edits][-2:] == ["negation_main", "negation_antonym"]


@pytest.mark.parametrize(
    ("original", "synonym", "negation", "expected"),
    [
        ("The dog is happy.", "The dog is glad.", "The dog is not happy.", True),  # not is put in before happy
        ("The dog is happy.", "The dog is glad.", "The dog isn't happy.", True),
        ("She said it is fine.", "She said it is good.", "She did not say it is fine.", False),
        ("He did not see the big dog.", "He did not see the large dog.", "He saw the big dog.", False),
        ("He can not swim.", "He can not float.", "He can swim.", True),  # not is taken out before swim
        ("A new car came.", "A modern car came.", "A new car did not come.", False),
    ],
)
def test_a_negation_touches_the_synonyms_place_or_not(original, synonym, negation, expected):
    assert touches(original, synonym, negation) == expected


def test_heads_are_read_in_any_case_and_cells_without_the_space_around_them(table):
    expected = load_corpus(table(ROWS)).samples
    heads = [head.upper() + " " for head in HEAD]
    assert load_corpus(table([[f" {cell} " for cell in row] for row in ROWS], heads)).samples == expected


def test_quotes_are_ordinary_characters(table):
    rows = [[f'"{row[0]}', *row[1:-1], row[-1] + '"'] for row in ROWS]
    assert load_corpus(table(rows)).samples[0].original == f'"{ROWS[0][0]}'


def test_rows_that_share_a_sentence_are_one_unit(table):
    shared = list(ROWS[1])
    shared[4] = ROWS[0][4]
    assert load_corpus(table([ROWS[0], shared, ROWS[2]])).units.tolist() == [0, 0, 1]
