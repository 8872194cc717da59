"""``embassay check``: compare a run with a baseline, and exit with an error where it is worse."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from embassay.cli.parameters import Flag, Several, numbers


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
    strict: Flag = False,
    pages: Literal["given", "sampled"] | None = None,
) -> int:
    """Check that no encoder of a run is worse than in a baseline; exit code 0 pass, 1 regression.

    The headline metrics are checked with the margins in the baseline. Exit code 3: an encoder of the run failed.

    Parameters
    ----------
    run
        The run's folder.
    baseline
        What 'embassay bless' has written, or the folder of another run. Encoders are compared by label.
    config
        TOML file with a table [check]: margins, floors, on, strict, pages.
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
    strict
        Exit with 4 where a loss of the margin cannot be excluded; by default that is a warning, and exits with 0.
    pages
        Whether your documents are all there are (given), or a sample of many more (sampled); by default as in the
        baseline, else given.
    """
    from embassay.comparison import gate, gate_files
    from embassay.run.config import CheckSettings, read

    settings = CheckSettings() if config is None else read(config).check
    # The command line overrides the config file.
    margins = {**settings.margins, **numbers("margin", margin)}
    floors = {**settings.floors, **numbers("floor", floor)}
    outcome = gate.check(
        run,
        baseline,
        margins=margins,
        floors=floors,
        on=on or settings.on,
        strict=strict or settings.strict,
        pages=pages or settings.pages,
    )
    gate_files.write_files(outcome, {"junit": junit, "markdown": markdown, "json": json})
    for line in gate_files.terminal_lines(outcome):
        print(line)  # noqa: T201
    return outcome.exit_code
