"""What a candidate saves, in words: bytes, time and price beside those of another one."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import TypeAlias

from embassay.core.formatting import counted, two_digits
from embassay.core.result import Result, Verdict
from embassay.reports.findings import templates
from embassay.reports.findings.speed import MeasuredTimes

Latency: TypeAlias = Mapping[tuple[str, str], float]
"""Milliseconds of a question by encoder and corpus, with all parts, where they are known.

For an empty corpus, those of an encoder for one text alone, and of a set-up without its parts.
"""
PARTS = ("half", "a third of", "a quarter of", "a fifth of", "a sixth of", "a seventh of", "an eighth of", "a ninth of")
"""A half, a third … in words, and so on."""
CLOSE = 0.1
"""How far from 1/n a ratio may be that is written as such, as a share of 1/n."""


def written_ratio(ratio: float) -> str:
    """Write a ratio before a noun: ``half``, ``a third of``, ``12% of``, ``2.5 times``."""
    if ratio > 1:
        return f"{two_digits(ratio)} times"
    whole = round(1 / ratio)
    if 2 <= whole < len(PARTS) + 2 and abs(ratio * whole - 1) <= CLOSE:
        return PARTS[whole - 2]
    return f"{two_digits(100 * ratio).removesuffix('.0')}% of"


def time_beside(encoder: str, other: str, times: Mapping[str, MeasuredTimes]) -> str:
    """Say how long an encoder takes beside another one; empty where they were not timed alike, or share one model."""
    if encoder not in times or other not in times:
        return ""
    one, another = times[encoder], times[other]
    if one.model == another.model or one.device != another.device:
        return ""
    seconds, of_other = median(one.wall), median(another.wall)
    return templates.TIME_OF_TEXTS.sentence(
        share=written_ratio(seconds / of_other),
        other=other,
        texts=counted(one.texts, "text"),
        seconds=seconds,
        seconds_of_other=of_other,
    )


def question_beside(result: Result, verdict: Verdict, encoder: str, base: str, latency: Latency) -> str:
    """Say what a question takes and costs with a set-up, and with what it is derived from; empty where unknown."""
    sentences = []
    milliseconds, before = latency.get((encoder, verdict.corpus)), latency.get((base, verdict.corpus))
    if milliseconds and before:
        fields = {"milliseconds": two_digits(milliseconds), "before": two_digits(before)}
        sentences.append(templates.TIME_OF_QUESTION.sentence(base=base, **fields))
    price_of = {record.name: record.question_price.get(verdict.corpus) for record in result.encoders}
    price, price_before = price_of.get(encoder), price_of.get(base)
    if price:
        fields = {"price": two_digits(price), "before": two_digits(price_before) if price_before else "nothing"}
        sentences.append(templates.PRICE_OF_QUESTIONS.sentence(base=base, **fields))
    return " ".join(sentences)
