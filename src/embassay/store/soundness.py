"""Check whether an LMDB file can be read: LMDB trusts the pages that it reads and may crash on a damaged one.

A file that may be damaged is therefore first read in a separate process, which may crash without harm. That process
copies the file to the null device, for which LMDB visits and counts all pages, and reads every record.

Detected: a file that is truncated, is not an LMDB file, or has pages overwritten with zeros or noise, unless only
vectors are affected (each vector has a checksum, see ``records``). Not detected: some changes of a few bits in the
header of a page or of the file. LMDB then reports an error later, or in the worst case crashes while it writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import lmdb

# As in ``records``, which this file does not import: it runs as a script, and numpy would take most of its time.
LAYOUT_KEY = b"\x00format"
# A value is its checksum (4 bytes), the length of its content (4 bytes), and the content.
LENGTH = slice(4, 8)
CHECK_SIZE = 8


def is_sound(place: Path) -> bool:
    """Return whether a separate process can read the whole LMDB file in a folder."""
    # The process finds lmdb where this one found it.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    reader = subprocess.run(  # noqa: S603 - our own interpreter and file, and a path as an argument
        [sys.executable, "-P", __file__, str(place)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        check=False,
    )
    return reader.returncode == 0


def read_everything(place: str) -> None:
    """Read all pages and records of the LMDB file in a folder.

    Raises
    ------
    lmdb.Error
        If LMDB finds damage.
    ValueError
        If records are missing, out of order or of a wrong length, or the page count is impossible.
    """
    size = (Path(place) / "data.mdb").stat().st_size
    # Other processes may write meanwhile, so the map is larger than the file.
    with lmdb.open(place, map_size=2 * size + (1 << 30), readonly=True) as env:
        env.reader_check()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        # A compacting copy fails where pages are missing, used twice, or neither used nor free.
        env.copyfd(nowhere, compact=True)
        os.close(nowhere)
        with env.begin(buffers=True) as transaction:
            count = _count_records(transaction)
            stat = transaction.stat()
        if count != stat["entries"]:
            raise ValueError("records are missing")
        # The cache relies on these numbers to decide whether it is full.
        pages = stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]
        if pages * stat["psize"] > env.info()["map_size"]:
            raise ValueError("more pages are counted than there can be")


def _count_records(transaction: lmdb.Transaction) -> int:
    """Read every record and return their number."""
    # The first layout, which is emptied when it is opened, had no lengths.
    has_lengths = transaction.get(LAYOUT_KEY) is not None
    previous = b""
    count = 0
    for key, value in transaction.cursor():
        if bytes(key) <= previous:
            raise ValueError("the keys are not in order")
        length_in_page = len(value) - CHECK_SIZE
        length_written = int.from_bytes(value[LENGTH], "little")
        # A record that LMDB holds to be longer than it says would make LMDB write outside of its page.
        if has_lengths and length_written != length_in_page:
            raise ValueError("a record has a wrong length")
        # If the file is truncated before its last byte, this read kills the process, which is what the caller looks at.
        bytes(value[-1:])
        previous = bytes(key)
        count += 1
    return count


if __name__ == "__main__":
    read_everything(sys.argv[1])
