"""Groups of sentences that are proposed to people on a sheet, from which a test set is built."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from embassay.core.errors import InputError
from embassay.core.formatting import counted
from embassay.core.types import Encoder
from embassay.run.resolve import load_encoder
from embassay.stats.geometry.complete_linkage import complete_linkage
from embassay.testsets.files import check_free, write_files
from embassay.testsets.kinds.groups import CONFIRM, SMALLEST
from embassay.testsets.sheets import sheet_of
from embassay.testsets.sources import read_sentences, usable

GUIDELINES = (
    "Sentences of a group entail each other. (1) Ignore tense, transitional phrases, and discourse and pragmatic "
    "markers. (2) Distinguish how strong a statement is only coarsely. (3) Nearly equal quantities and qualities are "
    "the same. (4) A sentence that names what it is about, and one that only implies it, are in different groups. "
    "(5) So are a sentence with further information and one without it."
)
"""The heading of the sheet's last column: the guidelines of White et al. (2015, section 4.2)."""


def propose_groups(
    source: Path,
    out: Path,
    *,
    encoder: str = "",
    column: str = "",
    threshold: float = 0.8,
    by_hand: bool = False,
    overwrite: bool = False,
) -> list[str]:
    """Write the sheet of groups that people confirm: those that an encoder proposes, or all sentences.

    Parameters
    ----------
    source, column
        The sentences, as :func:`~embassay.testsets.sources.read_sentences` reads them.
    out
        The sheet, CSV.
    encoder
        SPEC[,option=value…] of the encoder that proposes groups; -o is then the sheet (CSV): fill in yes or no, or
        groups, and pass it as --from.
    threshold
        With -e: minimum cosine between any two sentences of a group.
    by_hand
        Write all sentences on the sheet, to be grouped by hand; with -e, those without a group come last.

    Returns
    -------
    How many groups are on the sheet, what was left out, and what people do with it.

    Raises
    ------
    InputError
        If the sentences or the encoder cannot be used, or no group is proposed.
    """
    check_free((out,), overwrite)
    sentences, rejected = usable(read_sentences(source, column))
    texts = [sentence.text for sentence in sentences]
    groups = list[list[str]]()
    if encoder:
        groups = propose(texts, load_encoder(encoder), threshold)
    if not groups and encoder and not by_hand:
        problem = f"no three of its {len(texts):,} sentences have pairwise cosines above {threshold:g}"
        raise InputError(f"{source}: {problem}; use a lower --threshold")
    rows = list[dict[str, str]]()
    for number, group in enumerate(groups, 1):
        rows += [{"group": str(number), "sentence": text} for text in group]
    grouped = {row["sentence"] for row in rows}
    if by_hand or not encoder:
        # Who writes a group confirms it by that.
        rows += [{"sentence": text, "confirm": "yes"} for text in texts if text not in grouped]
    write_files({out: sheet_of((*CONFIRM, GUIDELINES), rows)})
    notes = []
    if encoder:
        notes.append(f"{counted(len(groups), 'group')} with {len(grouped):,} of {len(texts):,} sentences proposed")
    notes += [f"left out: {number:,} × {reason}" for reason, number in rejected.most_common()]
    return [
        *notes,
        f"sheet to confirm: {out}: write yes or no next to each sentence, or a group next to one without, then run",
        f"embassay build groups --from {shlex.quote(str(out))} -o FILE",
    ]


def propose(texts: Sequence[str], encoder: Encoder, threshold: float) -> list[list[str]]:
    """Return clusters of three or more in which every two sentences have a cosine above the threshold.

    They are those of complete linkage, each in the order of the sentences.

    Parameters
    ----------
    threshold
        Above 0 and below 1.

    Raises
    ------
    InputError
        For a threshold out of range, or one that distinguishes nothing.
    """
    if not 0 < threshold < 1:
        raise InputError(f"--threshold must be above 0 and below 1, is {threshold:g}")
    vectors = encoder.fit(texts).encode(texts, "text")
    clusters = complete_linkage(vectors, threshold)
    members = defaultdict[int, list[str]](list)
    for text, cluster in zip(texts, clusters.tolist(), strict=True):
        members[cluster].append(text)
    return [group for group in members.values() if len(group) >= SMALLEST]
