"""What killed processes leave of files that they were writing is removed; what another process is writing is not."""

import os
import re
import time

from embassay.core.store.partial_files import OLD, partial_file, remove_left_overs


def put(folder, name, age=0.0):
    path = folder / name
    path.write_bytes(b"half")
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_only_what_is_ours_and_old_is_removed(tmp_path):
    left, kept = ".0123456789abcdef.part", ".fedcba9876543210.part"
    foreign = ["x.part", ".part", ".0123.part", "0123456789abcdef.part", "film.mp4.part"]
    put(tmp_path, kept)
    for name in [left, *foreign]:
        put(tmp_path, name, age=OLD + 60)
    remove_left_overs(tmp_path)
    assert names(tmp_path) == sorted([kept, *foreign])


def test_a_name_is_used_once(tmp_path):
    name = partial_file(tmp_path / "a.json").name
    assert re.fullmatch(r"\.[0-9a-f]{16}\.part", name)
    assert partial_file(tmp_path / "a.json").name != name
