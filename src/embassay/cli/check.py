"""``embassay check``: compare a run with a baseline, and exit with an error where it is worse."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from embassay.cli.parameters import Several
from embassay.errors import SpecError


def check(
    run: Path,
    *,
    baseline: Path,
    config: Path | None = None,
    on: Several = [],  # noqa: B006
    margin: Several = [],  # noqa: B006
    floor: Several = [],  # noqa: B006
    junit: Path | None = None,
    markdown: Path | None = None,
    json: Path | None = None,
    inconclusive: Literal["pass", "fail"] | None = None,
) -> int:
    """Check that no encoder of a run is worse than in a baseline; exit code 0 pass, 1 regression, 4 inconclusive.

    The headline metrics are checked with their default margins (the largest acceptable loss). Exit code 3: an
    encoder of the run failed.

    Parameters
    ----------
    run
        The run's folder.
    baseline
        What 'embassay bless' has written, or the folder of another run. Encoders are compared by label.
    config
        TOML file with a table [check]: margins, floors, on, inconclusive.
    on
        DIAGNOSTIC or CORPUS to check, repeatable; all by default.
    margin
        METRIC=X, repeatable: check this metric too, or with another margin; 0.02 is 2 points of a share.
    floor
        METRIC=X, repeatable: a value below X is a regression; where lower is better, a value above X.
    junit
        JUnit XML file to write.
    markdown
        Markdown file to write, for a comment on a pull request.
    json
        JSON file to write.
    inconclusive
        Exit with 0 (pass) or 1 (fail) where the check is inconclusive.
    """
    from embassay.comparison import gate, gate_files
    from embassay.run.config import CheckSettings, read

    settings = CheckSettings()
    if config is not None:
        settings = read(config).check
    # The command line overrides the config file.
    margins = {**settings.margins, **_numbers("margin", margin)}
    floors = {**settings.floors, **_numbers("floor", floor)}
    outcome = gate.check(
        run,
        baseline,
        margins=margins,
        floors=floors,
        on=on or settings.on,
        inconclusive=inconclusive or settings.inconclusive or "",
    )
    gate_files.write_files(outcome, {"junit": junit, "markdown": markdown, "json": json})
    for line in gate_files.terminal_lines(outcome):
        print(line)  # noqa: T201
    return outcome.exit_code


def _numbers(flag: str, values: list[str]) -> dict[str, float]:
    """Return the number of each METRIC=X; a name may hold = itself, so the last one counts."""
    numbers = {}
    for value in values:
        name, _, number = value.rpartition("=")
        message = f"--{flag} {value}: write METRIC=X with a number, such as Success@5=0.02"
        if not name:
            raise SpecError(message)
        try:
            numbers[name] = float(number)
        except ValueError:
            raise SpecError(message) from None
    return numbers
