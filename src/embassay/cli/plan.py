"""``embassay plan``: how many questions it takes."""

from __future__ import annotations

from pathlib import Path

from embassay.cli.parameters import FINE


def plan(run: Path, *, difference: float | None = None, power: float = 0.8) -> int:
    """Say which differences a finished run can show, and how many items another one takes.

    Parameters
    ----------
    run
        The run's folder.
    difference
        The true difference to plan for, as a fraction: 0.03 is 3 points.
    power
        Probability of detecting that difference (statistical power).
    """
    from embassay.comparison.plan import plan as plan_sizes
    from embassay.comparison.plan_views import show
    from embassay.reports.terminal import stdout

    show(plan_sizes(run, difference, power=power), stdout())
    return FINE
