"""Random streams, named by their purpose.

A stream depends on the seed and on its purpose, never on the order in which streams are created. A new diagnostic,
model or corpus therefore changes no random number of another.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np


def generator(seed: int, *purpose: str) -> np.random.Generator:
    """Return the random generator of one stream; equal arguments give equal numbers.

    Parameters
    ----------
    seed
        The seed of the run, 0 or more.
    purpose
        Words that say what the numbers are for, for example ``"bootstrap", "semantoneg@3fa1"``.
    """
    digest = hashlib.blake2b(json.dumps(purpose).encode(), digest_size=16).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.Generator(np.random.PCG64([seed, *words]))
