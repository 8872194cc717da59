"""Arrays of a user's object or function."""

from __future__ import annotations

from typing import Any


def off_device(rows: Any) -> Any:
    """Return a tensor of torch as float32 in main memory; anything else as it is."""
    return rows.detach().cpu().float() if hasattr(rows, "detach") else rows
