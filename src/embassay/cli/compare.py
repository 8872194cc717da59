"""``embassay compare``: runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from embassay.cli.parameters import FINE, Flag, Out, Repeated


def compare(
    runs: list[Path],
    /,
    *,
    map: Annotated[list[str], Parameter(name="--map"), Repeated] = [],  # noqa: A002, B006 - the option's name
    out: Out | None = None,
    no_texts: Flag = False,
) -> int:
    """Compare finished runs on the items that both of them have; nothing is encoded.

    Encoders are paired across runs by label, and the newer one is compared with the older one. If no two runs share an
    encoder, runs of the same corpora are put together: each encoder is compared with the reference of the first run.

    Parameters
    ----------
    runs
        Folders of two or more runs, the oldest first.
    map
        OLD=NEW: compare the encoder OLD of an earlier run with NEW of a later one, repeatable.
    out
        Also write the comparison to this file: .md or .json.
    no_texts
        List flipped items by their ids only.
    """
    from embassay.comparison.compare import compare as compare_runs
    from embassay.comparison.views import SUFFIXES, show, write_comparison
    from embassay.core.errors import OutputError, SpecError, say
    from embassay.core.store.paths import output_path
    from embassay.reports.terminal import stdout

    mapping = {}
    for pair in map:
        old, _, new = pair.partition("=")
        if not (old and new) or old in mapping:
            raise SpecError(f"--map takes OLD=NEW, each OLD once, got {pair!r}")
        mapping[old] = new
    path = None
    if out is not None:
        path = output_path(out)
        # Checked before any work: a comparison of large runs takes minutes.
        if path.suffix not in SUFFIXES:
            raise OutputError(f"{path}: the suffix must be {' or '.join(SUFFIXES)}")
    comparison = compare_runs(runs, mapping, texts=not no_texts)
    show(comparison, stdout())
    if path is not None:
        write_comparison(comparison, path)
        say(f"comparison: {path}")
    return FINE
