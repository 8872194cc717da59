"""Paraphrase groups of one's own: tables of sentences, and broken ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.core.errors import InputError
from embassay.core.samples.shapes import closure
from embassay.corpora.groups.groups import load, recognises
from embassay.run.resolve import load_corpus
from failing import failing

CSV = "sentence,group\n"
GOOD = CSV + "It rained.,rain\nAda sang.,song\nIt was wet.,rain\nRain fell.,rain\nAda left.,song\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="mine.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return str(path)

    return write


fails = failing(load)


def told(corpus):
    return [(s.id, s.text, s.group) for s in corpus.samples]


def test_groups_of_three_and_more_are_kept_in_the_order_of_the_rows(file):
    corpus = load_corpus(file(GOOD))
    assert (corpus.name, corpus.loader, corpus.shape, corpus.source) == ("mine", "groups", "groups", "")
    assert told(corpus) == [("0", "It rained.", "rain"), ("2", "It was wet.", "rain"), ("3", "Rain fell.", "rain")]
    assert corpus.notes == (
        "columns: sentence as sentence, group as group",
        "3 sentences in 1 group",
        "1 group below 3 sentences dropped, with 2 sentences",
    )


def test_columns_can_be_named_and_then_need_no_loader(file):
    path = file("key,said,by\na,x y,1\nb,x z,1\nc,x,1\n")
    expected = [("0", "x y", "1"), ("1", "x z", "1"), ("2", "x", "1")]
    assert told(load_corpus(f"{path},sentence=said,group=by")) == expected
    expected = [(name, text, group) for name, (_, text, group) in zip("abc", expected, strict=True)]
    assert told(load_corpus(f"{path},sentence=said,group=by,id=key")) == expected


def test_a_named_column_goes_before_a_known_one(file):
    path = file("id,text,sentence,group,label\n1,a,d,g,h\n2,b,e,g,h\n3,c,f,g,i\n")
    assert told(load(path, "mine")) == [("1", "d", "g"), ("2", "e", "g"), ("3", "f", "g")]
    assert told(load(path, "mine", sentence="text", id="sentence")) == [
        ("d", "a", "g"),
        ("e", "b", "g"),
        ("f", "c", "g"),
    ]
    assert "found 2 groups with 3 sentences" in fails(path, group="label")


def test_a_parquet_table_is_told_by_its_columns(tmp_path):
    import polars as pl

    path = str(tmp_path / "mine.parquet")
    pl.DataFrame({"text": ["a", "b", "c", "d"], "label": [4, 4, 4, 5]}).write_parquet(path)
    assert told(load_corpus(f"{path},group=label")) == [("0", "a", "4"), ("1", "b", "4"), ("2", "c", "4")]
    pl.DataFrame({"text": ["a", None], "label": [4, 4]}).write_parquet(path)
    assert fails(path).startswith(", line 2, field 'text'")
    pl.DataFrame({"text": ["a", "b"], "label": [4.5, 4.5]}).write_parquet(path)
    assert fails(path).startswith(", line 1, field 'label'")


def test_space_around_cells_is_none_of_theirs(file):
    corpus = load(file(CSV + "a , g\n b,g\nc,g \n"), "mine")
    assert told(corpus) == [("0", "a", "g"), ("1", "b", "g"), ("2", "c", "g")]


def test_the_same_sentence_in_the_same_group_is_merged_before_groups_are_counted(file):
    rows = "a,g\nb,g\na,g\nc,h\nd,h\ne,h\n a,g\nf,h\nf,h\n"
    corpus = load(file(CSV + rows), "mine")
    assert told(corpus) == [("3", "c", "h"), ("4", "d", "h"), ("5", "e", "h"), ("7", "f", "h")]
    assert corpus.notes == (
        "columns: sentence as sentence, group as group",
        "3 rows left out: repeats a sentence of the same group",
        "4 sentences in 1 group",
        "1 group below 3 sentences dropped, with 2 sentences",
    )


@pytest.mark.parametrize(("rows", "says"), [("", "the table has no rows"), ("a,g\nb,h\na,g\n", "no group has 3")])
def test_nothing_left_is_an_error(file, rows, says):
    assert fails(file(CSV + rows)).startswith(f": {says}")


def test_ids_stand_once(file):
    found = fails(file("id,text,label\nx,a,g\ny,b,g\nx,c,g\n"))
    assert found.startswith(", line 4, field 'id'")
    # Also where the second is a repeat that is left out.
    assert fails(file("id,text,label\nx,a,g\nx,a,g\n")).startswith(", line 3, field 'id'")


@pytest.mark.parametrize(
    ("head", "known"),
    [
        ("text,label", True),
        ('"cluster";"sentence"', True),
        ("id\ttext\tgroup_id", True),
        ('{"text": "a", "label": 1}', True),
        ("text,score", False),
        ("label,group", False),
        ("texts,labels", False),
        ("sentence1,sentence2,label", False),
        ("text,group,first,second", False),
        ('{"text": "a", "label": 1, "text1": "b", "text2": "c"}', False),
        ("This text, of any group, is a text.", False),
    ],
)
def test_a_table_is_told_by_its_names_and_never_where_it_is_one_of_pairs(head, known):
    assert recognises(head + "\n") is known


@given(pairs=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=14))
def test_closure_is_that_of_a_plain_loop(pairs):
    joined = {}
    for a, b in pairs:
        union = joined.get(a, {a}) | joined.get(b, {b})
        joined.update(dict.fromkeys(union, union))
    assert closure(pairs) == {node: min(joined[node]) for node in sorted(joined)}


cells = st.sampled_from(["a", "b", "c", "d", "e", " a", ""])


@given(rows=st.lists(st.tuples(cells, st.sampled_from(["g", "h", "g ", ""])), max_size=9))
def test_what_is_kept_is_that_of_a_plain_loop(rows, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "plain.csv"
    path.write_text(CSV + "".join(f'"{text}","{group}"\n' for text, group in rows))
    clean = [(text.strip(), group.strip()) for text, group in rows if text.strip() or group.strip()]
    first = {}
    for place, (text, group) in enumerate(clean):
        first.setdefault((text, group), place)
    sizes = {group: sum(g == group for _, g in first) for _, group in first}
    expected = [(str(i), text, group) for (text, group), i in first.items() if sizes[group] > 2]
    bad = any(not text or not group for text, group in clean) or len({text for text, _ in first}) < len(first)
    if bad or not expected:
        with pytest.raises(InputError):
            load(str(path), "mine")
    else:
        assert told(load(str(path), "mine")) == expected
