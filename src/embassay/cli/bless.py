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
    new_anchor: Flag = False,
) -> int:
    """Write a small copy of a run, to be committed as the baseline of 'embassay check'.

    Parameters
    ----------
    run
        The run's folder.
    out
        Folder to write; an earlier baseline in it is replaced, and the first one stays in its folder 'anchor'.
    texts
        Keep the texts of the items, each cut after 400 characters. They then become part of the repository.
    new_anchor
        Begin again: 'embassay check' compares with the baseline and with the first one, its anchor.
    """
    from embassay.comparison.baseline import bless as write_baseline
    from embassay.comparison.gate_words import what_a_baseline_shows

    folder, size = write_baseline(run, out, texts=texts, new_anchor=new_anchor)
    for sentence in what_a_baseline_shows(folder):
        say(sentence)
    say(f"baseline: {folder} ({size / 1000:,.0f} kB)")
    return FINE
