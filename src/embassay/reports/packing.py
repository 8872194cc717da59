"""Pack the data of charts for the page: columns instead of lines, and no more digits than a picture shows.

The page's script unpacks them. A column is a list of values, or an object for a regular one: ``{"same": value}``,
``{"cycle": block}`` for a block that repeats, ``{"each": values, "times": n}`` for values that come n times in turn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

DIGITS = 4
"""Significant digits of a number in a chart."""
MANY = 50
"""From this many numbers on, those far below the largest one are rounded to its digits."""


def packed(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Vega-Lite specification whose data are packed, those of its layers too."""
    result = dict(spec)
    values = spec.get("data", {}).get("values")
    if values:
        columns = {field: packed_column([row.get(field) for row in values]) for field in values[0]}
        result["data"] = {"columns": columns, "rows": len(values)}
    if "layer" in spec:
        result["layer"] = [packed(layer) for layer in spec["layer"]]
    return result


def packed_column(column: Sequence[Any]) -> Any:
    """Return a column in its shortest form."""
    numbers = [value for value in column if isinstance(value, float)]
    largest = max(map(abs, numbers), default=0.0)
    if largest:
        decimals = DIGITS - 1 - math.floor(math.log10(largest))
        column = [_rounded(value, decimals if len(numbers) >= MANY else None) for value in column]
    if all(value == column[0] for value in column):
        return {"same": column[0]}
    times = _run_length(column)
    if times > 1:
        return {"each": list(column[::times]), "times": times}
    block = _block_length(column)
    if block:
        return {"cycle": list(column[:block])}
    return list(column)


def _rounded(value: Any, decimals: int | None) -> Any:
    """Return a number with so many decimals, or with ``DIGITS`` significant digits; anything else as it is."""
    if not isinstance(value, float):
        return value
    rounded = float(f"{value:.{DIGITS}g}") if decimals is None else round(value, decimals)
    return int(rounded) if rounded.is_integer() else rounded


def _run_length(column: Sequence[Any]) -> int:
    """Return how often each value comes in turn, if all come equally often; else 1."""
    times = 1
    while times < len(column) and column[times] == column[0]:
        times += 1
    if len(column) % times:
        return 1
    for start in range(0, len(column), times):
        if any(value != column[start] for value in column[start : start + times]):
            return 1
    return times


def _block_length(column: Sequence[Any]) -> int:
    """Return the length of the block that the column repeats; 0 if it repeats none."""
    for start in range(1, len(column) // 2 + 1):
        repeats = len(column) % start == 0 and column[start] == column[0]
        if repeats and column[start:] == column[:-start]:
            return start
    return 0
