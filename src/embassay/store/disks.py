"""What a folder lies on: a disk of this machine or one across the network, and how much room there is."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from embassay.errors import InputError

MOUNTS = Path("/proc/mounts")
REMOTE = {
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "9p", "ceph", "glusterfs", "lustre", "gpfs", "beegfs"),
    *("orangefs", "pvfs2", "panfs", "davfs", "fuse.davfs2", "fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone"),
    *("fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.curlftpfs", "fuse.smbnetfs", "fuse.goofys"),
    *("fuse.blobfuse", "fuse.blobfuse2", "fuse.juicefs", "fuse.mount-s3", "fuse.geesefs", "fuse.moosefs"),
}
"""File systems on which memory maps and locks of several machines do not agree; LMDB is not safe there."""

VARIABLE = "EMBASSAY_CACHE_LIMIT"
USUAL = 20 << 30
UNITS = {
    **{unit: 1000**power for power, unit in enumerate(("b", "kb", "mb", "gb", "tb"))},
    **{unit: 1024**power for power, unit in enumerate(("", "kib", "mib", "gib", "tib"))},
    **{unit: 1024**power for power, unit in enumerate(("", "k", "m", "g", "t"))},
}


def remote(folder: Path) -> str | None:
    """Return the network file system that a folder lies on; None on a disk of this machine, or where nothing tells."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    real, best, kind = folder.resolve(), -1, ""
    for line in lines:
        _, point, name, *_ = [re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), w) for w in f"{line} ? ?".split(" ")]
        if len(point) >= best and real.is_relative_to(point):
            best, kind = len(point), name
    return kind if kind in REMOTE else None


def limit(folder: Path, own: int) -> int | None:
    """Return how many bytes the cache may take, of which it has ``own``; None for no limit.

    Without ``EMBASSAY_CACHE_LIMIT`` it is 20 GiB, or half of what the disk has free (with what the cache has) where
    that is less.

    Raises
    ------
    InputError
        If ``EMBASSAY_CACHE_LIMIT`` is no size.
    """
    if said := os.environ.get(VARIABLE, "").strip():
        return size(said) or None
    try:
        there = next(path for path in (folder.resolve(), *folder.resolve().parents) if path.exists())
        return min(USUAL, (shutil.disk_usage(there).free + own) // 2)
    except OSError:
        return USUAL


def size(said: str) -> int:
    """Return the bytes of a size such as ``5GiB``, ``500 MB`` or ``0``.

    Raises
    ------
    InputError
        If it is none.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", said.strip().lower())
    if not found or found[2] not in UNITS:
        raise InputError(f"{VARIABLE}: {said!r} is no size; write for example 5GiB or 500MB, or 0 for no limit")
    return int(float(found[1]) * UNITS[found[2]])


def shown(count: float) -> str:
    """Return a size for people, such as ``1.5 GiB``."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} bytes" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
