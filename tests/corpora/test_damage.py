"""Every reader and every kind of damage: one line that names the file, and nothing of it is used."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.test_every_loader import EXAMPLES, FORMS, JSON, lines
from embassay.core.errors import InputError
from embassay.core.plugins import CORPORA
from embassay.run.resolve import builtin_names, load_corpus


def parquet(**columns):
    content = io.BytesIO()
    pl.DataFrame(columns).write_parquet(content)
    return content.getvalue()


MSRP = EXAMPLES["msrp"].encode()
DOCUMENTS = b'id,title,text\na,Rain,It rained.\nb,,"We ran, home."\n'
QUESTIONS = b"id,question,document\n1,Did it rain?,a\n2,Who ran?,a b\n"
BEIR = {
    "corpus.jsonl": lines({"_id": "d", "title": "T", "text": "It rained."}, {"_id": 2, "text": "We ran."}).encode(),
    "queries.jsonl": lines({"_id": "q", "text": "Did it rain?", "metadata": {}}).encode(),
    "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq\td\t1\n",
}
TREC = {"topics.txt": b"1\train\n", "qrels.txt": b"1 0 d 1\n1 0 e 0\n", "docs.tsv": b"d\tIt rained.\ne\tWe ran.\n"}
OPINOSIS = {
    "phrases.txt": b"It rained.\nRain fell.\nIt was wet.\n",
    "phrase_groups.csv": b"phrase_index,paraphrase_group_index\n0,0\n1,0\n2,0\n",
}
ASKED = ",questions={folder}/q.csv"
READERS = {
    **{
        f"{loader} as {form}": ("{folder}/mine.dat", {"mine.dat": text.encode()})
        for (loader, form), text in FORMS.items()
    },
    "pairs as Parquet": (
        "{folder}/mine.parquet",
        {"mine.parquet": parquet(sentence1=["It rained.", "a"], sentence2=["Rain fell.", "b"], score=[4.5, None])},
    ),
    "groups as Parquet": ("{folder}/mine.parquet", {"mine.parquet": parquet(sentence=list("abc"), group=[1, 1, 1])}),
    "documents as CSV": ("{folder}/d.csv" + ASKED, {"d.csv": DOCUMENTS, "q.csv": QUESTIONS}),
    "documents as JSON lines": (
        "{folder}/d.jsonl" + ASKED,
        {
            "d.jsonl": lines({"_id": "a", "contents": "It rained."}, {"_id": "b", "contents": "x"}).encode(),
            "q.csv": QUESTIONS,
        },
    ),
    "documents as Parquet": (
        "{folder}/d.parquet" + ASKED,
        {"d.parquet": parquet(id=["a", "b"], text=["It rained.", "We ran."]), "q.csv": QUESTIONS},
    ),
    "documents and questions as TSV": (
        "{folder}/d.tsv,questions={folder}/q.tsv",
        {"d.tsv": b"id\ttext\na\tIt rained.\nb\tWe ran.\n", "q.tsv": b"question\tdocument\nDid it rain?\ta\n"},
    ),
    "documents with questions as JSON lines": (
        "{folder}/d.csv,questions={folder}/q.jsonl",
        {"d.csv": DOCUMENTS, "q.jsonl": lines({"question": "Did it rain?", "document": ["a"]}).encode()},
    ),
    "beir": ("{folder}", BEIR),
    "trec": ("{folder}", TREC),
    "opinosis": ("{folder}", OPINOSIS),
    "msrp as folder": ("{folder}", {"msr_paraphrase_train.txt": MSRP, "msr_paraphrase_test.txt": MSRP}),
}
"""What is loaded, and its files."""
FILES = [(reader, file) for reader, (_, files) in READERS.items() for file in files]
DAMAGES = {
    "empty": lambda content: b"",
    "blank": lambda content: b"\n \r\n",
    "byte-order marks only": lambda content: b"\xef\xbb\xbf" * 2,
    "not UTF-8 in the last line": lambda content: content.rstrip(b"\n") + b" caf\xe9\n",
    "cut in the last line": lambda content: content[: content.rstrip().rfind(b"\n") + 2],
    "a line more": lambda content: content + b"word\n",
    "a huge line more": lambda content: content + b"word " * 20_000 + b"\n",
    "an archive": lambda content: b"PK\x03\x04" + content,
    "UTF-16": lambda content: b"\xff\xfe" + content,
    "a JSON array": lambda content: b"[\n" + content,
    "deeply nested": lambda content: b"[" * 100_000 + content,
}
STILL_SOUND = {
    ("opinosis", "phrases.txt", "cut in the last line"),
    ("opinosis", "phrases.txt", "deeply nested"),
    ("wikisplit as wikisplit", "mine.dat", "deeply nested"),
    ("pairs as STS-b", "mine.dat", "deeply nested"),
    ("squad as many lines", "mine.dat", "cut in the last line"),
}
"""What is left is a text, no score, or all that was there."""


def put(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_every_loader_is_damaged():
    tried = {reader.partition(" ")[0] for reader in READERS} | {"pairs"}
    # Damaged parts are tried in tests/parts.
    assert tried == set(CORPORA.names()) - set(builtin_names()) - {"parts"}


@pytest.mark.parametrize("reader", READERS)
def test_the_sound_files_are_read(reader, tmp_path):
    source, files = READERS[reader]
    put(tmp_path, files)
    assert load_corpus(source.format(folder=tmp_path)).samples


@pytest.mark.parametrize(("reader", "file"), FILES)
def test_damage_is_one_line_and_nothing_is_half_read(reader, file, tmp_path):
    source, files = READERS[reader]
    for damage, damaged in DAMAGES.items():
        if (reader, file, damage) in STILL_SOUND:
            continue
        put(tmp_path, {**files, file: damaged(files[file])})
        with pytest.raises(InputError) as caught:
            load_corpus(source.format(folder=tmp_path))
        message = str(caught.value)
        assert message.startswith(str(tmp_path)), damage
        assert "\n" not in message, damage
        assert len(message) < 1_000, damage


def assert_a_corpus_or_one_line(path, loader):
    try:
        corpus = load_corpus(f"{path},loader={loader}")
    except InputError as error:
        assert str(error).startswith(str(path))
        return
    assert len(corpus.samples)
    assert len({s.id for s in corpus.samples}) == len(corpus.samples)
    assert all(text.strip() for _, text in corpus.texts())


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "ratings", "x"]), inner),
    max_leaves=4,
)


@pytest.mark.parametrize("loader", JSON)
@settings(max_examples=60, deadline=None)
@given(choice=st.data())
def test_no_value_of_a_field_brings_anything_but_a_corpus_or_one_line(loader, choice, tmp_path_factory):
    row = json.loads(EXAMPLES[loader].split("\n")[0])
    field = choice.draw(st.sampled_from([*row, "id", "unit", "source", "filtered_with", "mirrored", "part_of_speech"]))
    path = tmp_path_factory.getbasetemp() / f"values-{loader}.dat"
    path.write_text(json.dumps({**row, field: choice.draw(values)}), encoding="utf-8", errors="surrogatepass")
    assert_a_corpus_or_one_line(path, loader)


@pytest.mark.parametrize("loader", EXAMPLES)
@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 10_000), junk=st.binary(max_size=6), skip=st.integers(0, 3))
def test_no_damage_brings_anything_but_a_corpus_or_one_line(loader, cut, junk, skip, tmp_path_factory):
    content = EXAMPLES[loader].encode()
    cut %= len(content)
    path = tmp_path_factory.getbasetemp() / f"damage-{loader}.dat"
    path.write_bytes(content[:cut] + junk + content[cut + skip :])
    assert_a_corpus_or_one_line(path, loader)
