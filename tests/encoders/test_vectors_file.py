"""Vectors made elsewhere: four forms, looked up by text, role or id; nothing is ever made up."""

import json

import numpy as np
import polars as pl
import pytest

from embassay.core.errors import EncoderError, SourceError
from embassay.run.resolve import load_encoder

TEXTS = ["The gate is shut.", "The gate is open.", "A cat sleeps.", "Wind from the sea."]
ROWS = np.array([[1, 2, 3], [0, -1, 0.5], [4, 4, 4], [0, 0, 0]], dtype=np.float32)


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def by_text(texts=TEXTS, rows=ROWS):
    return [{"text": text, "vector": row.tolist()} for text, row in zip(texts, rows, strict=True)]


def written(folder, form, texts=TEXTS, rows=ROWS, **more):
    path = folder / f"vectors.{form}"
    if form == "jsonl":
        return lines(path, by_text(texts, rows))
    if form == "npz":
        np.savez(path, texts=np.array(texts), vectors=rows, **more)
        return path
    pl.DataFrame({"text": texts, "embedding": rows.tolist()}).write_parquet(path)
    return path


def encode(path, asked, role="text"):
    return load_encoder(f"vectors:{path}").encode(asked, role)


@pytest.mark.parametrize("form", ["npz", "parquet", "jsonl"])
def test_each_form_gives_the_vectors_that_stand_in_it(tmp_path, form):
    order = [2, 0, 0, 3, 1]
    found = encode(written(tmp_path, form), [TEXTS[n] for n in order])
    assert found.dtype == np.float32
    assert np.array_equal(found, ROWS[order])


def test_a_role_goes_before_no_role(tmp_path):
    path = lines(
        tmp_path / "v.jsonl",
        [
            # The first line has no role.
            {"text": "open", "vector": [0, 1]},
            {"text": "open", "role": "query", "vector": [1, 0]},
            {"text": "shut", "role": "document", "vector": [2, 2]},
        ],
    )
    assert encode(path, ["open"], "query").tolist() == [[1, 0]]
    assert encode(path, ["open"], "document").tolist() == [[0, 1]]
    with pytest.raises(EncoderError, match=r"1 of 2 texts without a vector for the role query; the first is 'shut'"):
        encode(path, ["open", "shut"], "query")


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_ids_are_texts_by_a_table(tmp_path, form):
    path = tmp_path / "v.npz"
    np.savez(path, ids=np.array([1, 7, 8]), vectors=ROWS[:3])
    table = tmp_path / f"texts.{form}"
    rows = [("1", TEXTS[0]), ("7", TEXTS[1]), ("without a vector", TEXTS[2])]
    if form == "csv":
        table.write_text("id,text\n" + "".join(f"{name},{text}\n" for name, text in rows), encoding="utf-8")
    else:
        lines(table, [{"_id": int(name) if name == "7" else name, "text": text} for name, text in rows])
    encoder = load_encoder(f"vectors:{path},texts={table}")
    assert np.array_equal(encoder.encode(TEXTS[:2][::-1]), ROWS[:2][::-1])
    with pytest.raises(
        EncoderError, match=r"1 of 2 texts without a vector for the role text; the first is 'A cat sleeps\.'"
    ):
        encoder.encode(TEXTS[1:3])


def test_vectors_alone_are_those_of_a_table_in_its_order(tmp_path):
    np.save(tmp_path / "v.npy", ROWS)
    spec = f"vectors:{tmp_path / 'v.npy'},texts={tmp_path / 't.jsonl'}"
    lines(tmp_path / "t.jsonl", [{"id": f"d{n}", "role": "document", "text": text} for n, text in enumerate(TEXTS)])
    encoder = load_encoder(spec)
    assert np.array_equal(encoder.encode(TEXTS[::-1], "document"), ROWS[::-1])
    before = encoder.fingerprint
    lines(tmp_path / "t.jsonl", [{"text": text} for text in TEXTS[:3]])
    fewer = load_encoder(spec)
    assert fewer.fingerprint != before
    with pytest.raises(EncoderError, match=r"t\.jsonl: has 3 texts for 4 vectors without ids"):
        fewer.encode(TEXTS[:1])


def test_a_request_of_several_texts_has_no_single_vector(tmp_path):
    results = [{"embedding": row.tolist()} for row in ROWS[:2]]
    path = lines(tmp_path / "v.jsonl", [{"custom_id": "a", "response": {"body": {"data": results}}}])
    table = lines(tmp_path / "t.jsonl", [{"id": "a", "text": TEXTS[0]}])
    with pytest.raises(EncoderError, match=r"'The gate is shut\.' has two different vectors"):
        load_encoder(f"vectors:{path},texts={table}").encode(TEXTS[:1])


