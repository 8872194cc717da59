"""What killed processes leave of files that they were writing is removed; what another process is writing is not."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from embassay.core.store import partial_files
from embassay.core.store.partial_files import OLD, partial_file, remove_left_overs


@pytest.fixture
def dead():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def put(folder, name, age=0.0):
    path = folder / name
    path.write_bytes(b"half")
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_only_what_is_ours_and_left_is_removed(tmp_path, dead):
    here, own = partial_files._machine(), os.getpid()
    left = [f".{here}.{dead}.0123abcd.part"]
    old = [f".{here}.{own}.0123abcd.part", f".ffffffff.{own}.0123abcd.part", f".ffffffff.{dead}.0123abcd.part"]
    kept = [
        f".{here}.{own}.4567abcd.part",
        f".{here}.1.4567abcd.part",
        f".ffffffff.{dead}.4567abcd.part",
    ]
    foreign = ["x.part", ".part", f".{dead}.part", f"{dead}.0123abcd.part", f".{dead}.0123ABCD.part", "film.mp4.part"]
    for name in [*left, *kept]:
        put(tmp_path, name)
    for name in [*old, *foreign]:
        put(tmp_path, name, age=OLD + 60)
    remove_left_overs(tmp_path)
    assert names(tmp_path) == sorted([*kept, *foreign])


def test_a_name_is_of_this_machine_and_process(tmp_path):
    name = partial_file(tmp_path / "a.json").name
    assert re.fullmatch(rf"\.[0-9a-f]{{8}}\.{os.getpid()}\.[0-9a-f]{{8}}\.part", name)
    assert partial_file(tmp_path / "a.json").name != name


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_process_that_is_killed_while_it_writes_leaves_nothing_for_long(tmp_path):
    code = (
        "import os, sys, time; from pathlib import Path; from embassay.core.store import canonical\n"
        "os.fsync = lambda number: (print('filled', flush=True), time.sleep(600))\n"
        "canonical.write(Path(sys.argv[1]), b'whole')\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.json")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout.readline() == "filled\n"
        remove_left_overs(tmp_path)
        assert len(names(tmp_path)) == 1  # it is being written
        process.send_signal(signal.SIGKILL)
    assert len(names(tmp_path)) == 1
    remove_left_overs(tmp_path)
    assert names(tmp_path) == []
