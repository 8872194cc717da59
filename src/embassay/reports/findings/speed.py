"""The times of encoders, measured on the same texts, in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from embassay.core.formatting import counted


@dataclass(frozen=True)
class MeasuredTimes:
    """The times of an encoder for the same texts as those of the other encoders of a run.

    Attributes
    ----------
    encoder
        Its label in the run, without the setting of a corpus that varies.
    texts
        Their number.
    wall, cpu
        Seconds for all texts by round: as the clock shows, and of all cores together.
    device
        Where its model runs; empty if it does not say so.
    model
        The same for encoders whose vectors come from one model.
    """

    encoder: str
    texts: int
    wall: Sequence[float]
    cpu: Sequence[float]
    device: str
    model: str

    @property
    def milliseconds_per_text(self) -> float:
        """The median over the rounds, as the clock shows."""
        return 1000 * median(self.wall) / self.texts

    def written(self) -> str:
        """Write the medians: ``64 texts in 0.41 s, 0.80 s of processor time``."""
        return f"{counted(self.texts, 'text')} in {median(self.wall):.2g} s, {median(self.cpu):.2g} s of processor time"