def test_missing_texts_are_counted(tmp_path):
    path = written(tmp_path, "npz")
    with pytest.raises(
        EncoderError, match=r"2 of 6 texts without a vector for the role text; the first is 'Nobody knows me\.'$"
    ):
        encode(path, [*TEXTS, "Nobody knows me.", "Nor me.", "Nor me."])


def test_equal_rows_may_stand_twice_and_others_may_not(tmp_path):
    again = [*by_text(), by_text()[1]]
    assert encode(lines(tmp_path / "v.jsonl", again), TEXTS).shape == (4, 3)
    path = lines(tmp_path / "w.jsonl", [*again, {"text": TEXTS[1], "vector": [0, -1, 0.6]}])
    with pytest.raises(EncoderError, match=r"w\.jsonl: 'The gate is open\.' has two different vectors"):
        encode(path, TEXTS)


def test_its_fingerprint_is_its_content(tmp_path):
    one = load_encoder(f"vectors:{written(tmp_path, 'npz')}")
    (tmp_path / "copy.npz").write_bytes((tmp_path / "vectors.npz").read_bytes())
    copy = load_encoder(f"vectors:{tmp_path / 'copy.npz'}")
    other = load_encoder(f"vectors:{written(tmp_path, 'jsonl')}")
    assert one.fingerprint == copy.fingerprint != other.fingerprint
    dot = load_encoder(f"vectors:{tmp_path / 'copy.npz'},similarity=dot")
    assert dot.card.spec == f"vectors:{tmp_path / 'copy.npz'},similarity=dot"
    assert dot.card.similarity == "dot"
    assert not one.card.cached


WRONG_ROWS = [
    {"text": "x", "vector": [1, 2]},
    {"text": "x", "vector": [1, 2, float("nan")]},
    {"text": "x", "vector": [1, 2, 1e39]},
    {"text": "x", "vector": [1, 2, 10**400]},
    {"text": "x", "vector": [1, 2, True]},
    {"text": "x", "vector": "1 2 3"},
    {"text": "x"},
    {"text": "x", "vector": [1, 2, 3], "role": "passage"},
]
XY = np.array(["x", "y"])
WRONG_ARRAYS = [
    {"texts": XY, "vectors": np.zeros(2)},
    {"texts": XY[:0], "vectors": np.zeros((0, 3))},
]
WRONG_LISTS = [[[1.0, 2.0], [1.0]], [[1.0, 2.0], [None, 2.0]]]


@pytest.mark.parametrize("content", [*WRONG_ROWS, *WRONG_ARRAYS, *WRONG_LISTS])
def test_wrong_vectors_are_one_message_about_the_file(tmp_path, content):
    if isinstance(content, list):
        path = tmp_path / "v.parquet"
        pl.DataFrame({"text": ["x", "y"], "vector": content}).write_parquet(path)
    elif "texts" in content:
        path = tmp_path / "v.npz"
        np.savez(path, **content)
    else:
        path = lines(tmp_path / "v.jsonl", [*by_text(), content])
    with pytest.raises((EncoderError, SourceError), match=rf"{path.name}.*: "):
        encode(path, TEXTS[:1])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("v.csv", b"text,vector\na,1\n"),
        ("v.json", b"[1]"),
        ("v.npy", b"\x93NUMPY"),
        ("v.jsonl", b""),
        ("v.jsonl", b'{"text": "x"}\n'),
        ("v.jsonl", b'{"vector": [1]}\n'),
        ("v.jsonl", b'{"id": "a", "vector": [1]}\n'),
        ("v.npz", b"PK\x03\x04 broken"),
        ("v.parquet", b"PAR1 broken"),
    ],
)
def test_what_is_no_file_of_vectors_is_refused_at_once(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=name):
        load_encoder(f"vectors:{tmp_path / name}")


def test_a_missing_file_or_table_is_refused_at_once(tmp_path):
    np.savez(tmp_path / "v.npz", ids=np.array(["a"]), vectors=ROWS[:1])
    for spec in ("nowhere.npz", f"{tmp_path / 'v.npz'},texts=none.csv"):
        with pytest.raises(SourceError, match="no such file"):
            load_encoder(f"vectors:{spec}")
