"""Paraphrase groups of one's own: tables of sentences, tables of pairs, and broken ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.core.errors import InputError, SpecError
from embassay.core.samples.shapes import closure
from embassay.corpora.groups.groups import load, recognises
from embassay.run.resolve import load_corpus
from failing import failing

CSV = "sentence,group\n"
GOOD = CSV + "It rained.,rain\nAda sang.,song\nIt was wet.,rain\nRain fell.,rain\nAda left.,song\n"
PAIRS = "sentence1,sentence2,label\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="mine.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return str(path)

    return write


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


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


@pytest.mark.parametrize("options", ["group=group,first=sentence", "id=x,label=group", "sentence=a,second=b"])
def test_options_of_both_forms_at_once_are_refused(file, options):
    with pytest.raises(
        SpecError, match=r"for a table of sentences; .* for a table of pairs; use only one of the two sets"
    ):
        load_corpus(f"{file(GOOD)},loader=groups,{options}")


PAIRED = PAIRS + "b,a,1\nx,y,0\na,c,1\nd,e,1\nc,b,1\nc,d,0\nf,f,1\n"


@pytest.mark.parametrize("options", ["loader=groups", "label=label", "first=sentence1,second=sentence2,label=label"])
def test_pairs_become_groups_by_what_their_labels_join(file, options):
    corpus = load_corpus(f"{file(PAIRED)},{options}")
    assert corpus.loader == "groups"
    # Numbered as they come, without those of no pair of paraphrases; the group is its first.
    assert told(corpus) == [("0", "b", "0"), ("1", "a", "0"), ("2", "c", "0")]
    assert corpus.notes == (
        "columns: sentence1 as first, sentence2 as second, label as label",
        "7 pairs, 5 of them paraphrases",
        "3 sentences in 1 group",
        "2 groups below 3 sentences dropped, with 3 sentences",
    )


def test_pairs_without_an_option_stay_pairs(file):
    corpus = load_corpus(file(PAIRED))
    assert (corpus.loader, corpus.shape) == ("pairs", "pairs")


def test_a_sentence_is_the_same_in_every_row(file):
    # The space around it is none of its own: "b " and " b" join the pairs.
    path = file("q,r,same\na,b ,yes\n b,c,yes\n")
    assert told(load_corpus(f"{path},first=q,second=r,label=same")) == [
        ("0", "a", "0"),
        ("1", "b", "0"),
        ("2", "c", "0"),
    ]


@pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("true", "false"), ("Yes", "NO"), (" 1.0 ", "0.0"), ("TRUE", "0")])
def test_a_label_may_be_written_in_several_ways(file, yes, no):
    corpus = load(file(f"{PAIRS}a,b,{yes}\nc,d,{no}\nb,e,{yes}\n"), "mine", label="label")
    assert [s.text for s in corpus.samples] == ["a", "b", "e"]


def test_a_label_of_json_may_be_a_number_or_true(file):
    rows = [
        {"first": a, "second": b, "label": label} for a, b, label in [("a", "b", True), ("b", "c", 1), ("d", "a", 1.0)]
    ]
    rows += [{"first": "a", "second": "x", "label": False}, {"first": "a", "second": "y", "label": 0}]
    assert [s.text for s in load(file(lines(*rows)), "mine").samples] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("label", ["maybe", "2", "-1", "1.5", "", "paraphrase", "10"])
def test_a_label_that_is_neither_is_named(file, label):
    found = fails(file(f"{PAIRS}a,b,1\nc,d,{label}\n"), label="label")
    assert found.startswith(", line 3, field 'label'")


def test_pairs_of_which_nothing_is_left(file):
    assert fails(file(PAIRS), label="label").startswith(": the table has no rows")
    found = fails(file(PAIRS + "a,b,0\n"), label="label")
    assert found.startswith(": no group has 3 sentences or more; found 0 groups")
    found = fails(file(PAIRS + "a,b,1\nb,a,1\n"), label="label")
    assert found.startswith(": no group has 3 sentences or more; found 1 group with 2 sentences")


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
