"""Texts encoded into parts: the encoder's vectors in the input's order, however often the command was killed."""

import os
import subprocess
import sys
import time
from hashlib import sha256

import numpy as np
import polars
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import EncoderError
from embassay.core.parts import PartVectors
from embassay.run import encode_texts

ENCODER = "random,dim=16"
CHILD = """
import sys
import embassay as ea
from embassay.run import encode_texts

encode_texts.ROWS = 2
texts, out, *executor = sys.argv[1:]
options = {"executor": "ray", "workers": int(executor[0])} if executor else {}
ea.encode_corpus("python:slow_encoder:encode,version=1", texts, out, **options)
"""
SLOW = """
import os, time
from pathlib import Path
import numpy as np

def encode(texts):
    with Path(__file__).with_name("log").open("a") as log:
        log.write(f"{os.getpid()} {os.environ.get('OMP_NUM_THREADS')}\\n")
    time.sleep(0.2)
    return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)
"""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(encode_texts, "ROWS", 4)


def write_texts(path, count, first=0):
    rows = [{"id": f"d{first + number}", "text": f"text {number % 7}"} for number in range(count)]
    polars.DataFrame(rows).write_parquet(path)
    return path


def contents(folder):
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def module(folder, name, body, monkeypatch):
    """Write a module with an encoder, and return its spec."""
    (folder / f"{name}.py").write_text(f"def encode(texts):\n    return [{body} for text in texts]\n")
    monkeypatch.syspath_prepend(folder)
    return f"python:{name}:encode"


def test_rows_are_those_of_the_encoder_in_input_order(tmp_path):
    files = [write_texts(tmp_path / "b.parquet", 5), write_texts(tmp_path / "a.parquet", 4, first=5)]
    encoded = ea.encode_corpus(ENCODER, files, tmp_path / "out")
    assert (encoded.rows, encoded.dim, encoded.parts, encoded.made) == (9, 16, 3, 3)
    vectors = PartVectors(tmp_path / "out")
    # No part has rows of two files.
    assert [part.rows for part in vectors.manifest.parts] == [4, 1, 4]
    texts = [f"text {number % 7}" for number in range(5)] + [f"text {number % 7}" for number in range(4)]
    np.testing.assert_array_equal(vectors[:], ea.encoder(ENCODER).encode(texts, role="document"))
    assert [vectors.id_of(row) for row in range(9)] == [f"d{number}" for number in range(9)]


def test_again_only_what_is_missing_is_made(tmp_path):
    texts, out = write_texts(tmp_path / "a.parquet", 10), tmp_path / "out"
    ea.encode_corpus(ENCODER, texts, out)
    before = contents(out)
    assert ea.encode_corpus(ENCODER, texts, out).made == 0
    min(out.glob("*.parquet")).unlink()
    assert ea.encode_corpus(ENCODER, texts, out).made == 1
    assert contents(out) == before
    # A file more makes its own parts only.
    more = write_texts(tmp_path / "b.parquet", 3, first=10)
    encoded = ea.encode_corpus(ENCODER, [more, texts], out)
    assert (encoded.rows, encoded.made) == (13, 1)
    assert PartVectors(out).id_of(0) == "d10"


def test_float16_is_the_rounded_vector(tmp_path):
    texts = write_texts(tmp_path / "a.parquet", 10)
    for dtype in ("float32", "float16"):
        ea.encode_corpus(ENCODER, texts, tmp_path / dtype, dtype=dtype)
    exact, half = PartVectors(tmp_path / "float32")[:], PartVectors(tmp_path / "float16")[:]
    np.testing.assert_array_equal(half, exact.astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("body", ["[1e6, 1.0]", "[1e-9, 1e-9]"])
def test_vectors_that_float16_cannot_hold_are_refused(tmp_path, monkeypatch, body, recwarn):
    texts = write_texts(tmp_path / "a.parquet", 3)
    spec = module(tmp_path, f"sized{len(body)}", body, monkeypatch)
    with pytest.raises(EncoderError, match="float16 cannot hold the vector of 'text 0'; use float32"):
        ea.encode_corpus(spec, texts, tmp_path / "out", dtype="float16")
    ea.encode_corpus(spec, texts, tmp_path / "exact")
    assert not recwarn


def test_the_command(tmp_path, capsys):
    texts, out = str(write_texts(tmp_path / "a.parquet", 10)), str(tmp_path / "out")
    assert exit_code_of(["encode", "-e", ENCODER, "--texts", texts, "-o", out]) == 0
    said = capsys.readouterr().err
    assert "10 texts in 3 parts; still to be made: 3" in said
    assert "(10 x 16, 3 parts)" in said
    assert exit_code_of(["encode", "-e", ENCODER, "--texts", texts, "-o", out, "--dtype", "float16"]) == 2
    assert "holds float32 vectors of random,dim=16" in " ".join(capsys.readouterr().err.split())
    assert exit_code_of(["encode", "-e", ENCODER, "--texts", texts, "-o", out, "--workers", "2"]) == 2
    assert "several workers need executor ray" in capsys.readouterr().err


@pytest.fixture
def slow_encode(tmp_path):
    """Return a function that encodes 24 texts in another process, 0.2 s for each part of two."""
    (tmp_path / "slow_encoder.py").write_text(SLOW)
    (tmp_path / "child.py").write_text(CHILD)
    rows = [{"id": str(number), "text": "x" * (number + 1)} for number in range(24)]
    polars.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    started = []

    def start(out, *executor):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        command = [sys.executable, str(tmp_path / "child.py"), str(tmp_path / "a.parquet"), str(out), *executor]
        started.append(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stderr.close()


def wait_for_parts(folder, count, process):
    while len(list(folder.glob("*.parquet"))) < count:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)


@pytest.mark.slow
def test_a_killed_command_goes_on_where_it_was(tmp_path, slow_encode):
    whole = slow_encode(tmp_path / "whole")
    assert whole.wait(60) == 0, whole.stderr.read()
    out = tmp_path / "killed"
    for count in (3, 8):
        process = slow_encode(out)
        wait_for_parts(out, count, process)
        process.kill()
        process.wait()
    (tmp_path / "log").unlink()
    assert slow_encode(out).wait(60) == 0
    # Each part asks twice: for its first text alone, and for all.
    assert len((tmp_path / "log").read_text().splitlines()) <= 8
    files = contents(out)
    assert {name: files[name] for name in contents(tmp_path / "whole")} == contents(tmp_path / "whole")


@pytest.mark.slow
def test_ray_makes_the_same_parts_even_if_a_worker_is_killed(tmp_path, slow_encode):
    pytest.importorskip("ray")
    assert slow_encode(tmp_path / "whole").wait(60) == 0
    here = {line.split()[0] for line in (tmp_path / "log").read_text().splitlines()}
    out = tmp_path / "ray"
    process = slow_encode(out, "2")
    wait_for_parts(out, 3, process)
    workers = [line.split()[0] for line in (tmp_path / "log").read_text().splitlines()]
    os.kill(int(workers[-1]), 9)
    assert process.wait(120) == 0, process.stderr.read()
    assert contents(out) == contents(tmp_path / "whole")
    workers = {line.split()[0] for line in (tmp_path / "log").read_text().splitlines()} - here
    # Two, and the one that took the place of the killed one.
    assert len(workers) == 3
