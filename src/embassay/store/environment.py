"""One open LMDB file for each folder and process, shared by all that use it; opened with care.

Before LMDB reads a file, its length and its pages are checked (``pages``): of a damaged one nothing is taken, it is
removed and begun afresh. So that this costs nothing in most cases, the file ``checked`` keeps size and time of change
of a file that we left in order; the pages of any other are looked at.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import lmdb

from embassay.errors import OutputError
from embassay.store import disks, pages
from embassay.store.files import DATA, LOCK, PLACE, STAMP, alone, remove, reserve, say, state
from embassay.store.records import LAYOUT, LAYOUT_KEY, pack, unpack

CEILINGS = (1 << 40, 1 << 36, 1 << 33)
"""Bytes that the file may grow to: it is sparse and takes what it holds; less where addresses are limited."""
PROBLEMS = (lmdb.Error, OSError)
DAMAGE = (lmdb.CorruptedError, lmdb.PageNotFoundError, lmdb.InvalidError, lmdb.CursorFullError)

T = TypeVar("T")
_shared: dict[tuple[int, Path], Environment] = {}
_guard = threading.RLock()


class RefusedError(OutputError):
    """A folder cannot hold the cache; ``reason`` is said without the folder."""

    def __init__(self, folder: Path, reason: str):
        super().__init__(f"{folder}: no cache there ({reason}); choose another with --cache, or --no-cache")
        self.reason = reason


class Environment:
    """The open file; transactions of several threads go one after the other."""

    def __init__(self, folder: Path, suspicious: bool = False):
        """Open the file in a folder, making it if need be; ``suspicious`` looks at every page.

        Raises
        ------
        RefusedError
            If the folder cannot be used, or holds a cache of a later layout.
        """
        self.folder, self.place = folder, folder / PLACE
        self.data = self.place / DATA
        self.users, self._lock = 1, threading.RLock()
        try:
            if kind := disks.remote(self.place):
                raise RefusedError(folder, f"it lies on a network disk, {kind}, where a cache is not safe")
            self.place.mkdir(parents=True, exist_ok=True)
            with alone(folder):
                self._env = self._opened(suspicious)
        except PROBLEMS as error:
            raise RefusedError(folder, reason(error)) from None

    def run(self, work: Callable[[Any], T], write: bool = False) -> T:
        """Call ``work`` with a transaction; nothing of it is kept when it raises.

        Raises
        ------
        lmdb.Error
            If it fails twice, where trying again may help.
        """
        with self._lock:
            try:
                return self._once(work, write)
            except lmdb.MapResizedError:
                self._env.set_mapsize(0)
            except lmdb.ReadersFullError:
                self._env.reader_check()
            except DAMAGE:
                self._left = ""
                self._stamp("damaged")
                raise
            return self._once(work, write)

    def close(self) -> None:
        """Close the file and note that it is in order, unless someone else has changed it since."""
        self._env.close()
        with suppress(OSError):
            if self._left and state(self.data) == self._left:
                self._stamp(self._left)

    def _once(self, work: Callable[[Any], T], write: bool) -> T:
        with self._env.begin(write=write, buffers=True) as transaction:
            result = work(transaction)
        if write:
            self._left = state(self.data)
        return result

    def _opened(self, suspicious: bool) -> Any:
        try:
            return self._checked(suspicious)
        except (pages.DamagedError, *DAMAGE) as error:
            say(f"the cache in {self.folder} was damaged ({error}); it is begun afresh")
            remove(self.place)
            return self._checked(False)

    def _checked(self, suspicious: bool) -> Any:
        """Check what there is and open it."""
        before, stamp = state(self.data), self._stamped()
        if stamp == "damaged":
            raise pages.DamagedError("a page could not be read")
        if pages.is_later(self.data):
            raise RefusedError(self.folder, "it was written by a later version of LMDB")
        pages.metas(self.data)
        reserve(self.place / LOCK)
        env = _open(self.place)
        try:
            env.reader_check()
            if before and (suspicious or stamp != before):
                _look(env, self.data)
            self._left = before
            self._renew(env)
        except BaseException:
            env.close()
            raise
        return env

    def _renew(self, env: Any) -> None:
        """Empty a cache of an earlier layout and name this one's."""
        with env.begin(buffers=True) as transaction:
            value, entries = transaction.get(LAYOUT_KEY), transaction.stat()["entries"]
            found = unpack(LAYOUT_KEY, value)
            layout = int(bytes(found)) if found else 0
        if value is not None and not layout:
            raise pages.DamagedError("its layout is not known")
        if layout > LAYOUT:
            raise RefusedError(self.folder, f"it was written by a later version: layout {layout}, not {LAYOUT}")
        if layout == LAYOUT:
            return
        if entries:
            say(f"the cache in {self.folder} was of an earlier version and has been emptied")
        with env.begin(write=True) as transaction:
            transaction.drop(env.open_db(None, txn=transaction), delete=False)
            transaction.put(LAYOUT_KEY, pack(LAYOUT_KEY, b"%d" % LAYOUT))
        self._left = state(self.data)

    def _stamped(self) -> str:
        try:
            return (self.place / STAMP).read_text(encoding="ascii")
        except (OSError, ValueError):
            return ""

    def _stamp(self, text: str) -> None:
        with suppress(OSError):
            (self.place / STAMP).write_text(text, encoding="ascii")


def acquire(folder: Path, suspicious: bool = False) -> Environment:
    """Open the cache of a folder, or join those who have it open in this process."""
    key = (os.getpid(), folder.resolve())
    with _guard:
        if found := _shared.get(key):
            found.users += 1
            return found
        _shared[key] = Environment(folder, suspicious)
        return _shared[key]


def release(environment: Environment) -> None:
    """Let go of it; the last one closes it."""
    with _guard:
        environment.users -= 1
        if environment.users:
            return
        for key, other in list(_shared.items()):
            if other is environment:
                del _shared[key]
        environment.close()


def reason(error: Exception) -> str:
    """Say what failed, without the call or path that LMDB puts before it."""
    text = getattr(error, "strerror", None) or str(error)
    if isinstance(error, lmdb.MapFullError):
        return "its file cannot become larger here"
    if "Input/output error" in text:  # what LMDB says when it can write a part only
        return "the disk is full, or fails (Input/output error)"
    return text.rpartition(": ")[2] if isinstance(error, lmdb.Error) else text


def _open(place: Path) -> Any:
    for ceiling in CEILINGS:
        try:
            # The file stays whole without metasync; a power cut may cost the last block, which is encoded again.
            return lmdb.open(str(place), map_size=ceiling, metasync=False, meminit=False)
        except (lmdb.MemoryError, MemoryError):
            continue
        except lmdb.Error as error:
            if "allocate" not in str(error) or ceiling == CEILINGS[-1]:
                raise
    raise OSError(12, "not enough addresses for it")


def _look(env: Any, data: Path) -> None:
    """Check the pages of one snapshot; its meta page lasts until the next commit but one of another process."""
    for _ in range(10):
        with env.begin() as transaction:
            if pages.check(data, transaction.id()):
                return
