"""What may be said of the speed of encoders: only what was measured on the same texts, in turn, on one device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from embassay.findings import templates
from embassay.formatting import counted


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


def fastest(encoders: Sequence[str], times: Mapping[str, MeasuredTimes]) -> str:
    """Name the fastest of some encoders, in a sentence that says what was measured.

    It is empty if one was not measured, if they share one model or run on different devices, or if another one was
    as fast in some round.
    """
    if not all(name in times for name in encoders):
        return ""
    # Settings of one model take the same time; the first of them stands for it.
    by_model = {times[name].model: times[name] for name in reversed(encoders)}
    devices = {one.device for one in by_model.values()}
    if len(by_model) < 2 or len(devices) > 1:
        return ""
    first, *others = sorted(by_model.values(), key=lambda one: median(one.wall))
    for other in others:
        # The ratio of the times in each round; in the end, that of the slowest.
        ratios = [slow / fast for slow, fast in zip(other.wall, first.wall, strict=True)]
        if min(ratios) <= 1:
            return ""
    slowest = others[-1]
    short = (
        f"{first.encoder}, {median(slowest.wall) / median(first.wall):,.1f} times as fast as {slowest.encoder} "
        f"({min(ratios):,.1f} to {max(ratios):,.1f} in {counted(len(ratios), 'round')})"
    )
    return templates.FASTEST.sentence(
        short=short,
        texts=counted(first.texts, "text"),
        seconds=median(first.wall),
        seconds_of_slowest=median(slowest.wall),
        processor=median(first.cpu),
        processor_of_slowest=median(slowest.cpu),
    )
