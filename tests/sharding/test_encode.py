"""Vectors in shards: the same bytes however they were made, and one message for bad input."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import EncoderError, MissingExtraError, OutputError, SourceError, SpecError
from embassay.core.shards.shards import ShardFolder
from embassay.run.sharding.encode import encode_corpus
from embassay.run.sharding.request import EncodeRequest
from embassay.run.sharding.shard import precision, reduced, restored_rows

ENCODER = "random,dim=16"


def write_texts(path, count, first=0):
    rows = [{"id": f"d{first + number}", "text": f"text {number % 7}"} for number in range(count)]
    if path.suffix == ".parquet":
        polars.DataFrame(rows).write_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def encode(texts, out, **options):
    messages = []
    texts = [str(path) for path in (texts if isinstance(texts, list) else [texts])]
    request = EncodeRequest(options.pop("encoder", ENCODER), texts, out, **{"shard_rows": 4, "threads": 1, **options})
    return encode_corpus(request, tell=messages.append, quiet=True), messages


def contents(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_rows_are_those_of_the_encoder_in_input_order(tmp_path, suffix):
    texts = write_texts(tmp_path / f"a{suffix}", 10)
    encoded, _ = encode(texts, tmp_path / "out")
    assert (encoded.rows, encoded.shards, encoded.dim) == (10, 3, 16)
    folder = ShardFolder(tmp_path / "out")
    plans = folder.manifest().shards
    assert [plan.rows for plan in plans] == [4, 4, 2]
    matrix = np.concatenate([folder.vectors(plan) for plan in plans])
    expected = ea.encoder(ENCODER).encode([f"text {number % 7}" for number in range(10)], role="document")
    np.testing.assert_array_equal(matrix, expected)
    ids = [name for plan in plans for name in polars.read_parquet(folder.rows_file(plan))["id"]]
    assert ids == [f"d{number}" for number in range(10)]


def test_both_formats_make_the_same_vectors(tmp_path):
    encode(write_texts(tmp_path / "a.jsonl", 10), tmp_path / "one")
    encode(write_texts(tmp_path / "a.parquet", 10), tmp_path / "two")
    one, two = contents(tmp_path / "one" / "shards"), contents(tmp_path / "two" / "shards")
    assert one == two


def test_each_distinct_text_of_a_shard_is_encoded_once(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 20)
    encoded, _ = encode(texts, tmp_path / "out", shard_rows=10)
    # Seven different texts in each shard of ten.
    assert encoded.encoded == 14
    assert encoded.repeated == 6
    # The second shard has the seven texts of the first one.
    assert encoded.encoded_again == 7
    again, _ = encode(texts, tmp_path / "out", shard_rows=10, shards=(0, 1))
    assert again.encoded_again is None


def test_no_shard_has_rows_of_two_files(tmp_path):
    files = [write_texts(tmp_path / "a.jsonl", 5), write_texts(tmp_path / "b.parquet", 5, first=5)]
    encode(files, tmp_path / "out")
    shards = ShardFolder(tmp_path / "out").manifest().shards
    assert [(shard.file, shard.row, shard.rows) for shard in shards] == [
        ("a.jsonl", 0, 4),
        ("a.jsonl", 4, 1),
        ("b.parquet", 0, 4),
        ("b.parquet", 4, 1),
    ]


def test_a_pattern_is_every_file_that_matches_in_order(tmp_path):
    write_texts(tmp_path / "b.jsonl", 2)
    write_texts(tmp_path / "a.jsonl", 2, first=2)
    encode(tmp_path / "*.jsonl", tmp_path / "out")
    assert [file.name for file in ShardFolder(tmp_path / "out").manifest().files] == ["a.jsonl", "b.jsonl"]


def test_again_only_what_is_missing_or_damaged_is_made(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    encode(texts, tmp_path / "out")
    before = contents(tmp_path / "out")
    again, _ = encode(texts, tmp_path / "out")
    assert (again.made, again.encoded) == (0, 0)
    (tmp_path / "out/shards/00000000.json").unlink()
    (tmp_path / "out/shards/00000001.npy").write_bytes(b"half")
    again, messages = encode(texts, tmp_path / "out")
    assert again.made == 2
    assert any("00000001.npy is damaged" in message for message in messages)
    assert contents(tmp_path / "out") == before


def test_files_that_the_disk_does_not_give_are_one_message(tmp_path, monkeypatch):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    encode(texts, tmp_path / "out")
    folder = ShardFolder(tmp_path / "out")
    plan = folder.manifest().shards[1]

    def fail(*args, **options):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(hashlib, "file_digest", fail)
        assert folder.problem_with(plan) == "00000001.npy cannot be read: Input/output error"


@pytest.mark.slow
def test_processes_make_the_same_bytes(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 30)
    encode(texts, tmp_path / "one")
    encode(texts, tmp_path / "two", workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.parametrize(("dtype", "error"), [("float16", 1e-3), ("int8", 0.01)])
def test_fewer_bits(tmp_path, dtype, error):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    encode(texts, tmp_path / "exact")
    encoded, _ = encode(texts, tmp_path / "small", dtype=dtype)
    exact, small = ShardFolder(tmp_path / "exact"), ShardFolder(tmp_path / "small")
    plan = exact.manifest().shards[0]
    rows, stored = exact.vectors(plan), small.vectors(plan)
    assert stored.dtype == dtype
    table = polars.read_parquet(small.rows_file(plan))
    scale = table["scale"].to_numpy() if dtype == "int8" else None
    restored = restored_rows(stored, scale)
    lengths = np.linalg.norm(rows, axis=1)
    naive = np.abs(rows - restored).max(axis=1) / lengths
    assert naive.max() <= encoded.largest_error * (1 + 1e-6) < error
    cosines = (rows * restored).sum(axis=1) / lengths / np.linalg.norm(restored, axis=1)
    assert cosines.min() >= encoded.lowest_cosine - 1e-6
    assert 0.99 < encoded.lowest_cosine < 1


def test_a_row_of_zeros_stays_one():
    rows = np.array([[0, 0], [3, -4]], dtype=np.float32)
    stored, scale = reduced(rows, "int8")
    np.testing.assert_allclose(restored_rows(stored, scale), [[0, 0], [3, -4]], atol=0.02)


def test_numbers_too_small_for_float16_are_refused_in_any_row(tmp_path, monkeypatch):
    (tmp_path / "tiny_encoder.py").write_text(
        "import numpy as np\n"
        "def encode(texts):\n"
        "    sizes = [1e-9 if text == 'tiny' else 1.0 for text in texts]\n"
        "    return np.array([[3.0, 4.0]]) * np.array(sizes)[:, None]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    rows = [{"id": str(number), "text": f"text {number}"} for number in range(1_500)] + [{"id": "x", "text": "tiny"}]
    texts = tmp_path / "a.jsonl"
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"encoder": "python:tiny_encoder:encode", "shard_rows": 10_000}
    with pytest.raises(EncoderError, match=r"float16 cannot hold the vector of 'tiny', .*; use float32"):
        encode(texts, tmp_path / "out", dtype="float16", **options)
    encode(texts, tmp_path / "exact", **options)


@pytest.mark.parametrize(("size", "cosine"), [(1e-38, 0.999), (7e-44, 0.95), (1e-45, 0.95)])
def test_int8_holds_the_smallest_numbers(size, cosine):
    rows = np.array([[3.0, -4.0]], dtype=np.float32) * np.float32(size)
    stored, scale = reduced(rows, "int8")
    assert precision(rows, stored, scale).lowest_cosine > cosine


def test_precision_is_that_of_a_naive_loop():
    rows = np.random.default_rng(0).normal(size=(2_300, 5)).astype(np.float32)
    rows[7] = 0
    stored, scale = reduced(rows, "int8")
    cosines, errors = [], []
    for row, restored in zip(rows, restored_rows(stored, scale), strict=True):
        if row.any():
            exact, kept = row.astype(np.float64), restored.astype(np.float64)
            cosines.append(exact @ kept / np.linalg.norm(exact) / np.linalg.norm(kept))
            errors.append(np.abs(exact - kept).max() / np.linalg.norm(exact))
    loss = precision(rows, stored, scale)
    assert loss.lowest_cosine == pytest.approx(min(cosines), abs=1e-12)
    assert loss.largest_error == pytest.approx(max(errors), abs=1e-12)
    worst = rows[loss.worst_row].astype(np.float64), restored_rows(stored, scale)[loss.worst_row].astype(np.float64)
    assert worst[0] @ worst[1] / np.prod(np.linalg.norm(worst, axis=1)) == pytest.approx(min(cosines), abs=1e-12)


def test_numbers_too_large_for_float16_are_one_message(tmp_path, monkeypatch, recwarn):
    (tmp_path / "huge_encoder.py").write_text("def encode(texts):\n    return [[1e6, 1.0] for text in texts]\n")
    monkeypatch.syspath_prepend(tmp_path)
    texts = write_texts(tmp_path / "a.jsonl", 3)
    with pytest.raises(EncoderError, match=r"float16 cannot hold the vector of 'text 0', .* or too large"):
        encode(texts, tmp_path / "out", encoder="python:huge_encoder:encode", dtype="float16")
    assert not recwarn


def test_vectors_that_float32_makes_zeros_are_refused(tmp_path, monkeypatch):
    (tmp_path / "small_encoder.py").write_text("def encode(texts):\n    return [[1e-300, 1e-200] for text in texts]\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EncoderError, match="numbers are all too small for float32 for text 1"):
        encode(write_texts(tmp_path / "a.jsonl", 3), tmp_path / "out", encoder="python:small_encoder:encode")


def test_shards_that_vanish_meanwhile_are_an_error(tmp_path, monkeypatch):
    from embassay.run.sharding import encode as module

    def lose_one(*args):
        yield from map_tasks(*args)
        (tmp_path / "out/shards/00000001.json").unlink()

    map_tasks = module.map_tasks
    monkeypatch.setattr(module, "map_tasks", lose_one)
    with pytest.raises(OutputError, match="1 of 3 shards were removed or damaged while this command ran; repeat it"):
        encode(write_texts(tmp_path / "a.jsonl", 10), tmp_path / "out")


def test_shards_without_a_manifest_are_not_taken_over(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    encode(texts, tmp_path / "out")
    (tmp_path / "out/manifest.json").unlink()
    with pytest.raises(OutputError, match="holds shards without a manifest"):
        encode(texts, tmp_path / "out", encoder="random,dim=16,seed=5")


def test_a_pattern_may_name_folders(tmp_path):
    for name in ("a", "b"):
        (tmp_path / "in" / name).mkdir(parents=True)
        write_texts(tmp_path / "in" / name / f"{name}.jsonl", 3, first=10 * (name == "b"))
    encoded, _ = encode(tmp_path / "in" / "*" / "*.jsonl", tmp_path / "one")
    again, _ = encode(tmp_path / "in" / "**" / "*.jsonl", tmp_path / "two")
    assert encoded.rows == again.rows == 6


def test_what_is_no_regular_file_is_named(tmp_path):
    os.mkfifo(tmp_path / "a.jsonl")
    with pytest.raises(SourceError, match="named pipe"):
        encode(tmp_path / "a.jsonl", tmp_path / "out")
    with pytest.raises(SourceError, match="File name too long"):
        encode(tmp_path / ("x" * 5000 + ".jsonl"), tmp_path / "out")


def test_verify(tmp_path, capsys):
    encode(write_texts(tmp_path / "a.jsonl", 10), tmp_path / "out")
    assert exit_code_of(["encode", "--verify", str(tmp_path / "out")]) == 0
    (tmp_path / "out/shards/00000002.parquet").write_bytes(b"")
    assert exit_code_of(["encode", "--verify", str(tmp_path / "out")]) == 2
    assert "00000002.parquet is damaged" in capsys.readouterr().err


def test_the_command(tmp_path, capsys):
    write_texts(tmp_path / "a.jsonl", 10)
    arguments = ["encode", "-e", ENCODER, "--texts", str(tmp_path / "a.jsonl"), "-o", str(tmp_path / "out")]
    assert exit_code_of([*arguments, "--shard", "5", "--dtype", "int8"]) == 0
    said = capsys.readouterr().err
    assert "10 texts in 2 shards" in said
    assert "lowest cosine with the float32 vectors 0.99" in said
    assert exit_code_of(["encode", "-e", ENCODER]) == 2
    assert "--texts is missing" in capsys.readouterr().err


def test_another_encoder_or_input_is_refused(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    encode(texts, tmp_path / "out")
    with pytest.raises(OutputError, match=r"holds shards of something else \(spec random,dim=16, now random,dim=8"):
        encode(texts, tmp_path / "out", encoder="random,dim=8")
    with pytest.raises(OutputError, match="dtype float32, now int8"):
        encode(texts, tmp_path / "out", dtype="int8")
    write_texts(tmp_path / "a.jsonl", 11)
    with pytest.raises(OutputError, match=r"a\.jsonl has changed since"):
        encode(texts, tmp_path / "out")


def test_another_cut_or_number_of_threads_is_named_alone(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    encode(texts, tmp_path / "out")
    with pytest.raises(OutputError, match=r"something else \(shard rows 4, now 5\);"):
        encode(texts, tmp_path / "out", shard_rows=5)
    with pytest.raises(OutputError, match="is made with 1 thread per process, not 2; leave out the number of threads"):
        encode(texts, tmp_path / "out", threads=2)
    encoded, _ = encode(texts, tmp_path / "out", threads=None)
    assert encoded.made == 0


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_another_character_encoding_is_named(tmp_path, encoding):
    content = '{"id": "1", "text": "é"}\n{"id": "2", "text": "b"}\n'
    (tmp_path / "a.jsonl").write_bytes(content.encode(encoding))
    with pytest.raises(SourceError, match=r"a\.jsonl.*: .*not UTF-8.*; "):
        encode(tmp_path / "a.jsonl", tmp_path / "out")


def test_a_folder_of_texts_is_said_to_be_one(tmp_path):
    with pytest.raises(SourceError, match="a folder; name its files"):
        encode(tmp_path, tmp_path / "out")


def test_a_refused_input_leaves_no_folder(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "1"}\n')
    with pytest.raises(SourceError, match=r"field .text.: missing"):
        encode(tmp_path / "a.jsonl", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_without_finished_shards_is_known_as_one(tmp_path, monkeypatch):
    from embassay.run.sharding import encode as module

    def fail(*args):
        raise EncoderError("out of work")

    texts = write_texts(tmp_path / "a.jsonl", 3)
    with monkeypatch.context() as patched, pytest.raises(EncoderError):
        patched.setattr(module, "map_tasks", fail)
        encode(texts, tmp_path / "out")
    (tmp_path / "q.jsonl").write_text('{"question": "?", "document": "d0"}\n')
    with pytest.raises(SourceError, match="shard 00000000 is missing; repeat the 'embassay encode'"):
        ea.load(f"c={tmp_path / 'out'},questions={tmp_path / 'q.jsonl'}")


def test_an_error_of_the_encoder_names_it(tmp_path, monkeypatch):
    (tmp_path / "nan_encoder.py").write_text("def encode(texts):\n    return [[float('nan')] for text in texts]\n")
    monkeypatch.syspath_prepend(tmp_path)
    texts = write_texts(tmp_path / "a.jsonl", 3)
    with pytest.raises(EncoderError, match="encoder 'python:nan_encoder:encode': it returned a vector with NaN"):
        encode(texts, tmp_path / "out", encoder="python:nan_encoder:encode")


@pytest.mark.slow
def test_a_script_needs_no_main_guard(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    script = tmp_path / "script.py"
    script.write_text(
        "import embassay as ea\n"
        f"ea.encode_corpus({ENCODER!r}, {str(texts)!r}, {str(tmp_path / 'out')!r}, shard_rows=4, workers=2)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out" / "shards").glob("*.npy"))) == 3


def test_a_manifest_of_a_later_version_is_refused_by_its_schema(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 3)
    encode(texts, tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, "schema": 2, "new": 1}))
    with pytest.raises(SourceError, match="the manifest has schema 2; this version reads 1"):
        encode(texts, tmp_path / "out")


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="is not empty and holds no shards"):
        encode(write_texts(tmp_path / "a.jsonl", 3), tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text("of another program")
    with pytest.raises(SourceError, match="the manifest is damaged; encode into another folder"):
        encode(write_texts(tmp_path / "a.jsonl", 3), tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["manifest.json", "mine.txt"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}\n', r"the id '1' repeats: it is also in line 1 of a\.jsonl"),
        ('{"id": 1, "text": "a"}\n{"id": 2}\n', r"line 2.*missing; found id"),
        ('{"id": 1, "text": " "}\n', r"line 1.*empty text"),
        ('{"id": 1.5, "text": "a"}\n', r"line 1.*must be a text or a whole number"),
        ('{"id": "\\ud800", "text": "a"}\n', r"line 1.*half of a surrogate pair"),
        ('{"id": "", "text": "a"}\n', r"line 1.*empty text"),
        ('{"id": 1, "text": 5}\n', r"line 1.*must be a text"),
        ("[1]\n", r"line 1.*must be a JSON object, is a list"),
        ("{", r"line 1.*not JSON"),
        ('{"id": 1, "text": null}', r"line 1.*field 'text': must be a text, is null"),
        ("", "the files have no rows"),
    ],
)
def test_bad_rows_are_one_message(tmp_path, content, message):
    (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(SourceError) as error:
        encode(tmp_path / "a.jsonl", tmp_path / "out")
    assert len(str(error.value).splitlines()) == 1
    assert error.match(message)
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_bad_files_are_one_message(tmp_path):
    with pytest.raises(SourceError, match="no such file"):
        encode(tmp_path / "no.jsonl", tmp_path / "out")
    (tmp_path / "a.csv").write_text("id,text\n")
    with pytest.raises(SourceError, match=r"texts are read from \.jsonl, \.ndjson and \.parquet files"):
        encode(tmp_path / "a.csv", tmp_path / "out")
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(SourceError, match="not a Parquet file"):
        encode(tmp_path / "a.parquet", tmp_path / "out")
    (tmp_path / "a.jsonl").write_bytes('{"id": 1, "text": "café"}'.encode("latin-1"))
    with pytest.raises(SourceError, match=r"a\.jsonl, line 1: not UTF-8"):
        encode(tmp_path / "a.jsonl", tmp_path / "out")
    polars.DataFrame({"id": ["a"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="missing column; found id"):
        encode(tmp_path / "a.parquet", tmp_path / "out")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"id": ["a"], "text": [5]}, r"b\.parquet, line 1, field 'text': must be a text"),
        ({"id": [1.5], "text": ["a"]}, r"b\.parquet, line 1, field 'id': must be a text or a whole number"),
        ({"id": ["a"], "body": ["b"]}, r"b\.parquet, field 'text': missing column; found id, body"),
        ({"id": ["a"], "text": [["b"]]}, r"b\.parquet, line 1, field 'text': must be a text"),
    ],
)
def test_files_with_other_columns_are_named(tmp_path, frame, message):
    first = write_texts(tmp_path / "a.parquet", 3)
    polars.DataFrame(frame).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(SourceError, match=message):
        encode([first, tmp_path / "b.parquet"], tmp_path / "out")
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_ranges_of_shards_make_the_same_bytes(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 18)
    encode(texts, tmp_path / "whole")
    encoded, _ = encode(texts, tmp_path / "parts", shards=(2, 99))
    assert (encoded.shards, encoded.rows, encoded.made) == (3, 10, 3)
    encoded, messages = encode(texts, tmp_path / "parts", shards=(0, 3), threads=None)
    assert (encoded.shards, encoded.rows, encoded.made) == (3, 12, 2)
    assert messages == ["12 texts in 3 shards; still to be made: 2"]
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_a_range_of_a_folder_reads_only_its_shards(tmp_path, monkeypatch):
    texts = write_texts(tmp_path / "a.jsonl", 18)
    encode(texts, tmp_path / "out", shards=(0, 1))
    from embassay.run.sharding import encode as module

    monkeypatch.delattr(module, "cut")
    encode(texts, tmp_path / "out", shards=(1, 3))
    with pytest.raises(OutputError, match="shard rows 4, now 5"):
        encode(texts, tmp_path / "out", shards=(1, 3), shard_rows=5)
    texts.write_text(texts.read_text().replace("text 6", "text X"))
    with pytest.raises(SourceError, match="has changed since it was cut"):
        encode(texts, tmp_path / "out", shards=(3, 4))
    lines = texts.read_text().splitlines()
    texts.write_text("\n".join([*lines[:12], "not JSON", *lines[13:]]))
    with pytest.raises(
        SourceError, match=r"has changed since it was cut into shards, or cannot be read \(.*line 13: not"
    ):
        encode(texts, tmp_path / "out", shards=(3, 4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shards": (3, 3)}, "shards 3:3: the first number must be 0 or more, and the second one larger"),
        ({"shards": (30, 40)}, "shards 30:40: the input has 3 shards, from 0 on"),
        ({"ray_address": "127.0.0.1:6379"}, "a Ray address needs the executor ray"),
        ({"executor": "dask"}, "executor: input should be 'local' or 'ray', is 'dask'"),
        ({"id": "text"}, "ids and texts must be in different columns, are both in 'text'"),
        ({"threads": 0}, "threads: input should be greater than or equal to 1, is 0"),
        ({"dtype": np.dtype("float16")}, "dtype: input should be 'float32', 'float16' or 'int8', is dtype"),
        ({"shards": (0, 2**63)}, r"and the second one larger, up to 10\^12"),
        ({"workers": 1.5}, "workers: input should be a valid integer, is 1.5"),
        ({"shard_rows": True}, "shard_rows: input should be a valid integer, is True"),
        ({"shards": "0:1"}, "shards: input should be a valid tuple, is '0:1'"),
        ({"trust_remote_code": "no"}, "trust_remote_code: input should be a valid boolean, is 'no'"),
        ({"encoder": None}, "encoder: input should be a valid string, is None"),
        (
            {"encoder": "python:math:sqrt"},
            "no source file to fingerprint; give it a version",
        ),
        (
            {"encoder": "python:math:sqrt,kind=retriever"},
            "python:math:sqrt,kind=retriever gives lists of documents, not vectors: there is nothing to encode",
        ),
        ({"encoder": "hybrid:a+b"}, r"hybrid:a\+b gives lists of documents"),
    ],
)
def test_wrong_options_write_nothing(tmp_path, options, message):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    with pytest.raises(SpecError, match=message):
        encode(texts, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("shards", ["3", "a:b", "-1:3", "1:", "1:2:3"])
def test_a_wrong_range_is_one_message(tmp_path, capsys, shards):
    texts = write_texts(tmp_path / "a.jsonl", 3)
    command = ["encode", "-e", ENCODER, "--texts", str(texts), "-o", str(tmp_path / "out"), f"--shards={shards}"]
    assert exit_code_of(command) == 2
    assert f"--shards must be two whole numbers as A:B, is '{shards}'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_without_ray_the_message_has_the_pip_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        MissingExtraError, match=r"the executor ray needs the extra 'ray': pip install 'embassay\[ray\]'"
    ):
        encode(write_texts(tmp_path / "a.jsonl", 3), tmp_path / "out", executor="ray")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_one_message_and_the_next_run_continues(tmp_path, monkeypatch):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    encode(texts, tmp_path / "whole")
    calls = []

    def fail_later(file):
        calls.append(file)
        if len(calls) > 5:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    # The manifest and the three files of the first shard are written, and one file of the second.
    with (
        monkeypatch.context() as patched,
        pytest.raises(OutputError, match="cannot be written: No space left on device"),
    ):
        patched.setattr(os, "fsync", fail_later)
        encode(texts, tmp_path / "out")
    assert not list(tmp_path.rglob("*.part"))
    again, _ = encode(texts, tmp_path / "out")
    assert again.made == 2
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.slow
def test_an_array_that_is_written_in_part_is_one_message(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 4)
    code = (
        "import resource, runpy; resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000)); runpy.run_module('embassay')"
    )
    command = [sys.executable, "-c", code, "encode", "-e", "random,dim=2000", "--texts", str(texts)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([*command, "-o", str(tmp_path / "out")], env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(
        "00000000.npy: cannot be written: not everything was written; is the disk full?"
    )
    assert [path.name for path in (tmp_path / "out/shards").iterdir()] == []


def test_from_python(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    encoded = ea.encode_corpus(ENCODER, texts, tmp_path / "out", shard_rows=4, threads=1, dtype="float16")
    assert (encoded.rows, encoded.shards, encoded.dim, encoded.made) == (10, 3, 16, 3)
    encode(texts, tmp_path / "same", dtype="float16")
    assert contents(tmp_path / "out") == contents(tmp_path / "same")


@pytest.mark.parametrize(
    ("texts", "out", "message"),
    [
        (None, "out", "texts must be a path or a list of paths, is None"),
        ([5], "out", r"texts must be a path or a list of paths, is \[5\]"),
        ([], "out", "no files of texts are given"),
        ("a.jsonl", None, "out must be a path, is None"),
    ],
)
def test_wrong_arguments_from_python(tmp_path, monkeypatch, texts, out, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match=message):
        ea.encode_corpus(ENCODER, texts, out)
    assert not list(tmp_path.iterdir())


def test_an_encoder_that_learns_is_refused(tmp_path):
    with pytest.raises(SpecError, match="learns from the texts"):
        encode(write_texts(tmp_path / "a.jsonl", 3), tmp_path / "out", encoder="tfidf")


def test_an_input_that_changes_while_it_is_encoded_is_refused(tmp_path, monkeypatch):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    from embassay.run.sharding import encode as module

    def change_first(task):
        content = texts.read_text().replace("text 3", "text X")
        texts.write_text(content)
        return original(task)

    original = module.make_shard
    monkeypatch.setattr(module, "make_shard", change_first)
    with pytest.raises(SourceError, match="has changed since it was cut into shards"):
        encode(texts, tmp_path / "out")


def test_an_error_in_another_process_is_the_same_message(tmp_path, monkeypatch):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    from embassay.run.sharding import encode as module

    def change_and_cut(*arguments):
        parts = original(*arguments)
        texts.write_text(texts.read_text().replace("text 3", "text X"))
        return parts

    original = module.cut
    monkeypatch.setattr(module, "cut", change_and_cut)
    with pytest.raises(SourceError, match="has changed since it was cut into shards"):
        encode(texts, tmp_path / "out", workers=2)


SCRIPT = """
import sys, time
from pathlib import Path
from embassay.run.sharding.encode import encode_corpus
from embassay.run.sharding.request import EncodeRequest

