"""What the options of encoders and trainers may be."""

from __future__ import annotations

import math

from embassay.core.errors import SpecError


def check_whole(place: str, **values: int | None) -> None:
    """Raise SpecError for a number below 1; None is allowed."""
    for name, value in values.items():
        if value is not None and value < 1:
            raise SpecError(f"{place}, option {name!r}: must be 1 or more, is {value}")


def check_amounts(place: str, **values: float | None) -> None:
    """Raise SpecError for an amount that is not positive and finite. None is allowed, and 0 for a price."""
    for name, value in values.items():
        if value is None or (name == "price" and value == 0):
            continue
        if not (math.isfinite(value) and value > 0):
            raise SpecError(f"{place}, option {name!r}: must be more than 0, is {value}")
