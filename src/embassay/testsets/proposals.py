"""What is proposed to people on a sheet before a test set is built: groups, originals, replacements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from embassay.errors import InputError
from embassay.run.resolve import load_encoder
from embassay.testsets.base import Advance, Reasons, silent
from embassay.testsets.files import check_free, write_files
from embassay.testsets.kinds import minimal_pairs
from embassay.testsets.kinds.groups import propose, sheet_of
from embassay.testsets.options import Grammar, Proposed
from embassay.testsets.sources import read_sentences, usable


@dataclass(frozen=True)
class Proposal:
    """The numbers of groups, of sentences in them and of all sentences, and how many were rejected by reason."""

    groups: int
    grouped: int
    sentences: int
    rejected: Reasons


def propose_groups(
    source: Path,
    out: Path,
    encoder: str,
    *,
    column: str = "",
    threshold: float = 0.8,
    overwrite: bool = False,
    advance: Advance = silent,
) -> Proposal:
    """Write the sheet of the groups that an encoder proposes.

    Parameters
    ----------
    source, column
        The sentences, as :func:`~embassay.testsets.sources.read_sentences` reads them.
    out
        The sheet, CSV.
    encoder
        The encoder's spec.
    threshold
        The cosine that every two sentences of a group exceed.

    Raises
    ------
    InputError
        If the sentences or the encoder cannot be used, or no group is proposed.
    """
    check_free((out,), overwrite)
    sentences, rejected = usable(read_sentences(source, column))
    candidates = propose(sentences, load_encoder(encoder), threshold=threshold, advance=advance)
    if not candidates:
        problem = f"no three of its {len(sentences):,} sentences have pairwise cosines above {threshold:g}"
        raise InputError(f"{source}: {problem}; use a lower --threshold")
    write_files({out: sheet_of(candidates)})
    groups = {candidate.group for candidate in candidates}
    return Proposal(len(groups), len(candidates), len(sentences), rejected)


def propose_for_minimal_pairs(
    source: Path, out: Path, what: Proposed, grammar: Grammar, *, column: str = "", overwrite: bool = False
) -> int:
    """Write the sheet of originals or of replacements, and return the number of its rows.

    Raises
    ------
    InputError
        If the sentences cannot be used, or nothing is proposed.
    """
    check_free((out,), overwrite)
    sentences, _ = usable(read_sentences(source, column))
    sheet = minimal_pairs.propose(sentences, what, grammar)
    rows = sheet.count(b"\r\n") - 1
    if not rows:
        raise InputError(f"{source}: no {what} to propose from its {len(sentences):,} sentences")
    write_files({out: sheet})
    return rows
