"""Random streams, named by their purpose.

A stream depends on the seed and on what it is for, never on the order in which streams are asked for:
a new diagnostic, model or corpus moves no number of another.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np


def generator(seed: int, *purpose: str) -> np.random.Generator:
    """Return the generator of the stream (seed, purpose).

    Parameters
    ----------
    seed
        The run's seed, 0 or more.
    purpose
        Words that say what the numbers are for, for example ``"bootstrap", "semantoneg@3fa1"``.
    """
    digest = hashlib.blake2b(json.dumps(purpose).encode(), digest_size=16).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words])))
