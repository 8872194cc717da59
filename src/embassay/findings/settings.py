"""The finding of a run that varies settings: which settings differ from the reference, and what they cost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import takewhile

from embassay.findings import templates
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
    sentences = [
        _comparison(record, reference, differences[record.name], headline, verdict.corpus)
        for record in different[:MOST]
    ]
    if len(different) > MOST:
        more = counted(len(different) - MOST, "more setting")
        sentences.append(templates.MORE_SETTINGS.sentence(settings=more, reference=reference.name))
    if not_different:
        detectable = [verdict.detectable(differences[record.name]) for record in not_different]
        known = [difference for difference in detectable if difference is not None]
        sentences.append(_not_shown(not_different, reference, known, difference_format(headline.format)))
    cheaper = list(_cheaper(others, reference, verdict, difference_format(headline.format)))
    sentences += cheaper
    template = templates.SETTINGS if different or cheaper else templates.SETTINGS_NOT_SHOWN
    yield template.finding(verdict, style=headline.format, sentences=" ".join(sentences))


def base(record: EncoderRecord) -> str:
    """Return the label of an encoder without its setting."""
    # "m,dim=64" -> "m"
    return record.name.removesuffix(f",{record.setting}")


def smallest_not_worse(
    size: int, encoders: Iterable[EncoderRecord], corpus: str, not_worse: Collection[str]
) -> tuple[str, dict[str, int]]:
    """Return the smallest index that is shown to be good enough, and the bytes of all encoders with a smaller one.

    They are taken from the largest down, equal ones in the given order, up to the first that is not shown to be not
    worse. This order does not depend on the values: so all claims together are wrong in 5 % of the cases at most.
    """
    smaller = {}
    for encoder in encoders:
        needed = encoder.index_bytes(corpus)
        if needed is not None and needed < size:
            smaller[encoder.name] = needed
    largest_first = sorted(smaller, key=smaller.__getitem__, reverse=True)
    passed = takewhile(lambda name: name in not_worse, largest_first)
    return min(passed, key=smaller.__getitem__, default=""), smaller


def _cheaper(
    others: Sequence[EncoderRecord], reference: EncoderRecord, verdict: Verdict, style: Format
) -> Iterator[str]:
    """Yield which setting with a smaller index is shown not to be worse than the reference."""
    size = reference.index_bytes(verdict.corpus) or 0
    chosen, smaller = smallest_not_worse(size, others, verdict.corpus, verdict.not_worse_than_reference)
    # Where the reference is the best, the finding on smaller indexes says so.
    if chosen and reference.name != verdict.best:
        yield templates.CHEAPER_SETTING.sentence(
            setting=chosen.removeprefix(f"{base(reference)},"),
            reference=reference.name,
            margin=number(verdict.margin, style),
            share=smaller[chosen] / size,
        )


def _comparison(
    record: EncoderRecord, reference: EncoderRecord, difference: Difference, headline: Column, corpus: str
) -> str:
    """Say by how much a setting differs from the reference, and how many times its bytes it takes."""
    style = difference_format(headline.format)
    size, size_of_reference = record.index_bytes(corpus), reference.index_bytes(corpus)
    price = ""
    if size and size_of_reference and size != size_of_reference:
        price = f", with {size / size_of_reference:.2g} times the bytes"
    return templates.SETTING_DIFFERS.sentence(
        setting=record.setting,
        reference=reference.name,
        heading=headline.heading,
        difference=number(abs(difference.difference or 0.0), style),
        direction="higher" if difference.is_higher else "lower",
        interval=interval(difference.low, difference.high, style, signed=True),
        p=p_value(difference.p),
        price=price,
    )


def _not_shown(
    same: Sequence[EncoderRecord], reference: EncoderRecord, detectable: Sequence[float], style: Format
) -> str:
    """Say which settings are not shown to differ from the reference.

    The sentence has the largest of their minimum detectable differences: one below it may have been missed.
    """
    settings = f"{same[0].setting} is" if len(same) == 1 else f"{counted(len(same), 'setting')} are"
    missed = ""
    if detectable:
        missed = f"; the minimum detectable difference is {number(max(detectable), style)}"
    return templates.SETTING_NOT_SHOWN.sentence(settings=settings, reference=reference.name, detectable=missed)
