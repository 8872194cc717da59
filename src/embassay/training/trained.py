"""The progress callback and the result of every training."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Advance = Callable[[int, int], None]
"""Called with the progress of a training: the number of rows read so far and the total, over all epochs."""
THERE = "this model was already trained; nothing was done"
"""The note if the folder already contains the finished model."""


@dataclass(frozen=True)
class Trained:
    """The result of a training.

    Attributes
    ----------
    folder
        The model's folder.
    spec
        The encoder's spec, for example ``words:folder``.
    notes
        Assumptions and deviations from the request, one sentence each.
    """

    folder: Path
    spec: str
    notes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The command line that assays the model."""
        return f"embassay run -e {shlex.quote(self.spec)}"
