"""One open LMDB file per folder and process, shared by all its users and checked before it is opened.

LMDB may crash on a damaged file. The file ``checked`` stores the inode, size and time of change that the LMDB file had
when it was last closed in order, so that an unchanged file needs no check. Any other file is first read in a separate
process (``soundness``). A damaged file is neither used nor changed; the message names the command that removes it.
"""

from __future__ import annotations

import errno
import os
import shlex
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import lmdb

from embassay.errors import OutputError, say
from embassay.store import disks
from embassay.store.files import DATA, LOCK, PLACE, STAMP, alone, reserve, state
from embassay.store.records import LAYOUT, LAYOUT_KEY, pack, unpack
from embassay.store.soundness import is_sound

CEILINGS = (1 << 40, 1 << 36, 1 << 33)
"""Largest sizes of the file in bytes, tried in turn, as address space may be limited. The file is sparse."""
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
    """A folder cannot hold the cache; ``reason`` does not name the folder."""

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
    """The open file. Transactions of several threads run one after the other."""

    def __init__(self, folder: Path, suspicious: bool = False):
        """Open the file in a folder; create it if it does not exist. With ``suspicious`` it is always read whole first.

        Raises
        ------
        RefusedError
            If the folder cannot be used, its file is damaged, or it holds a cache of a later layout.
        """
        self.folder = folder
        self.place = folder / PLACE
        self.data = self.place / DATA
        # How many caches of this process have the file open; acquire and release count them.
        self.users = 1
        self._lock = threading.RLock()
        self._damaged = False
        # The state of the file (see files.state) after the last write of this process.
        self._state_left = ""
        try:
            if kind := disks.remote(self.place):
                raise RefusedError(folder, f"it lies on a network disk, {kind}, where a cache is not safe")
            self.place.mkdir(parents=True, exist_ok=True)
            with alone(folder):
                self._env = self._check_and_open(suspicious)
        except DAMAGE:
            raise DamagedError(folder) from None
        except (lmdb.Error, OSError) as error:
            raise RefusedError(folder, reason(error)) from None

    def run(self, work: Callable[[lmdb.Transaction], T], write: bool = False) -> T:
        """Call ``work`` with a transaction and return its result; the transaction is rolled back if ``work`` raises.

        Raises
        ------
        DamagedError
            If LMDB finds damage at the first attempt. The file is then read whole when it is opened next.
        lmdb.Error
            If the transaction fails for another reason, or also at the second attempt. There is a second attempt only
            if the transaction could not begin, because the file had grown or all places of readers were taken.
        """
        with self._lock:
            try:
                return self._transact(work, write)
            except lmdb.MapResizedError:
                # Another process has enlarged the file; 0 takes over its size.
                self._env.set_mapsize(0)
            except lmdb.ReadersFullError:
                # Free the places of readers whose processes have ended.
                self._env.reader_check()
            except DAMAGE:
                self._damaged = True
                raise DamagedError(self.folder) from None
            return self._transact(work, write)

    def close(self) -> None:
        """Close the file; record that it is in order unless it is damaged or another process has changed it."""
        self._env.close()
        stamp = self.place / STAMP
        with suppress(OSError):
            if self._damaged:
                stamp.unlink(missing_ok=True)
            elif self._state_left and state(self.data) == self._state_left:
                stamp.write_text(self._state_left, encoding="ascii")

    def _transact(self, work: Callable[[lmdb.Transaction], T], write: bool) -> T:
        """Call ``work`` with a transaction; after a write, remember the state in which this process left the file."""
        with self._env.begin(write=write, buffers=True) as transaction:
            result = work(transaction)
        if write:
            self._state_left = state(self.data)
        return result

    def _check_and_open(self, suspicious: bool) -> lmdb.Environment:
        """Check the existing file, if any, and open it."""
        before = state(self.data)
        reserve(self.place / LOCK)
        # A file that is as the last process left it was in order then. Any other may be damaged, and is read whole.
        must_be_read = suspicious or before != self._stamped()
        if before and must_be_read and not is_sound(self.place):
            raise DamagedError(self.folder)
        env = _open(self.place)
        try:
            env.reader_check()
            self._state_left = before
            self._empty_earlier_layout(env)
        except BaseException:
            env.close()
            raise
        return env

    def _empty_earlier_layout(self, env: lmdb.Environment) -> None:
        """Empty a cache of an earlier layout and write the number of this layout."""
        with env.begin(buffers=True) as transaction:
            entries = transaction.stat()["entries"]
            layout = self._layout(transaction)
        if layout > LAYOUT:
            raise RefusedError(self.folder, f"it was written by a later version: layout {layout}, not {LAYOUT}")
        if layout == LAYOUT:
            return
        if entries:
            say(f"the cache in {self.folder} came from an earlier version and has been emptied")
        with env.begin(write=True) as transaction:
            transaction.drop(env.open_db(None, txn=transaction), delete=False)
            transaction.put(LAYOUT_KEY, pack(LAYOUT_KEY, b"%d" % LAYOUT))
        self._state_left = state(self.data)

    def _layout(self, transaction: lmdb.Transaction) -> int:
        """Return the number of the layout of an open file; 0 if it has none, as a new file or one of the first layout.

        Raises
        ------
        DamagedError
            If the record with the number is damaged.
        """
        value = transaction.get(LAYOUT_KEY)
        if value is None:
            return 0
        number = unpack(LAYOUT_KEY, value)
        if not number:
            raise DamagedError(self.folder)
        layout = int(bytes(number))
        if layout == 0:
            raise DamagedError(self.folder)
        return layout

    def _stamped(self) -> str:
        """Return the content of the stamp; empty if there is none."""
        try:
            return (self.place / STAMP).read_text(encoding="ascii")
        except (OSError, ValueError):
            # A missing or damaged stamp differs from every state of the file, so the cache is checked.
            return ""


