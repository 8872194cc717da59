"""``embassay bless``: write what a repository commits as the baseline of ``embassay check``."""

from __future__ import annotations

from pathlib import Path

from embassay.cli.parameters import FINE, Flag, Out
from embassay.errors import say


def bless(
    run: Path,
    *,
    out: Out,
    texts: Flag = False,
) -> int:
    """Write a small copy of a run, to be committed as the baseline of 'embassay check'.

    Parameters
    ----------
    run
        The run's folder.
    out
        Folder to write; an earlier baseline in it is replaced.
    texts
        Keep the texts of the items, each cut after 400 characters. They then become part of the repository.
    """
    from embassay.comparison.baseline import bless as write_baseline

    folder, size = write_baseline(run, out, texts=texts)
    say(f"baseline: {folder} ({size / 1000:,.0f} kB)")
    return FINE
