"""The finding of a run that varies settings: which settings differ from the reference, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from embassay.formatting import counted, difference_format, interval, number, p_value
from embassay.layout import Column, Format
from embassay.result import Difference, EncoderRecord, Finding, Result, Verdict

MOST = 3
"""Largest number of settings that a finding compares with the reference one by one."""


def setting_findings(result: Result, verdict: Verdict, headline: Column) -> Iterator[Finding]:
    """Yield how the reference encoder with other settings compares with the reference; nothing if there are none.

    If ``m,dim=64`` is the reference, ``m,dim=128`` is compared with it, and ``other,dim=64`` is not.

    Parameters
    ----------
    headline
        Name and format of the metric that encoders are ranked by.
    """
    records = {record.name: record for record in result.encoders}
    opponent = verdict.opponent("reference")
    reference = records.get(opponent.name)
    if reference is None or not reference.setting:
        return
    differences = opponent.tested
    compared = [records[name] for name in differences]
    others = [record for record in compared if record.setting and base(record) == base(reference)]
    if not others:
        return
    different = [record for record in others if differences[record.name].is_significant]
    not_different = [record for record in others if not differences[record.name].is_significant]

    different.sort(key=lambda record: differences[record.name].difference or 0.0, reverse=True)
    sentences = []
    for record in different[:MOST]:
        comparison = _comparison(record, reference, differences[record.name], headline)
        price = _price(record, reference, verdict.corpus)
        sentences.append(f"{comparison}{price}.")
    if len(different) > MOST:
        sentences.append(f"{counted(len(different) - MOST, 'more setting')} shown to differ from {reference.setting}.")
    if not_different:
        not_shown = _not_shown(not_different, reference, differences, difference_format(headline.format))
        sentences.append(f"{not_shown}.")
    yield Finding(
        "high",
        " ".join(sentences),
        "Settings",
        verdict.diagnostic,
        verdict.corpus,
        metric=verdict.metric,
        subset=verdict.subset,
        condition=verdict.condition,
        format=headline.format,
    )


def base(record: EncoderRecord) -> str:
    """Return the label of an encoder without its setting."""
    # "m,dim=64" -> "m"
    return record.name.removesuffix(f",{record.setting}")


def _comparison(record: EncoderRecord, reference: EncoderRecord, difference: Difference, headline: Column) -> str:
    """Say by how much a setting differs from the reference."""
    style = difference_format(headline.format)
    amount = number(abs(difference.difference or 0.0), style)
    direction = "higher" if difference.is_higher else "lower"
    ends = interval(difference.low, difference.high, style, signed=True)
    return (
        f"{record.setting}: {headline.heading} {amount} {direction} than {reference.setting} {ends}, "
        f"p (Holm) {p_value(difference.p)}"
    )


def _price(record: EncoderRecord, reference: EncoderRecord, corpus: str) -> str:
    """Say how many times the bytes of the reference's index a setting takes; nothing where it takes as many."""
    size = record.index_bytes(corpus)
    size_of_reference = reference.index_bytes(corpus)
    if not size or not size_of_reference or size == size_of_reference:
        return ""
    return f", with {size / size_of_reference:.2g} times the bytes"


def _not_shown(
    same: Sequence[EncoderRecord], reference: EncoderRecord, differences: Mapping[str, Difference], style: Format
) -> str:
    """Say which settings are not shown to differ from the reference.

    The sentence has the largest of their minimum detectable differences: one below it may have been missed.
    """
    if len(same) == 1:
        sentence = f"{same[0].setting} is not shown to differ from {reference.setting}"
    else:
        sentence = f"{counted(len(same), 'setting')} are not shown to differ from {reference.setting}"
    detectable = []
    for record in same:
        smallest_difference = differences[record.name].smallest_difference
        if smallest_difference is not None:
            detectable.append(smallest_difference)
    if detectable:
        sentence += f"; the minimum detectable difference is {number(max(detectable), style)}"
    return sentence
