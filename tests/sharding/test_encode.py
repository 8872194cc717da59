"""Vectors in shards: the same bytes however they were made, and one message for bad input."""

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
from embassay.errors import OutputError, SourceError, SpecError
from embassay.sharding.encode import EncodeRequest, encode_corpus
from embassay.sharding.making import reduced, restored_rows
from embassay.store.shards import ShardFolder

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


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="is not empty and holds no shards"):
        encode(write_texts(tmp_path / "a.jsonl", 3), tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}\n', r"the id '1' repeats: it is also in line 1 of a\.jsonl"),
        ('{"id": 1, "text": "a"}\n{"id": 2}\n', r"line 2.*missing; found id"),
        ('{"id": 1, "text": " "}\n', r"line 1.*empty text"),
        ('{"id": 1.5, "text": "a"}\n', r"line 1.*must be a text or a whole number"),
        ('{"id": 1, "text": 5}\n', r"line 1.*must be a text"),
        ("[1]\n", r"line 1.*not an object"),
        ("{", r"line 1.*not valid JSON"),
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
    polars.DataFrame({"id": ["a"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="missing column; found id"):
        encode(tmp_path / "a.parquet", tmp_path / "out")


def test_an_encoder_that_learns_is_refused(tmp_path):
    with pytest.raises(SpecError, match="learns from the texts"):
        encode(write_texts(tmp_path / "a.jsonl", 3), tmp_path / "out", encoder="tfidf")


def test_an_input_that_changes_while_it_is_encoded_is_refused(tmp_path, monkeypatch):
    texts = write_texts(tmp_path / "a.jsonl", 10)
    from embassay.sharding import encode as module

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
    from embassay.sharding import encode as module

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
from embassay.sharding.encode import EncodeRequest, encode_corpus

if __name__ == "__main__":
    request = EncodeRequest("python:slow_encoder:encode,version=1", [sys.argv[1]], Path(sys.argv[2]),
                            shard_rows=2, threads=1, workers=int(sys.argv[3]))
    encode_corpus(request, tell=lambda text: print(text, flush=True), quiet=True)
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

    def start(out, workers=1):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        command = [sys.executable, str(tmp_path / "script.py"), str(texts), str(out), str(workers)]
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
