"""Figures in words: how numbers, intervals, p-values and lists are written, everywhere the same."""

from __future__ import annotations

import math
from collections.abc import Sequence

from embassay.core.errors import visible as visible
from embassay.core.layout import Format

DASH = "–"
POINTS = "points"
"""How percentage points are written after a number; ``point`` after 1."""
FORMATS = {
    "percent": (100, ".1f", "%"),
    "points": (100, ".1f", f" {POINTS}"),
    "number": (1, ",.3f", ""),
    "declared": (1, ",.3f", ""),
    "count": (1, ",.0f", ""),
}
"""By format what a number is multiplied by, how it is written, and its unit; a threshold is rounded down."""
OPEN = 1e-300
"""An end of an interval that is nearer to 0 is 0, and open: 0 does not belong to the interval."""
FUSED = 0.02
"""Thresholds below this are on the scale of fused lists, whose scores end at 1/61."""


def written_bytes(size: int) -> str:
    """Write a number of bytes with its unit: ``1.2 MB``."""
    # Imported here, because the statistics need no rich.
    from rich.filesize import decimal

    return decimal(size)


def number(value: float | None, style: Format = "percent", signed: bool = False) -> str:
    """Write one number: a share with one decimal, a number with three, a count with none; a dash for nothing."""
    if value is None:
        return DASH
    sign = "+" if signed else ""
    if style == "threshold":
        text, unit = f"{rounded_down(value):{sign},.5f}".removesuffix("00"), ""
    else:
        factor, digits, unit = FORMATS[style]
        text = f"{factor * value:{sign}{digits}}"
    if not any(digit in text for digit in "123456789"):
        text = text.lstrip("+-")  # what rounds to 0 has no sign
    return text.replace("-", "−") + unit


def of_100(value: float | None, low: float | None, high: float | None, items: int) -> str:
    """Write a share of questions for people, with its interval in whole numbers: ``87 of 100 questions [71, 95]``.

    Fewer questions are counted as they are: ``12 of 14 questions (86% [60, 96])``. Ties count in part.
    """
    if value is None:
        return DASH
    ends = "" if low is None or high is None else f" [{100 * low:.0f}, {100 * high:.0f}]"
    if items < 100:
        count = f"{value * items:.1f}".removesuffix(".0")
        return f"{count} of {items} questions ({100 * value:.0f}%{ends})"
    return f"{100 * value:.0f} of 100 questions{ends}"


def size_in_points(value: float) -> str:
    """Write the size of a difference of shares, such as a margin: ``2 points``, ``12.5 points``, ``0.25 points``."""
    points = 100 * value
    text = f"{points:.1f}".removesuffix(".0") if points >= 1 else f"{points:.2g}"
    return f"{text} {POINTS.removesuffix('s') if text == '1' else POINTS}"


def without_points(text: str) -> str:
    """Return a figure without its unit, for where the heading has it."""
    return text.replace(f" {POINTS}", "")


def difference_format(style: Format) -> Format:
    """Return how the difference of two values of a format is written: that of two shares in percentage points."""
    return "points" if style == "percent" else style


def rounded_down(threshold: float) -> float:
    """Return a threshold with three decimals: a slightly higher one could drop more than it may.

    Scores of fused lists, 1/61, 1/62 …, differ in the fourth, so small thresholds have five.
    """
    scale = 100_000 if abs(threshold) < FUSED else 1000
    return math.floor(scale * threshold) / scale


def interval(low: float | None, high: float | None, style: Format = "percent", signed: bool = False) -> str:
    """Write an interval without its unit: ``[1.4, 2.7]``, ``[>0, 2.7]`` without 0; nothing for none."""
    if low is None or high is None:
        return ""
    ends = []
    for end in (low, high):
        if 0 < abs(end) <= OPEN:
            ends.append(">0" if end > 0 else "<0")
        else:
            ends.append(without_points(number(end, style, signed).removesuffix("%")))
    return f"[{', '.join(ends)}]"


def with_interval(
    value: float | None, low: float | None, high: float | None, style: Format = "percent", signed: bool = False
) -> str:
    """Write a figure with its interval, if it has one: ``87.2% [85.0, 89.1]``."""
    return f"{number(value, style, signed)} {interval(low, high, style, signed)}".rstrip()


def p_value(p: float | None) -> str:
    """Write a p-value with two digits, never as 0."""
    if p is None:
        return DASH
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def names(labels: Sequence[str]) -> str:
    """Write a list: ``a, b and c``."""
    *others, last = labels or [""]
    return f"{', '.join(others)} and {last}" if others else last


def readable(text: str) -> str:
    """Write control characters and those that change the direction of writing as escapes, for the page.

    Unlike in a terminal, line breaks stay as they are.
    """
    return visible(text, keep="\n\t")


def shortened(text: str, longest: int) -> str:
    """Return a text of at most so many characters, its middle left out where it is longer."""
    if len(text) <= longest:
        return text
    head = (longest - 1) // 2
    return f"{text[:head]}…{text[head + 1 - longest :]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Write a number of things: ``1 item``, ``1,200 items``; the plural is given where it does not end in s."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


def two_digits(value: float) -> str:
    """Write a positive number with its first two digits: ``0.0042``, ``1.0``, ``1,200``."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:#.2g}" if rounded < 10 else f"{rounded:,.0f}"
