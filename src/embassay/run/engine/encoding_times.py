"""How long encoders take for the same texts.

Other times do not compare encoders: texts differ in length, models are loaded, vectors come from a cache, and a machine
is busier at one time than at another. Here each encoder in turn encodes the same texts, in several rounds, without a
cache; loading its model and its first texts are not timed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embassay.core.samples.base import Text
from embassay.core.types import Encoder
from embassay.models.base import adopted
from embassay.run.engine.encode import encode

ROUNDS = 3
WARM_UP = 4
"""Texts that are encoded before the clock starts: the model is loaded for them, and its first batches are slow."""


@dataclass(frozen=True)
class EncodingTimes:
    """The seconds that an encoder took for all texts, by round.

    Attributes
    ----------
    wall, cpu
        As the clock shows, and of all cores of this process together.
    device
        Where its model runs; empty if it does not say so.
    """

    wall: tuple[float, ...]
    cpu: tuple[float, ...]
    device: str = ""


def encoding_times(encoders: Mapping[str, Encoder], texts: Sequence[Text]) -> dict[str, EncodingTimes]:
    """Time encoders in turn, and release each model after its turn, so that two large ones are never in memory.

    Parameters
    ----------
    encoders
        By label; they need not be fitted.
    texts
        Distinct (role, text).

    Raises
    ------
    EncoderError
        If an encoder fails.
    """
    wall: dict[str, list[float]] = {label: [] for label in encoders}
    cpu: dict[str, list[float]] = {label: [] for label in encoders}
    devices = {}
    for _ in range(ROUNDS):
        for label, encoder in encoders.items():
            encode(encoder, texts[:WARM_UP])
            wall_start, cpu_start = time.perf_counter(), time.process_time()
            encode(encoder, texts)
            wall[label].append(time.perf_counter() - wall_start)
            cpu[label].append(time.process_time() - cpu_start)
            devices[label] = str(adopted(encoder).route().get("device", ""))
            adopted(encoder).release()
    return {label: EncodingTimes(tuple(wall[label]), tuple(cpu[label]), devices[label]) for label in encoders}
