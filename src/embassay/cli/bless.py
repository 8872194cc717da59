"""``embassay bless``: write what a repository commits as the baseline of ``embassay check``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from embassay.cli.parameters import FINE, Flag, Out, Several, numbers
from embassay.core.errors import say


def bless(
    run: Path,
    *,
    out: Out,
    margin: Several = [],  # noqa: B006
    pages: Literal["given", "sampled"] = "given",
    new_anchor: Flag = False,
) -> int:
    """Write a small copy of a run, to be committed as the baseline of 'embassay check'.

    Parameters
    ----------
    run
        The run's folder.
    out
        Folder to write; an earlier baseline in it is replaced, and the first one stays in its folder 'anchor'.
    margin
        METRIC=X, repeatable: the smallest loss that matters; 0.02 is 2 points of a share. By default the smallest that
        this test set can rule out.
    pages
        Whether your documents are all there are (given), or a sample of many more (sampled).
    new_anchor
        Begin again: 'embassay check' compares with the baseline and with the first one, its anchor.
    """
    from embassay.comparison.baseline import bless as write_baseline
    from embassay.comparison.baseline import what_a_baseline_shows

    margins = numbers("margin", margin)
    folder = write_baseline(run, out, new_anchor=new_anchor, margins=margins, pages=pages)
    for sentence in what_a_baseline_shows(folder):
        say(sentence)
    say(f"baseline: {folder}")
    return FINE
