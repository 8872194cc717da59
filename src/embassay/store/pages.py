"""Whether the pages of an LMDB file can be trusted: LMDB itself believes what it reads and may fault on a bad page.

Read here are the format of LMDB 0.9 (``MDB_DATA_VERSION`` 1, 64 bits, little-endian: see ``mdb.c``): page headers, the
offsets of nodes, their keys and values.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lmdb
import numpy as np
from numpy.typing import NDArray

HEADER = 16
MAGIC, VERSION = 0xBEEFC0DE, 1
META = struct.Struct("<IIQQ" + "IHHQQQQQ" * 2 + "QQ")
BRANCH, LEAF, OVERFLOW, DIRTY = 1, 2, 4, 16
ELSEWHERE = 1
NOTHING = 2**64 - 1
KEY_LIMIT = 511
KNOWN = lmdb.version()[:2] == (0, 9) and sys.byteorder == "little" and sys.maxsize > 2**32
SIZES = tuple(1 << n for n in range(9, 17))
CEILING = 1 << 40
"""Bytes that a file may have."""
AT_ONCE = 1 << 16
"""Pages looked at together."""

Array = NDArray[np.int64]


class DamagedError(Exception):
    """A file is not what LMDB writes."""


@dataclass(frozen=True)
class Tree:
    """The root of one tree and how much it holds."""

    depth: int
    branches: int
    leaves: int
    overflows: int
    entries: int
    root: int


@dataclass(frozen=True)
class Meta:
    """One of the two meta pages; the one with the greater ``transaction`` is valid."""

    page_size: int
    free: Tree
    main: Tree
    pages: int
    transaction: int


def metas(path: Path) -> list[Meta]:
    """Read both meta pages; none of a file that has just been made, or where LMDB is one that we do not know.

    Raises
    ------
    DamagedError
        If they are not those of LMDB.
    """
    if not path.exists() or not path.stat().st_size or not KNOWN:
        return []
    with path.open("rb") as file:
        first = _meta(file.read(HEADER + META.size))
        file.seek(first.page_size)
        found = [first, _meta(file.read(HEADER + META.size))]
    if found[0].page_size != found[1].page_size:
        raise DamagedError("its two beginnings differ")
    return found


def is_later(path: Path) -> bool:
    """Say whether LMDB 1.0 has written a file, whose page headers are longer, where our LMDB is an earlier one."""
    if not path.exists() or not KNOWN:
        return False
    with path.open("rb") as file:
        return file.read(HEADER + 12)[-4:] == struct.pack("<I", MAGIC)


def check(path: Path, transaction: int) -> bool:
    """Look at every page that a snapshot uses, while a read transaction keeps it; False if its meta page has gone.

    Raises
    ------
    DamagedError
        If a page cannot be what it should be.
    """
    found = metas(path)
    for meta in found:
        if meta.transaction == transaction:
            _Walk(path, meta).check()
            return True
    return not found


def _meta(content: bytes) -> Meta:
    if len(content) < HEADER + META.size:
        raise DamagedError("it is too short")
    magic, version, _, _, *rest = META.unpack(content[HEADER:])
    size, last, transaction = rest[0], rest[16], rest[17]
    if magic != MAGIC or version != VERSION or size not in SIZES or not 1 <= last < CEILING // size:
        raise DamagedError("it is not a file of LMDB")
    return Meta(size, Tree(*rest[2:8]), Tree(*rest[10:16]), last + 1, transaction)


class _Walk:
    """Goes through both trees level by level, all pages of a level together."""

    def __init__(self, path: Path, meta: Meta):
        # The end may be missing: pages that were given out and given back in one transaction are never written.
        there = min(meta.pages, path.stat().st_size // meta.page_size)
        self.meta, self.size, self.there = meta, meta.page_size, there
        self.bytes = np.asarray(np.memmap(path, dtype=np.uint8, mode="r", shape=(there * meta.page_size,)))
        self.halves = self.bytes.view("<u2")
        self.used = np.zeros(there, dtype=bool)
        self.used[:2] = True

    def check(self) -> None:
        """Walk the tree of free pages, then the main one; no page may be met twice."""
        lists = [self._free(place, size) for part in self._tree(self.meta.free) for place, size in self._pairs(part)]
        free = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
        _require(bool(((free >= 2) & (free < self.meta.pages)).all()), "a free page is not there")
        _require(len(np.unique(free)) == len(free), "a page is free twice")
        for _ in self._tree(self.meta.main):
            pass
        _require(not self.used[free[free < self.there]].any(), "a page is free and in use")

    def _pairs(self, part: tuple[Array, Array]) -> Iterator[tuple[int, int]]:
        return zip(part[0].tolist(), part[1].tolist(), strict=True)

    def _free(self, place: int, size: int) -> Array:
        """Return a list of free pages: their number, then they."""
        listed = self.bytes[place : place + size - size % 8].copy().view("<u8").astype(np.int64)
        _require(len(listed) > 0 and 0 <= listed[0] < len(listed), "its list of free pages is damaged")
        return listed[1 : 1 + listed[0]]

    def _take(self, pages: Array) -> None:
        _require(bool(((pages >= 2) & (pages < self.there)).all()), "a page is not there")
        _require(not self.used[pages].any() and len(np.unique(pages)) == len(pages), "a page is used twice")
        self.used[pages] = True

    def _tree(self, tree: Tree) -> Iterator[tuple[Array, Array]]:
        """Check a tree and yield where the values lie, and their sizes."""
        if tree.root == NOTHING:
            _require(not tree.entries, "it has lost its root")
            return
        level, branches, counts = np.array([tree.root], dtype=np.uint64).astype(np.int64), 0, np.zeros(3, dtype=int)
        for _ in range(1, min(tree.depth, 32)):
            branches += len(level)
            level = np.concatenate([child for pages in self._headers(level) for child in self._children(pages)])
        for pages in self._headers(level):
            for nodes in self._nodes(pages, LEAF):
                places, sizes, overflows = self._values(*nodes)
                counts += len(nodes[0]), len(places), overflows
                yield places, sizes
        _require((branches, len(level)) == (tree.branches, tree.leaves), "pages are missing")
        _require((int(counts[0]), int(counts[2])) == (tree.entries, tree.overflows), "records are missing")

    def _headers(self, pages: Array) -> Iterator[Array]:
        """Check that the pages are there and know their own number; yield them in parts."""
        self._take(pages)
        for start in range(0, len(pages), AT_ONCE):
            part = pages[start : start + AT_ONCE]
            _require(bool((self._number(part * self.size) == part).all()), "a page is not where it should be")
            yield part

    def _nodes(self, pages: Array, kind: int) -> Iterator[tuple[Array, Array]]:
        """Yield the places of nodes and the lengths of their keys, of pages that have equally many.

        Nodes fill a page from ``upper`` to its end without a gap.
        """
        half = pages * (self.size // 2)
        flags, lower, upper = (self.halves[half + n].astype(np.int64) for n in (5, 6, 7))
        _require(bool(((flags & ~DIRTY) == kind).all()), "a page is of the wrong kind")
        sound = (lower > HEADER) & (lower % 2 == 0) & (lower <= upper) & (upper < self.size) & (upper % 2 == 0)
        _require(bool(sound.all()), "a page's header is damaged")
        for low in np.unique(lower):
            own, count = half[lower == low], (int(low) - HEADER) // 2
            offset = self.halves[own[:, None] + HEADER // 2 + np.arange(count)].astype(np.int64)
            ends = (offset >= upper[lower == low, None]) & (offset <= self.size - 8) & (offset % 2 == 0)
            _require(bool(ends.all()), "a node is outside of its page")
            yield self._sized(own, np.sort(offset, axis=1), upper[lower == low], kind)

    def _sized(self, half: Array, offset: Array, upper: Array, kind: int) -> tuple[Array, Array]:
        node = half[:, None] + offset // 2
        flags, keys = (self.halves[node + n].astype(np.int64) for n in (2, 3))
        content = np.where(flags & ELSEWHERE, 8, self._long(node)) if kind == LEAF else 0
        if kind == LEAF:
            _require(bool((flags & ~ELSEWHERE == 0).all()), "a node is of no known kind")
        size = 8 + keys + content
        size = size + size % 2
        following = np.concatenate([offset[:, 1:], np.full((len(offset), 1), self.size)], axis=1)
        whole = (offset[:, 0] == upper) & (offset + size == following).all(axis=1) & (keys <= KEY_LIMIT).all(axis=1)
        _require(bool(whole.all()), "nodes overlap")
        return node.ravel(), keys.ravel()

    def _children(self, pages: Array) -> Iterator[Array]:
        """Yield the pages that branches name."""
        for node, _ in self._nodes(pages, BRANCH):
            yield self._long(node) | (self.halves[node + 2].astype(np.int64) << 32)

    def _values(self, node: Array, keys: Array) -> tuple[Array, Array, int]:
        """Return where values lie and their sizes, and how many pages of their own they have."""
        place, size = node * 2 + 8 + keys, self._long(node)
        apart = (self.halves[node + 2] & ELSEWHERE).astype(bool)
        first = self._number(place[apart])
        count = (HEADER - 1 + size[apart]) // self.size + 1
        _require(bool((first + count <= self.there).all()), "a value is not there")
        for page in self._headers(first):
            flags = self.halves[page * (self.size // 2) + 5]
            _require(bool(((flags & ~np.uint16(DIRTY)) == OVERFLOW).all()), "a value is not where it should be")
        half = first * (self.size // 2)
        _require(bool((self._long(half + 6) == count).all()), "a value is of another size")
        total = int(count.sum())
        rest = np.arange(total) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        self._take(np.setdiff1d(rest, first))
        place[apart] = first * self.size + HEADER
        return place, size, total

    def _long(self, half: Array) -> Array:
        """Return the 32 bits at these places, counted in 16 bits."""
        return self.halves[half].astype(np.int64) | (self.halves[half + 1].astype(np.int64) << 16)

    def _number(self, place: Array) -> Array:
        """Return the 64 bits at these places, counted in bytes."""
        found: Array = self.bytes[place[:, None] + np.arange(8)].view("<i8").ravel().astype(np.int64)
        return found


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise DamagedError(problem)
