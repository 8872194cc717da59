"""The finding of a run that varies settings: which of them differ from the reference, and at what price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from embassay.formatting import counted, interval, number, p_value
from embassay.layout import Column, Format
from embassay.result import EncoderRecord, Finding, Result, Verdict

ALPHA = 0.05
MOST = 3
"""Settings that are shown to differ and that a finding states at most."""
Gap = Mapping[str, float | None]


def setting_findings(result: Result, verdict: Verdict, headline: Column) -> Iterator[Finding]:
    """Yield how the settings of the reference encoder compare with each other; nothing where it has one only.

    Parameters
    ----------
    headline
        How the quantity that encoders are ranked by is called and written.
    """
    records = {record.name: record for record in result.encoders}
    reference = records.get(verdict.reference or "")
    if reference is None or not reference.setting:
        return
    others = []
    for name, gap in verdict.against_reference.items():
        if records[name].setting and base(records[name]) == base(reference) and gap["p"] is not None:
            others.append(records[name])
    if not others:
        return

    style: Format = "points" if headline.format == "percent" else headline.format
    different = []
    for record in others:
        p = verdict.against_reference[record.name]["p"]
        if p is not None and p <= ALPHA:
            different.append(record)
    different.sort(key=lambda record: -(verdict.against_reference[record.name]["difference"] or 0.0))
    sentences = []
    for record in different[:MOST]:
        gap = verdict.against_reference[record.name]
        sentences.append(_difference(record, reference, gap, verdict.corpus, headline.heading, style))
    if len(different) > MOST:
        sentences.append(f"{counted(len(different) - MOST, 'more setting')} shown to differ from {reference.setting}.")
    same = [record for record in others if record not in different]
    if same:
        sentences.append(_not_shown(same, reference, verdict, style))
    yield Finding(
        "high",
        " ".join(sentences),
        "Settings",
        verdict.diagnostic,
        verdict.corpus,
        quantity=verdict.quantity,
        subset=verdict.subset,
        condition=verdict.condition,
        format=headline.format,
    )


def base(record: EncoderRecord) -> str:
    """Return the label of an encoder without its setting."""
    return record.name.removesuffix(f",{record.setting}")


def _difference(
    record: EncoderRecord, reference: EncoderRecord, gap: Gap, corpus: str, heading: str, style: Format
) -> str:
    """Say by how much a setting differs from the reference, and what it costs."""
    difference = gap["difference"] or 0.0
    direction = "higher" if difference > 0 else "lower"
    ends = interval(gap["low"], gap["high"], style, signed=True)
    sentence = (
        f"{record.setting}: {heading} {number(abs(difference), style)} {direction} than {reference.setting} {ends}, "
        f"p (Holm) {p_value(gap['p'])}"
    )
    return f"{sentence}{_price(record, reference, corpus)}."


def _price(record: EncoderRecord, reference: EncoderRecord, corpus: str) -> str:
    """Say how many times the vectors or bytes of the reference a setting takes; nothing where it takes as many."""
    vectors = _ratio(record.vectors.get(corpus), reference.vectors.get(corpus))
    size = _ratio(record.vector_bytes, reference.vector_bytes)
    if size == 1:
        return "" if vectors == 1 else f", with {vectors:.2g} times the vectors"
    return f", with {vectors * size:.2g} times the bytes"


def _ratio(one: int | None, other: int | None) -> float:
    return one / other if one and other else 1.0


def _not_shown(same: list[EncoderRecord], reference: EncoderRecord, verdict: Verdict, style: Format) -> str:
    """Say which settings are not shown to differ, how large a difference could have been, and which is cheapest."""
    if len(same) == 1:
        sentence = f"{same[0].setting} is not shown to differ from {reference.setting}"
    else:
        sentence = f"{counted(len(same), 'setting')} are not shown to differ from {reference.setting}"
    detectable = [verdict.against_reference[record.name].get("smallest_difference") for record in same]
    known = [value for value in detectable if value is not None]
    if known:
        sentence += f"; the minimum detectable difference is {number(max(known), style)}"
    sizes = {}
    for record in (reference, *same):
        vectors = record.vectors.get(verdict.corpus)
        if vectors and record.vector_bytes:
            sizes[record.setting] = vectors * record.vector_bytes
    if len(sizes) == len(same) + 1 and len(set(sizes.values())) > 1:
        smallest = min(sizes, key=lambda setting: sizes[setting])
        sentence += f"; of these and {reference.setting}, {smallest} needs the fewest bytes for its vectors"
    return f"{sentence}."
