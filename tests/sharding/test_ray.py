"""Shards made in a Ray cluster of two workers: whatever is killed, the bytes are those of one undisturbed process."""

import json
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.processes.ray_cluster import gpu_share

pytest.importorskip("ray")
SHARDS, ROWS = 12, 3
CLUSTER = """
import logging, sys, ray
ray.init(address="local", num_cpus=2, num_gpus=0, include_dashboard=False, object_store_memory=100 * 2**20,
         logging_level=logging.ERROR, _temp_dir=sys.argv[1])
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
ray.shutdown()
"""
ENCODER = """
import json, os, time
from pathlib import Path
import numpy as np

def encode(texts):
    with Path(__file__).with_name("log.jsonl").open("a") as log:
        log.write(json.dumps([os.getpid(), os.environ.get("OMP_NUM_THREADS"), list(texts)]) + "\\n")
    time.sleep(0.15)
    return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)
"""


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file() and "lock" not in path.name]
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Return the address of a cluster, and the environment of its drivers."""
    # Paths of sockets must be short.
    folder = tmp_path_factory.mktemp("ray")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": "0123456789abcdef" * 4,
    }
    command = [sys.executable, "-c", CLUSTER, str(folder)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            address = process.stdout.readline().strip()
            assert address, "the cluster did not start"
            yield address, environment
        finally:
            process.stdin.close()
            process.wait(30)


@pytest.fixture
def drive(tmp_path, cluster):
    """Return a function that starts a driver: it encodes 36 texts in 12 shards, 0.15 s for each text."""
    address, environment = cluster
    (tmp_path / "logging_encoder.py").write_text(ENCODER)
    # The third text of each shard repeats the first one.
    rows = [{"id": n, "text": f"text {n - 2 if n % ROWS == 2 else n}"} for n in range(SHARDS * ROWS)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    started = []

    def start(out, *options):
        command = [sys.executable, "-m", "embassay", "encode", "-e", "python:logging_encoder:encode,version=1"]
        command += ["--texts", "a.jsonl", "-o", str(out), "--shard", str(ROWS), "--threads", "1", *options]
        process = subprocess.Popen(
            command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        started.append(process)
        return process

    def start_in_cluster(out):
        return start(out, "--executor", "ray", "--ray-address", address, "--workers", "2")

    yield start, start_in_cluster
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def log_of(folder):
    """Return (process, threads, texts) of each call of the encoder for the input; loading it also calls it."""
    calls = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [call for call in calls if all(text.startswith("text ") for text in call[2])]


def wait_for_calls(folder, count, process):
    while not (folder / "log.jsonl").exists() or len(log_of(folder)) < count:
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.02)


def ended(process):
    said = process.stdout.read()
    assert process.wait(60) == 0, said
    return said


@pytest.mark.slow
def test_whatever_is_killed_the_bytes_are_those_of_one_process(tmp_path, drive):
    start, start_in_cluster = drive
    out = tmp_path / "out"

    # Two workers are killed in the middle of a shard, then the driver.
    driver = start_in_cluster(out)
    for count in (3, 9):
        wait_for_calls(tmp_path, count, driver)
        os.kill(log_of(tmp_path)[-1][0], signal.SIGKILL)
    wait_for_calls(tmp_path, 15, driver)
    driver.kill()
    driver.wait()
    said = driver.stdout.read()
    assert said.count("a worker process was killed") == 2, said
    assert "raylet" not in said
    finished = sorted((out / "shards").glob("*.npy"))
    os.truncate(finished[0], 100)

    said = ended(start_in_cluster(out))
    assert f"shard {finished[0].stem}: {finished[0].name} is damaged: its hash differs; it is made again" in said
    assert not list(out.rglob("*.part"))
    calls = log_of(tmp_path)
    (tmp_path / "log.jsonl").unlink()

    ended(start(tmp_path / "whole"))
    assert contents(out) == contents(tmp_path / "whole")

    # An attempt to make a shard is made by one process, which encodes each of its two different texts once.
    encoded = [(process, text) for process, _, texts in calls for text in texts]
    assert len(set(encoded)) == len(encoded)
    attempts = {(process, int(text.removeprefix("text ")) // ROWS) for process, text in encoded}
    assert {shard for _, shard in attempts} == set(range(SHARDS))
    # Each killed worker lost one attempt at most, the driver one of each of its two workers; one file was damaged.
    assert SHARDS < len(attempts) <= SHARDS + 5
    assert {threads for _, threads, _ in calls} == {"1"}
    assert sum(len(texts) for _, _, texts in log_of(tmp_path)) == 2 * SHARDS


@pytest.mark.slow
def test_a_search_in_the_cluster_has_the_same_bytes(tmp_path, cluster):
    address, environment = cluster
    texts = [{"id": n, "text": f"text {n % 40} of {n % 7}"} for n in range(200)]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)))
    questions = [{"question": f"what is text {n}", "document": n} for n in range(0, 200, 5)]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, questions)))
    ea.encode_corpus("hashing,dim=32", tmp_path / "texts.jsonl", tmp_path / "shards", shard_rows=15, threads=1)
    results = []
    for name, options in (("here", ""), ("ray", f",executor=ray,workers=2,ray_address={address}")):
        command = [sys.executable, "-m", "embassay", "run", "-e", f"m=vectors:shards{options}", "--quiet"]
        command += ["-c", "d=./shards,questions=q.jsonl", "-o", name]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        results.append((tmp_path / name / "result.json").read_bytes())
    assert results[0] == results[1]


@pytest.mark.slow
def test_more_workers_than_the_cluster_has_is_one_message(tmp_path, drive, cluster):
    start, _ = drive
    process = start(tmp_path / "out", "--executor", "ray", "--ray-address", cluster[0], "--workers", "3")
    said = process.stdout.read()
    assert process.wait(60) == 2
    assert "the Ray cluster has 2 CPUs; 3 workers with 1 thread each need 3" in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_an_error_in_a_worker_is_one_message(tmp_path, drive):
    _, start_in_cluster = drive
    encoder = tmp_path / "logging_encoder.py"
    encoder.write_text(encoder.read_text().replace("time.sleep(0.15)", "assert 'text 7' not in texts"))
    process = start_in_cluster(tmp_path / "out")
    said = process.stdout.read()
    assert process.wait(60) == 3, said
    assert "AssertionError" in said.splitlines()[-1]
    assert "Traceback" not in said


@pytest.mark.slow
def test_a_cluster_of_its_own(tmp_path):
    texts = tmp_path / "a.jsonl"
    texts.write_text("".join(json.dumps({"id": n, "text": f"text {n}"}) + "\n" for n in range(10)))
    code = """if __name__ == "__main__":
        import embassay as ea, os, sys
        done = ea.encode_corpus("random,dim=4", "a.jsonl", "out", shard_rows=5, threads=1, executor="ray", workers=2)
        print(done.made, "ray" in sys.modules and sys.modules["ray"].is_initialized())
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOME": str(tmp_path),
    }
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("2 False\n", "")
    # Nothing is left in the home folder.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "out"]
    ea.encode_corpus("random,dim=4", texts, tmp_path / "same", shard_rows=5, threads=1)
    assert contents(tmp_path / "out") == contents(tmp_path / "same")