if __name__ == "__main__":
    request = EncodeRequest("python:slow_encoder:encode,version=1", [sys.argv[1]], Path(sys.argv[2]),
                            shard_rows=2, threads=1, workers=int(sys.argv[3]), shards=eval(sys.argv[4]))
    encoded = encode_corpus(request, tell=lambda text: print(text, flush=True), quiet=True)
    print("restarts:", encoded.restarts)
"""
SLOW = """
import time
import numpy as np

def encode(texts):
    time.sleep(0.2)
    return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)
"""


@pytest.fixture
def slow_encode(tmp_path):
    """Return a function that starts the encoding of 24 texts in another process, 0.2 s for each shard of two."""
    (tmp_path / "slow_encoder.py").write_text(SLOW)
    (tmp_path / "script.py").write_text(SCRIPT)
    texts = tmp_path / "a.jsonl"
    texts.write_text("".join(json.dumps({"id": n, "text": "x" * (n + 1)}) + "\n" for n in range(24)))

    started = []

    def start(out, workers=1, shards=None):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        command = [sys.executable, str(tmp_path / "script.py"), str(texts), str(out), str(workers), repr(shards)]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def children_of(parent):
    """Return the processes that a process has started, in the order of their numbers."""
    children = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        # Another process may end at any time.
        with suppress(OSError):
            # The name of the program, in brackets, may hold spaces.
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                children.append(int(path.parent.name))
    return sorted(children)


def wait_for_shards(folder, count, process):
    while len(list((folder / "shards").glob("*.json"))) < count:
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.02)


@pytest.mark.slow
def test_a_killed_driver_goes_on_where_it_was(tmp_path, slow_encode):
    whole = slow_encode(tmp_path / "whole")
    assert whole.wait(60) == 0, whole.stdout.read()
    out = tmp_path / "killed"
    for count in (3, 8):
        process = slow_encode(out)
        wait_for_shards(out, count, process)
        process.kill()
        process.wait()
    last = slow_encode(out)
    assert last.wait(60) == 0
    assert "still to be made: 12" not in last.stdout.read()
    assert contents(out) == contents(tmp_path / "whole")


@pytest.mark.slow
def test_a_killed_worker_is_replaced_twice(tmp_path, slow_encode):
    whole = slow_encode(tmp_path / "whole")
    assert whole.wait(60) == 0, whole.stdout.read()
    out = tmp_path / "out"
    process = slow_encode(out, workers=2)
    for count in (2, 6):
        wait_for_shards(out, count, process)
        # The first child is the tracker of resources, whose death changes nothing.
        os.kill(children_of(process.pid)[-1], signal.SIGKILL)
    assert process.wait(90) == 0
    said = process.stdout.read()
    assert said.count("a worker process was killed") == 2, said
    assert "restarts: 2" in said
    assert contents(out) == contents(tmp_path / "whole")


@pytest.mark.slow
def test_a_second_driver_is_refused(tmp_path, slow_encode):
    out = tmp_path / "out"
    first = slow_encode(out)
    wait_for_shards(out, 1, first)
    second = slow_encode(out)
    assert second.wait(30) != 0
    assert "another process is encoding into this folder" in second.stdout.read()
    assert first.wait(60) == 0


@pytest.mark.slow
def test_two_drivers_make_disjoint_ranges_at_a_time(tmp_path, slow_encode):
    drivers = [slow_encode(tmp_path / "out", shards=shards) for shards in ((0, 6), (6, 12))]
    drivers.append(slow_encode(tmp_path / "whole"))
    for process in drivers:
        said = process.stdout.read()
        assert process.wait(60) == 0, said
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.slow
def test_only_a_range_that_overlaps_is_refused(tmp_path, slow_encode):
    with ShardFolder(tmp_path / "out").locked((6, 8)):
        disjoint, overlapping = (
            slow_encode(tmp_path / "out", shards=(0, 6)),
            slow_encode(tmp_path / "out", shards=(7, 9)),
        )
        said = overlapping.stdout.read()
        assert overlapping.wait(60) != 0
        assert "another process is encoding into some of the shards 7:9 of this folder; wait until it ends" in said
        said = disjoint.stdout.read()
        assert disjoint.wait(60) == 0, said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
def test_a_scheduler_that_ends_the_command_gets_one_message(tmp_path):
    texts = write_texts(tmp_path / "a.jsonl", 100_000)
    command = [sys.executable, "-m", "embassay", "encode", "-e", "hashing", "--texts", str(texts)]
    command += ["-o", str(tmp_path / "out"), "--shard", "500", "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=take_signals_as_usual
    )
    wait_for_shards(tmp_path / "out", 1, process)
    process.terminate()
    # Python's own process that tracks resources may find that they are gone already.
    said = [line for line in process.communicate()[1].splitlines() if "resource_tracker" not in line]
    assert process.returncode == 130
    assert said[-1] == "interrupted; finished work is kept: repeat the command to continue"
    # Before it the number of shards and, on a busy machine, how far they are.
    assert all(line.startswith(("100,000 texts in", "hashing: ")) for line in said[:-1])


def take_signals_as_usual():
    """Undo what a runner of tests may have set: a child process inherits ignored signals."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
