"""The built-in corpora: their tables become samples; ``tests/frozen`` holds every text of them by fingerprint."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from pathlib import Path

from embassay.core.samples.shapes import EDITS
from embassay.core.tables.records import read_table
from embassay.run.resolve import load_corpus

DATA = Path(str(files("embassay.core.data")))


def loaded(name, suffix="tsv"):
    corpus, table = load_corpus(name), read_table(DATA / f"{name}.{suffix}")
    rows = [row for _, row in table.records]
    assert (corpus.name, corpus.loader, corpus.builtin, corpus.licence) == (name, name, True, "CC-BY-4.0")
    assert corpus.audit().duplicates == 0
    return corpus, rows


def test_each_row_of_edits_is_a_sample_and_a_unit():
    corpus, rows = loaded("edits", "jsonl")
    assert corpus.units.tolist() == list(range(len(rows)))
    for sample, row in zip(corpus.samples, rows, strict=True):
        assert (sample.id, sample.original) == (row["id"], row["original"])
        assert sample.edits == tuple((edit, row["edits"][edit]) for edit in EDITS)


def test_each_quadruple_of_opposites_is_a_unit_with_four_inputs():
    corpus, rows = loaded("opposites", "jsonl")
    assert (corpus.audit().items, corpus.audit().units) == (len(rows), len(rows) // 4)
    for start in range(0, len(rows), 4):
        quadruple = corpus.samples[start : start + 4]
        sentence, negated, antonym, negated_antonym = (sample.input for sample in quadruple)
        assert [(sample.antonym, sample.polarity, sample.paraphrase) for sample in quadruple] == [
            (antonym, negated, negated_antonym),
            (negated_antonym, sentence, antonym),
            (sentence, negated_antonym, negated),
            (negated, antonym, sentence),
        ]
        assert len({(sample.part_of_speech, sample.pair, sample.negation) for sample in quadruple}) == 1


def test_the_groups_of_paraphrases_are_units():
    corpus, rows = loaded("paraphrases")
    assert [(s.id, s.group, s.text) for s in corpus.samples] == [tuple(row.values()) for row in rows]
    groups = list(dict.fromkeys(row["group"] for row in rows))
    assert [groups.index(row["group"]) for row in rows] == corpus.units.tolist()


def test_each_document_of_vignettes_is_a_unit_of_nine_samples():
    corpus, rows = loaded("vignettes")
    assert (corpus.audit().items, corpus.audit().units) == (9 * len(rows), len(rows))
    assert Counter(s.operator for s in corpus.samples) == {
        "overlap": len(rows),
        "difference": 6 * len(rows),
        "union": 2 * len(rows),
    }
    for place, row in enumerate(rows):
        mine = corpus.samples[9 * place : 9 * place + 9]
        assert {s.unit for s in mine} == {row["id"]}
        assert (mine[0].a, mine[0].b, mine[0].target) == (row["F12"], row["F23"], row["S2"])
        assert (mine[8].a, mine[8].b, mine[8].target) == (row["S2"], row["S3"], row["F23"])
