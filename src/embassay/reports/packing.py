"""Pack the data of charts for the page: columns instead of lines, and no more digits than a picture shows.

The page's script unpacks them. A column is a list of values, or an object for a regular one: ``{"same": value}``,
``{"cycle": block}`` for a block that repeats, ``{"each": values, "times": n}`` for values that come n times in turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from embassay.reports.charts import Spec

DIGITS = 4
"""Significant digits of a number in a chart."""
MANY = 50
"""From this many numbers on, those far below the largest one are rounded to its digits."""


def packed(spec: Spec) -> Spec:
    """Return a Vega-Lite specification whose data are packed, those of its layers too."""
    result = dict(spec)
    values = spec.get("data", {}).get("values")
    if values:
        columns = {field: packed_column([row.get(field) for row in values]) for field in values[0]}
        result["data"] = {"columns": columns, "rows": len(values)}
    if "layer" in spec:
        result["layer"] = [packed(layer) for layer in spec["layer"]]
    return result


def packed_column(column: Sequence[object]) -> object:
    """Return a column in its shortest form."""
    numbers = [value for value in column if isinstance(value, float)]
    largest = max(map(abs, numbers), default=0.0)
    if largest:
        decimals = None
        if len(numbers) >= MANY:
            decimals = DIGITS - 1 - math.floor(math.log10(largest))
        column = [_rounded(value, decimals) for value in column]
    if all(value == column[0] for value in column):
        return {"same": column[0]}
    times = _run_length(column)
    if times > 1:
        return {"each": list(column[::times]), "times": times}
    block = _block_length(column)
    if block:
        return {"cycle": list(column[:block])}
    return list(column)


def _rounded(value: object, decimals: int | None) -> object:
    """Round a float to ``decimals``, or for None to ``DIGITS`` significant digits; return other values as they are."""
    if not isinstance(value, float):
        return value
    rounded = float(f"{value:.{DIGITS}g}")
    if decimals is not None:
        rounded = round(value, decimals)
    # JSON writes 3.0 with two characters more than 3.
    if rounded.is_integer():
        return int(rounded)
    return rounded


def _run_length(column: Sequence[object]) -> int:
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


def _block_length(column: Sequence[object]) -> int:
    """Return the length of the block that the column repeats; 0 if it repeats none."""
    for length in range(1, len(column) // 2 + 1):
        if len(column) % length or column[length] != column[0]:
            continue
        # A column repeats a block if it is the same after a shift by the block's length.
        if column[length:] == column[:-length]:
            return length
    return 0
