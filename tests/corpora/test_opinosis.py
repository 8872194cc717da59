"""Opinosis's form, on folders that are made here: the released files are not kept in the project."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.core.errors import SourceError
from embassay.corpora.groups import opinosis
from embassay.corpora.groups.opinosis import load
from embassay.run.resolve import load_corpus
from failing import failing

HEADER = "phrase_index,paraphrase_group_index\n"
PHRASES = ["The bed is soft.", "Rooms are large", "A soft bed , too", "Big rooms.", 'A "bed, so soft.', "Big rooms !"]
GROUPS = [7, 2, 7, 5, 7, 2]


def table(groups):
    return HEADER + "".join(f"{index},{group}\n" for index, group in enumerate(groups))


@pytest.fixture
def folder(tmp_path):
    def write(phrases=PHRASES, groups=GROUPS, name="opinions"):
        path = tmp_path / name
        path.mkdir(exist_ok=True)
        texts = {
            "phrases.txt": phrases if isinstance(phrases, (str, bytes)) else "".join(f"{p}\n" for p in phrases),
            "phrase_groups.csv": groups if isinstance(groups, (str, bytes)) else table(groups),
        }
        for file, text in texts.items():
            (path / file).write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


fails = failing(load)


def test_groups_of_three_and_more_are_kept_in_the_order_of_the_file(folder):
    corpus = load_corpus(str(folder()))
    assert (corpus.name, corpus.loader, corpus.shape, corpus.licence) == ("opinions", "opinosis", "groups", "unknown")
    assert [(s.id, s.text, s.group) for s in corpus.samples] == [
        ("0", "The bed is soft.", "7"),
        ("2", "A soft bed , too", "7"),
        ("4", 'A "bed, so soft.', "7"),
    ]
    assert corpus.notes == ("3 sentences in 1 group", "2 groups below 3 sentences dropped, with 3 sentences")
    assert load_corpus(f"{folder()},licence=CC0").licence == "CC0"


def test_a_line_ends_at_its_end_only(folder):
    odd = [PHRASES[0], "  Large\u2028and\x85wide\x0b. ", *PHRASES[2:]]
    corpus = load(str(folder(odd, [1] * 6)), "mine")
    assert [s.text for s in corpus.samples] == [PHRASES[0], "Large\u2028and\x85wide\x0b.", *PHRASES[2:]]


@pytest.mark.parametrize("missing", ["phrases.txt", "phrase_groups.csv"])
def test_what_is_missing_is_named(folder, missing):
    path = folder()
    (path / missing).unlink()
    assert fails(path) == f"/{missing}: no such file"


def test_a_folder_is_told_by_its_names_alone(folder, tmp_path):
    assert opinosis.recognises_folder(folder())
    other = tmp_path / "other"
    other.mkdir()
    (other / "phrases.txt").write_text("Sentences of anybody.\n")
    assert not opinosis.recognises_folder(other)


@pytest.mark.parametrize(("phrases", "line"), [("\na\nb\nc\n", 1), ("a\n\nb\nc\n", 2), ("a\nb\n \t\r\nc", 3)])
def test_an_empty_line_among_the_sentences_is_named(folder, phrases, line):
    told = "an empty line; each line must be a sentence"
    assert fails(folder(phrases, [1, 1, 1])) == f"/phrases.txt, line {line}: {told}"


@given(groups=st.lists(st.integers(0, 4), min_size=1, max_size=14))
def test_what_is_kept_is_that_of_a_plain_loop(groups, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "opinosis"
    path.mkdir(exist_ok=True)
    (path / "phrases.txt").write_text("".join(f"Sentence {i}.\n" for i in range(len(groups))))
    (path / "phrase_groups.csv").write_text(table(groups))
    expected = [(str(i), str(group)) for i, group in enumerate(groups) if groups.count(group) >= 3]
    try:
        found = [(s.id, s.group) for s in load(str(path), "mine").samples]
    except SourceError:
        found = []
    assert found == expected
