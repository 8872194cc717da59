"""What the options of a service may be."""

from __future__ import annotations

import math
import os
import re

from embassay.endpoint import Endpoint
from embassay.errors import SpecError

OPENAI_KEY = "OPENAI_API_KEY"


def check_whole(place: str, **values: int | None) -> None:
    """Refuse a number under 1."""
    for name, value in values.items():
        if value is not None and value < 1:
            raise SpecError(f"{place}, option {name!r}: must be 1 or more, is {value}")


def check_amounts(place: str, **values: float | None) -> None:
    """Refuse an amount that is none; only a price may be 0."""
    for name, value in values.items():
        if value is not None and not (math.isfinite(value) and (value > 0 or (name == "price" and value == 0))):
            raise SpecError(f"{place}, option {name!r}: must be more than 0, is {value}")


def check_key(place: str, name: str, endpoint: Endpoint) -> None:
    """Refuse a key in the place of a variable's name, without repeating it, and a variable that is not set."""
    if not name or os.environ.get(name, "").strip():
        return
    looks_like_a_key = any(len(part) >= 16 and re.search(r"\d", part) for part in name.split("_"))
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name) or looks_like_a_key:
        raise SpecError(f"{place}, option 'key_env': takes the name of a variable ({OPENAI_KEY}), not a key")
    if not (name == OPENAI_KEY and endpoint.address.loopback) and not endpoint.address.user:
        raise SpecError(f"{place}: the environment variable {name} is not set; key_env= names another, or none")
