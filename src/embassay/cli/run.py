"""``embassay run``: its flags, and the request that they make."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import make_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from cyclopts import Parameter

from embassay.cli.parameters import FINE, Corpora, Diagnostics, Encoders, Flat, Out
from embassay.run.options import RunOptions

TYPES = {**get_type_hints(RunOptions), "cache": Path | None}
NEGATIVES = {
    "baselines": "--no-baselines",
    "texts": "--no-texts",
    "robustness": "--no-trust",
    "cache": "--no-cache",
}
"""The flags that switch off what is on by default in a command."""
DEFAULTS: dict[str, object] = {"cache": "default", "trust_remote_code": ()}
"""The flags that are not None where they were not given: None is no cache."""


def _flags() -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, type, default) of the flags of all options. The default says that a flag was not given.

    It is not the default of the option, because a config file sets what is not given.
    """
    for name, kind in TYPES.items():
        parameter = Parameter(negative=NEGATIVES.get(name, ""), consume_multiple=False, show_default=False)
        yield name, Annotated[kind | None, parameter], DEFAULTS.get(name)


RunFlags = make_dataclass("RunFlags", _flags(), namespace={"__doc__": RunOptions.__doc__, "__module__": __name__})
NOT_GIVEN = RunFlags()


def given_options(flags: object) -> dict[str, Any]:
    """Return the options that were given on the command line, by the names of ``RunOptions``."""
    return {name: value for name, value in vars(flags).items() if value != getattr(NOT_GIVEN, name)}


def run(
    config: Path | None = None,
    *,
    encoder: Encoders = [],  # noqa: B006
    corpus: Corpora = [],  # noqa: B006
    diagnostic: Diagnostics = [],  # noqa: B006
    out: Out | None = None,
    flags: Annotated[RunFlags, Flat] = NOT_GIVEN,  # type: ignore[valid-type]
) -> int:
    """Assay encoders on corpora: answers and a scorecard in the terminal, all figures in an HTML report.

    Parameters
    ----------
    config
        TOML file with encoders, corpora, diagnostics and settings (docs/guide.md); command-line options override it.
    encoder
        [NAME=]SPEC[,option=value…], repeatable; see 'embassay list' and docs/setups.md;
        default: all-MiniLM-L6-v2 if its weights are on this machine.
    corpus
        [NAME=]SOURCE[,option=value…], repeatable; the built-in corpora by default.
    diagnostic
        DIAGNOSTIC[,option=value…], repeatable; by default the profile's that fit the corpora.
    out
        Run folder; embassay-run by default. A run in it is continued; encoders and corpora may be added.
    """
    started = time.perf_counter()
    from embassay.run.command import carry_out
    from embassay.run.request import RunRequest

    inputs = {"encoders": encoder, "corpora": corpus, "diagnostics": diagnostic, "out": out}
    given_inputs = {name: value for name, value in inputs.items() if value}
    request = RunRequest.of(config, **given_inputs, **given_options(flags))
    if not request.dry_run:
        return carry_out(request, started)
    from embassay.cli.look import show

    show(request, default=True)
    return FINE
