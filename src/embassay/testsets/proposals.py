"""Groups of sentences that are proposed to people on a sheet, from which a test set is built."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import InputError, SourceError
from embassay.corpora.io.folders import Listing
from embassay.run.resolve import load_encoder
from embassay.testsets.base import Advance, Reasons, silent
from embassay.testsets.files import check_free, write_files
from embassay.testsets.kinds.groups import ProposedSentence, proposal_sheet, propose
from embassay.testsets.sources import SourceSentence, lines_of, read_sentences, usable

TOPIC = ".txt.data"
"""How the names of the topics of Opinosis end (Ganesan et al. 2010): texts of one sentence a line."""


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
    by_hand: bool = False,
    overwrite: bool = False,
    advance: Advance = silent,
) -> Proposal:
    """Write the sheet of the groups that an encoder proposes, or of all sentences.

    Parameters
    ----------
    source, column
        The sentences, as :func:`~embassay.testsets.sources.read_sentences` reads them, or the folder of the topics of
        Opinosis.
    out
        The sheet, CSV.
    encoder
        The encoder's spec; empty if none proposes groups.
    threshold
        The cosine that every two sentences of a group exceed.
    by_hand
        Whether the sheet has the sentences without a group too.

    Raises
    ------
    InputError
        If the sentences or the encoder cannot be used, or no group is proposed.
    """
    check_free((out,), overwrite)
    sentences, rejected = usable(topics(source) if source.is_dir() else read_sentences(source, column))
    candidates: tuple[ProposedSentence, ...] = ()
    if encoder:
        candidates = propose(sentences, load_encoder(encoder), threshold=threshold, advance=advance)
    grouped = {candidate.source for candidate in candidates}
    rest = [ProposedSentence("", sentence, confirmed=True) for sentence in sentences if sentence not in grouped]
    if not candidates and not by_hand:
        problem = f"no three of its {len(sentences):,} sentences have pairwise cosines above {threshold:g}"
        raise InputError(f"{source}: {problem}; use a lower --threshold")
    write_files({out: proposal_sheet([*candidates, *rest] if by_hand else candidates)})
    groups = {candidate.group for candidate in candidates}
    return Proposal(len(groups), len(candidates), len(sentences), rejected)


def topics(folder: Path) -> tuple[SourceSentence, ...]:
    """Return the sentences of the topics of Opinosis as released, ``&`` for ``&amp;``; the topic is the unit.

    Raises
    ------
    SourceError
        If the folder has no such file, or one is not UTF-8.
    """
    sentences = list[SourceSentence]()
    for path in Listing().files(folder):
        if path.name.endswith(TOPIC):
            for number, line in lines_of(path):
                sentences.append(SourceSentence(html.unescape(line), number, path.name.removesuffix(TOPIC)))
    if not sentences:
        raise SourceError(f"this folder has no file {TOPIC} with sentences", folder)
    return tuple(sentences)
