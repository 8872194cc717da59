"""Sentences from texts and tables, and everything that is no such thing."""

import json

import pytest

from embassay.core.errors import SourceError
from embassay.testsets.kinds.groups import read as read_pairs
from embassay.testsets.sources import (
    SourceSentence,
    read_sentences,
    usable,
)

SENTENCES = ("The ferry was late again.", "Nobody waited for “us”.")


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "\ufeffThe ferry was late again.\r\n\r\n  Nobody waited for “us”.  \r\n"),
        ("a", "The ferry was late again.\n\nNobody waited for “us”.\n"),
        ("a.csv", 'id,sentence\n7,"The ferry was late again."\n\n8,Nobody waited for “us”.\n'),
        ("semicolon.csv", "id;Sentence\n7;The ferry was late again.\n\n8;Nobody waited for “us”.\n"),
        ("a.tsv", "text\tlabel\nThe ferry was late again.\t1\n\nNobody waited for “us”.\t2\n"),
        ("b.txt", "id\tmine\n7\tThe ferry was late again.\n\n8\tNobody waited for “us”.\n"),
        ("a.jsonl", "".join(f"{json.dumps({'text': s})}\n\n" for s in SENTENCES)),
        ("one.csv", "whatever\nThe ferry was late again.\n\nNobody waited for “us”.\n"),
    ],
)
def test_every_form_gives_the_sentences_with_their_lines(tmp_path, name, content):
    found = read_sentences(write(tmp_path / name, content), column="mine" if name == "b.txt" else "")
    assert tuple(source.text for source in found) == SENTENCES
    assert found[1].line - found[0].line == 2


def test_a_parquet_file_is_a_table(tmp_path):
    import polars as pl

    pl.DataFrame({"n": [1, 2], "sentence": SENTENCES}).write_parquet(tmp_path / "table.parquet")
    assert read_sentences(tmp_path / "table.parquet") == (
        SourceSentence(SENTENCES[0], 1),
        SourceSentence(SENTENCES[1], 2),
    )


def test_a_unit_is_read_where_there_is_one(tmp_path):
    path = write(tmp_path / "a.csv", "unit,text\nbook 1,It rained.\n,It snowed.\n")
    assert [source.unit for source in read_sentences(path)] == ["book 1", ""]


@pytest.mark.parametrize(
    ("name", "content", "column", "message"),
    [
        ("a.txt", "", "", "has no sentence"),
        ("a.txt", " \n\n", "", "has no sentence"),
        ("a.csv", "", "", "is empty"),
        ("a.csv", "text,id\n", "", "the table has no rows"),
        ("a.csv", "text,id\n ,1\n", "", "has no sentence"),
        (
            "a.csv",
            "words,id\nIt rained.,1\n",
            "",
            "field 'sentence': missing; found words, id; add it, or name another",
        ),
        ("a.csv", "text,id\nIt rained.,1\n", "txt", "line 1, field 'txt': missing; found text, id"),
        ("a.csv", "text,id\nIt rained, then snowed.,1\n", "", "line 2: 3 columns; the header has 2"),
        ("a.csv", "text,text\na,b\n", "", "appears twice"),
        ("a.csv", 'text,id\n"It rained.,1\n', "", "not a table"),
        ("a.jsonl", '{"text": "It rained."}\n{"text": 3}\n', "", "line 2, field 'text': must be a text"),
        ("a.jsonl", '{"text": "It rained."}\n["text"]\n', "", "line 2: must be a JSON object"),
        ("a.jsonl", '{"text": "It rained."\n', "", "line 1: not JSON"),
        ("a.txt", b"It rained.\nCaf\xe9.\n", "", "line 2: not UTF-8"),
        ("a.txt", "It rained.\n".encode("utf-16"), "", "a binary file, not a text file"),
        ("a.txt", b"It rained.\nIt\0snowed.\n", "", "a binary file, not a text file"),
        ("a.parquet", b"PAR1 and no more", "", "not a Parquet file"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, name, content, column, message):
    path = write(tmp_path / name, content)
    with pytest.raises(SourceError) as error:
        read_sentences(path, column)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(SourceError, match="no such file"):
        read_sentences(tmp_path / "none.csv")
    with pytest.raises(SourceError, match="Is a directory"):
        read_sentences(tmp_path)


def test_what_is_no_sentence_is_counted_and_left_out():
    texts = ("It rained.", "it  RAINED.", "It\x07 snowed.", "a" * 1_001, "One line\nand another.", "It snowed\ufffd.")
    kept, rejected = usable([SourceSentence(text, line) for line, text in enumerate(texts, 1)])
    assert kept == (SourceSentence("It rained.", 1),)
    assert rejected == {
        "repeated sentence": 1,
        "control characters": 2,
        "longer than 1,000 characters": 1,
        "several lines in one cell": 1,
    }


def test_pairs_with_and_without_labels(tmp_path):
    path = write(tmp_path / "a.csv", "sentence1,sentence2,label\nIt rained.,Rain fell.,Yes\nIt rained.,It snowed.,0\n")
    assert [pair.label for pair in read_pairs(path)[0]] == [True, False]
    assert [pair.label for pair in read_pairs(path, label="none")[0]] == [True, True]
    path = write(tmp_path / "b.tsv", "q\tr\nIt rained.\tRain fell.\n")
    ((pair,), _) = read_pairs(path, first="q", second="r", label="none")
    assert (pair.first, pair.second, pair.label) == ("It rained.", "Rain fell.", True)


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("q,r\na,b\n", {}, "name its columns with --first and --second; found q, r"),
        ("q,r\na,b\n", {"first": "q"}, "field 'sentence2': missing"),
        ("q,r\na,b\n", {"first": "q", "second": "q"}, "has another use, and cannot be the second as well"),
        ("first,second\na,\n", {"label": "none"}, "line 2, field 'second': an empty text"),
        ("first,second\n,b\n", {"label": "none"}, "line 2, field 'first': an empty text"),
        (
            "first,second,label\na,b,2\n",
            {},
            "line 2, field 'label': must be a valid boolean, unable to interpret input; it is '2'",
        ),
    ],
)
def test_pairs_that_are_none(tmp_path, content, columns, message):
    with pytest.raises(SourceError) as error:
        read_pairs(write(tmp_path / "a.csv", content), **columns)
    assert message in str(error.value)
