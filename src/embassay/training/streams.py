"""Torch's random streams, named by their purpose, and put back as they were."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from embassay.randomness import generator


def seed_of(seed: int, *purpose: str) -> int:
    """Return the number that starts torch's stream of this purpose, below 2**63."""
    return int(generator(seed, "adapt", *purpose).integers(2**63))


def seed_torch(seed: int, *purpose: str) -> None:
    """Start torch's own streams, on all devices; only inside :func:`own_state`."""
    import torch

    number = seed_of(seed, *purpose)
    torch.set_rng_state(torch.Generator().manual_seed(number).get_state())
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(number)
    if torch.backends.mps.is_available():
        torch.mps.manual_seed(number)


@contextmanager
def drawn(seed: int, *purpose: str) -> Iterator[None]:
    """Draw what torch draws meanwhile, new weights for example, from the stream of this purpose."""
    with own_state():
        seed_torch(seed, *purpose)
        yield


@contextmanager
def own_state() -> Iterator[None]:
    """Put the state of the libraries' random streams back afterwards."""
    import torch

    before, numbers = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(before)
        np.random.set_state(numbers)  # noqa: NPY002