def test_an_address_without_a_cluster_is_one_message(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("embassay.core.processes.ray_cluster.CONNECTING", 1)
    texts = tmp_path / "a.jsonl"
    texts.write_text('{"id": 1, "text": "a"}\n')
    command = ["encode", "-e", "random,dim=4", "--texts", str(texts), "-o", str(tmp_path / "out"), "--executor", "ray"]
    assert exit_code_of([*command, "--ray-address", "127.0.0.1:9"]) == 2
    assert "no Ray cluster answers at 127.0.0.1:9; start one with 'ray start --head'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_without_a_cluster_on_this_machine_auto_is_one_message(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("embassay.core.processes.ray_cluster.PROBE", "raise SystemExit(1)")
    texts = tmp_path / "a.jsonl"
    texts.write_text('{"id": 1, "text": "a"}\n')
    command = ["encode", "-e", "random,dim=4", "--texts", str(texts), "-o", str(tmp_path / "out"), "--executor", "ray"]
    assert exit_code_of([*command, "--ray-address", "auto"]) == 2
    assert "no Ray cluster runs on this machine; start one with 'ray start --head'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("address", ["ray://127.0.0.1:10001", "a b:1"])
def test_a_wrong_address_is_one_message(tmp_path, address):
    with pytest.raises(ea.InputError, match=r"the Ray address must be HOST:PORT or auto, is"):
        ea.encode_corpus("random", "a.jsonl", tmp_path / "out", executor="ray", ray_address=address)


@pytest.mark.parametrize(
    ("gpus", "workers", "device", "share"),
    [
        (0, 2, "auto", 0),
        (2, 2, "cpu", 0),
        (2, 2, "auto", 1),
        (4, 2, "cuda", 1),
        (1, 3, "auto", 1 / 3),
        (2, 3, "cuda", 0.5),
    ],
)
def test_workers_share_the_gpus(gpus, workers, device, share):
    assert gpu_share(gpus, workers, device) == share
