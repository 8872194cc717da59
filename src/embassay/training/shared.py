"""What every training takes and leaves."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Advance = Callable[[int, int], None]
"""Called with the progress of a training: how many rows of how many, those of all epochs together, have been read."""
THERE = "this very model was there already: nothing was trained"
"""The note of a training that had nothing to do."""


@dataclass(frozen=True)
class Trained:
    """What a training leaves.

    Attributes
    ----------
    folder
        Where the model lies.
    spec
        The encoder's spec: ``words:folder``.
    notes
        What was assumed or done otherwise than requested, one sentence each.
    """

    folder: Path
    spec: str
    notes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The command line that assays it."""
        return f"embassay run -e {shlex.quote(self.spec)}"