def acquire(folder: Path, suspicious: bool = False) -> Environment:
    """Return the open cache of a folder, shared with all its users in this process; open it for the first."""
    # LMDB must not be used by the child of a fork, which therefore opens the file again.
    key = (os.getpid(), folder.resolve())
    with _guard:
        environment = _shared.get(key)
        if environment is None:
            environment = Environment(folder, suspicious)
            _shared[key] = environment
        else:
            environment.users += 1
        return environment


def release(environment: Environment) -> None:
    """End one use of the cache; the last user closes the file."""
    with _guard:
        environment.users -= 1
        if environment.users:
            return
        # Its key is searched for: after a fork or in another working directory, acquire would make a different one.
        for key, other in list(_shared.items()):
            if other is environment:
                del _shared[key]
        environment.close()


def reason(error: Exception) -> str:
    """Return what failed, without the call or path with which LMDB begins its message."""
    if isinstance(error, RefusedError):
        return error.reason
    text = getattr(error, "strerror", None) or str(error)
    if isinstance(error, lmdb.MapFullError):
        return "its file cannot become larger here"
    # LMDB reports this when it could write only a part.
    if "Input/output error" in text:
        return "the disk is full, or fails (Input/output error)"
    # "/home/me/cache: Permission denied" -> "Permission denied"
    if isinstance(error, lmdb.Error):
        return text.rpartition(": ")[2]
    return text


def _open(place: Path) -> lmdb.Environment:
    """Open the LMDB file in a folder with the largest ceiling for which there are enough addresses."""
    for ceiling in CEILINGS:
        try:
            # The file stays whole without metasync; a power cut may cost the last block, which is encoded again.
            return lmdb.open(str(place), map_size=ceiling, metasync=False, meminit=False)
        except (lmdb.MemoryError, MemoryError):
            # The map needs as many addresses as its ceiling. With a limit on them (ulimit -v) a lower one may fit.
            continue
        except lmdb.Error as error:
            # Some systems report the same as a general error, "Cannot allocate memory".
            lacks_memory = "allocate" in str(error)
            is_last = ceiling == CEILINGS[-1]
            if not lacks_memory or is_last:
                raise
    raise OSError(errno.ENOMEM, "not enough addresses for it")
