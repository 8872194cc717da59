"""How long a question takes with each set-up, compared with what it is built on; docs/setups.md defines the times."""

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


def times_of_steps(result: Result, verdict: Verdict, latency: Latency) -> dict[tuple[str, str], str]:
    """Say how long a question takes with each set-up; where its parts were not timed, how long its own step takes.

    Returns
    -------
    By question and encoder of the answer that says what it gains.
    """
    first, baseline = next(iter(verdict.candidates), ""), verdict.opponent("baseline").name
    sentences = {}
    for name, step in ((encoder.name, encoder.step) for encoder in result.encoders if encoder.step):
        part = verdict.opponent("part", name).name
        question = f"Than {part}?" if (name, part) == (first, baseline) else f"{step.capitalize()} {name}?"
        total, before = latency.get((name, verdict.corpus)), latency.get((part, verdict.corpus))
        if total and before:
            sentences[question, name] = templates.TIME_OF_QUESTION.sentence(
                encoder=name, total=two_digits(total), times=two_digits(total / before), part=part
            )
        elif (name, "") in latency:
            milliseconds = two_digits(latency[name, ""])
            sentences[question, name] = templates.TIME_OF_STEP.sentence(step=step, milliseconds=milliseconds)
    return sentences
