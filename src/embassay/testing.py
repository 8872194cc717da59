"""Assertions for your own pytest: ``from embassay.testing import assert_not_worse``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from embassay.comparison.gate import Check
    from embassay.core.result import Result

__all__ = ["assert_not_worse"]


def assert_not_worse(
    result: Result | str | Path,
    baseline: str | Path,
    *,
    margins: Mapping[str, float] | None = None,
    floors: Mapping[str, float] | None = None,
    on: Sequence[str] = (),
    strict: bool = False,
) -> Check:
    """Assert that no encoder is worse than in a baseline, by the rules of ``embassay check``.

    Parameters
    ----------
    result
        The result of :func:`embassay.assay`, or the folder of a run.
    baseline
        What ``embassay bless`` has written, or the folder of another run.
    margins
        By metric, the smallest loss that matters: ``{"Success@1": 0.02}`` is 2 points. The headline metrics are
        tested in any case, by default with the margins in the baseline.
    floors
        By metric, the smallest value that it may have; where lower is better, the largest.
    on
        Labels of diagnostics and corpora; only these are checked. All by default.
    strict
        Whether it fails where a loss of the margin cannot be excluded; by default that is a warning.

    Returns
    -------
    The check; its ``sentences`` say what was found.

    Raises
    ------
    AssertionError
        If the check fails; the message has one sentence for each metric that does not pass.
    InputError
        If the two cannot be compared.
    """
    __tracebackhide__ = True  # pytest shows the line of the caller
    from embassay.comparison.gate import check

    outcome = check(result, baseline, margins=margins, floors=floors, on=on, strict=strict)
    reasons = [sentence for sentence in outcome.sentences if not sentence.startswith("pass:")]
    if outcome.exit_code:
        raise AssertionError("\n".join(reasons))
    for reason in reasons:
        warnings.warn(reason, stacklevel=2)
    return outcome
