"""``embassay plan``: how many questions it takes."""

from __future__ import annotations

from pathlib import Path

from embassay.cli.parameters import FINE, Diagnostics, Out, Several


def plan(
    run: Path,
    *,
    difference: float | None = None,
    power: float = 0.8,
    diagnostic: Diagnostics = [],  # noqa: B006
    unlabelled: Path | None = None,
    count: int = 50,
    out: Out | None = None,
    trust_remote_code: Several = [],  # noqa: B006
) -> int:
    """Say which differences a finished run can show, how many items another one takes, and which to label first.

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
    unlabelled
        A table of questions without right documents: choose those to label first, half of them because the candidates
        disagree on them, half at random. They are written to -o, and added to it if it exists.
    count
        With --unlabelled: how many questions to choose.
    out
        File to write: .json for the plan; .csv for the questions to label.
    trust_remote_code
        With --unlabelled: label of an encoder of the run that may run code or send texts to a service, repeatable.
    """
    from embassay.comparison.labelling import LabellingFile, choose
    from embassay.comparison.plan import plan as plan_sizes
    from embassay.comparison.plan_views import as_json, show
    from embassay.errors import SpecError, say
    from embassay.reports.terminal import stdout
    from embassay.store.canonical import write
    from embassay.store.paths import output_path

    suffix = ".json"
    if unlabelled is not None:
        suffix = ".csv"
        if out is None:
            raise SpecError("--unlabelled needs -o FILE.csv, the file of the questions to label")
    path = None
    if out is not None:
        path = output_path(out)
        if path.suffix != suffix:
            raise SpecError(f"-o {path.name}: the suffix must be {suffix}")
    sizes = plan_sizes(run, difference, power=power, diagnostics=diagnostic)
    show(sizes, stdout())
    if path is None:
        return FINE
    if unlabelled is None:
        write(path, as_json(sizes))
        say(f"plan: {path}")
        return FINE
    chosen = choose(run, unlabelled, count, trust_remote_code, earlier=LabellingFile.read(path))
    write(path, chosen.as_csv())
    say(f"{chosen.summary}: {path}")
    return FINE
