"""One open LMDB file for each folder and process, shared by all that use it; opened with care.

LMDB may crash on a damaged file. So that checking costs nothing in most cases, the file ``checked`` keeps size and time
of change of a file that we left in order; any other is read in a process of its own first (``soundness``). A damaged
file is left as it is and not used; the message names the command that removes it.
"""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import lmdb

from embassay.errors import OutputError, say
from embassay.store import disks
from embassay.store.files import DATA, LOCK, PLACE, STAMP, alone, reserve, state
from embassay.store.records import LAYOUT, LAYOUT_KEY, pack, unpack
from embassay.store.soundness import is_sound

CEILINGS = (1 << 40, 1 << 36, 1 << 33)
"""Bytes that the file may grow to: it is sparse and takes what it holds; less where addresses are limited."""
DAMAGE = (
    lmdb.CorruptedError,
    lmdb.CursorFullError,
    lmdb.InvalidError,
    lmdb.PageNotFoundError,
    lmdb.PanicError,
    lmdb.VersionMismatchError,
)

T = TypeVar("T")
_shared: dict[tuple[int, Path], Environment] = {}
_guard = threading.RLock()


class RefusedError(OutputError):
    """A folder cannot hold the cache; ``reason`` is said without the folder."""

    def __init__(self, folder: Path, reason: str):
        super().__init__(f"{folder}: no cache there ({reason}); choose another with --cache, or --no-cache")
        self.reason = reason


class DamagedError(RefusedError):
    """The file of a cache is damaged, or not one that this version of LMDB can read."""

    def __init__(self, folder: Path):
        command = f"embassay cache clear --cache {shlex.quote(str(folder))}"
        super().__init__(folder, f"its file is damaged; '{command}' removes it")


PROBLEMS = (lmdb.Error, OSError, RefusedError)


class Environment:
    """The open file; transactions of several threads go one after the other."""

    def __init__(self, folder: Path, suspicious: bool = False):
        """Open the file in a folder, making it if need be; ``suspicious`` always reads all of it first.

        Raises
        ------
        RefusedError
            If the folder cannot be used, its file is damaged, or it holds a cache of a later layout.
        """
        self.folder, self.place = folder, folder / PLACE
        self.data = self.place / DATA
        self.users, self._lock = 1, threading.RLock()
        self._damaged = False
        try:
            if kind := disks.remote(self.place):
                raise RefusedError(folder, f"it lies on a network disk, {kind}, where a cache is not safe")
            self.place.mkdir(parents=True, exist_ok=True)
            with alone(folder):
                self._env = self._opened(suspicious)
        except DAMAGE:
            raise DamagedError(folder) from None
        except (lmdb.Error, OSError) as error:
            raise RefusedError(folder, reason(error)) from None

    def run(self, work: Callable[[Any], T], write: bool = False) -> T:
        """Call ``work`` with a transaction; nothing of it is kept when it raises.

        Raises
        ------
        DamagedError
            If LMDB finds damage; the next who opens the file then reads all of it first.
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
                self._damaged = True
                raise DamagedError(self.folder) from None
            return self._once(work, write)

    def close(self) -> None:
        """Close the file and note that it is in order, unless it is not or someone else has changed it since."""
        self._env.close()
        stamp = self.place / STAMP
        with suppress(OSError):
            if self._damaged:
                stamp.unlink(missing_ok=True)
            elif self._left and state(self.data) == self._left:
                stamp.write_text(self._left, encoding="ascii")

    def _once(self, work: Callable[[Any], T], write: bool) -> T:
        with self._env.begin(write=write, buffers=True) as transaction:
            result = work(transaction)
        if write:
            self._left = state(self.data)
        return result

    def _opened(self, suspicious: bool) -> Any:
        """Check what there is and open it."""
        before = state(self.data)
        reserve(self.place / LOCK)
        if before and (suspicious or before != self._stamped()) and not is_sound(self.place):
            raise DamagedError(self.folder)
        env = _open(self.place)
        try:
            env.reader_check()
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
            raise DamagedError(self.folder)
        if layout > LAYOUT:
            raise RefusedError(self.folder, f"it was written by a later version: layout {layout}, not {LAYOUT}")
        if layout == LAYOUT:
            return
        if entries:
            say(f"the cache in {self.folder} came from an earlier version and has been emptied")
        with env.begin(write=True) as transaction:
            transaction.drop(env.open_db(None, txn=transaction), delete=False)
            transaction.put(LAYOUT_KEY, pack(LAYOUT_KEY, b"%d" % LAYOUT))
        self._left = state(self.data)

    def _stamped(self) -> str:
        try:
            return (self.place / STAMP).read_text(encoding="ascii")
        except (OSError, ValueError):
            return ""


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
    if isinstance(error, RefusedError):
        return error.reason
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
