"""What a question takes and costs with each set-up, compared with what it is built on; docs/setups.md has the terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from embassay.findings import templates
from embassay.formatting import two_digits
from embassay.result import Result, Verdict

Latency: TypeAlias = Mapping[tuple[str, str], float]
"""Milliseconds of a question by encoder and corpus, with all parts, where they are known.

For an empty corpus, those of an encoder for one text alone, and of a set-up without its parts.
"""


def costs_of_steps(result: Result, verdict: Verdict, latency: Latency) -> dict[tuple[str, str], str]:
    """Say how long a question takes with each set-up, or its own step if its parts were not timed, and what it costs.

    Returns
    -------
    By question and encoder of the answer that says what it gains.
    """
    first, baseline = next(iter(verdict.candidates), ""), verdict.opponent("baseline").name
    records = {encoder.name: encoder for encoder in result.encoders}
    sentences = {}
    for name, record in records.items():
        if not record.step:
            continue
        part = verdict.opponent("part", name).name
        said = list[str]()
        total, before = latency.get((name, verdict.corpus)), latency.get((part, verdict.corpus))
        if total and before:
            times = two_digits(total / before)
            said.append(
                templates.TIME_OF_QUESTION.sentence(encoder=name, total=two_digits(total), times=times, part=part)
            )
        elif (name, "") in latency:
            milliseconds = two_digits(latency[name, ""])
            said.append(templates.TIME_OF_STEP.sentence(step=record.step, milliseconds=milliseconds))
        store = record.spec.split(",")[0]
        for other in result.encoders:
            of_other, *options = other.spec.split(",")
            is_exact = (of_other, other.parts) == (store, record.parts) and "index=none" in options
            if is_exact and other is not record and {(name, ""), (other.name, "")} <= latency.keys():
                times = two_digits(latency[other.name, ""] / latency[name, ""])
                said.append(templates.TIMES_AS_FAST.sentence(times=times, exact=other.name))
        price = record.question_price.get(verdict.corpus)
        if price and part:
            price_before = records[part].question_price.get(verdict.corpus)
            before_said = two_digits(price_before) if price_before else "nothing"
            said.append(templates.PRICE_OF_QUESTIONS.sentence(price=two_digits(price), before=before_said, part=part))
        question = f"Than {part}?" if (name, part) == (first, baseline) else f"{record.step.capitalize()} {name}?"
        if said:
            sentences[question, name] = " ".join(said)
    return sentences
