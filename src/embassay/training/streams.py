"""Random streams of torch, named by their purpose; the previous state is restored afterwards."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from embassay.randomness import generator


def seed_of(seed: int, *purpose: str) -> int:
    """Return the seed of torch's stream for a purpose, below 2**63."""
    return int(generator(seed, "adapt", *purpose).integers(2**63))


def seed_torch(seed: int, *purpose: str) -> None:
    """Seed torch on all devices. Only use it inside :func:`own_state`."""
    import torch

    number = seed_of(seed, *purpose)
    torch.set_rng_state(torch.Generator().manual_seed(number).get_state())
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(number)
    if torch.backends.mps.is_available():
        torch.mps.manual_seed(number)


@contextmanager
def drawn(seed: int, *purpose: str) -> Iterator[None]:
    """Take torch's random numbers in this context, for example for new weights, from the stream of a purpose."""
    with own_state():
        seed_torch(seed, *purpose)
        yield


@contextmanager
def own_state() -> Iterator[None]:
    """Restore the random state of torch, numpy and random afterwards."""
    import torch

    before, numbers = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(before)
        np.random.set_state(numbers)  # noqa: NPY002
