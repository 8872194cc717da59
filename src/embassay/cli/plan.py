"""``embassay plan``: how many questions it takes."""

from __future__ import annotations

from pathlib import Path

from embassay.cli.parameters import FINE, Diagnostics, Out


def plan(
    run: Path,
    *,
    difference: float | None = None,
    power: float = 0.8,
    diagnostic: Diagnostics = [],  # noqa: B006
    out: Out | None = None,
) -> int:
    """Say which differences a finished run can show, and how many items another one takes.

    Parameters
    ----------
    run
        The run's folder.
    difference
        The true difference to plan for, as a fraction: 0.03 is 3 points.
    power
        Probability of detecting that difference (statistical power).
    diagnostic
        Only this diagnostic, repeatable.
    out
        File to write, with the suffix .json.
    """
    from embassay.comparison.plan import plan as plan_sizes
    from embassay.comparison.plan_views import as_json, show
    from embassay.core.errors import SpecError, say
    from embassay.core.store.canonical import write
    from embassay.core.store.paths import output_path
    from embassay.reports.terminal import stdout

    path = None
    if out is not None:
        path = output_path(out)
        if path.suffix != ".json":
            raise SpecError(f"-o {path.name}: the suffix must be .json")
    sizes = plan_sizes(run, difference, power=power, diagnostics=diagnostic)
    show(sizes, stdout())
    if path is not None:
        write(path, as_json(sizes))
        say(f"plan: {path}")
    return FINE
