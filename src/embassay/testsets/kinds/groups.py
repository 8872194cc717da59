"""Groups of sentences with the same meaning: from pairs, or from clusters of an encoder that people confirm.

White et al. (2015), "How Well Sentence Embeddings Capture Meaning", section 4: a group is a connected component of the
pairs of paraphrases, or is made by hand, under strict bidirectional entailment; groups below three sentences are
dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import InputError, SourceError, listed
from embassay.core.samples.groups import Grouped, closure
from embassay.core.tables.rows import Stripped
from embassay.core.types import Encoder
from embassay.corpora.queries.sampling import evenly
from embassay.stats.geometry.complete_linkage import complete_linkage
from embassay.testsets.base import Advance, Built, Reasons, silent
from embassay.testsets.encoding import vectors_of
from embassay.testsets.sheets import ConfirmedRow, sheet_of, sheet_rows
from embassay.testsets.sources import (
    SourcePair,
    SourceSentence,
    is_of_pairs,
    is_text,
    open_table,
    read_pairs,
    read_sentences,
)

LANGUAGES = "any"
SMALLEST = 3
"""The minimum size of a group: each of three folds tests one sentence of it."""
CONFIRM = ("group", "sentence", "confirm")
"""Columns of the sheet of candidates."""
GUIDELINES = (
    "Sentences of a group entail each other. (1) Ignore tense, transitional phrases, and discourse and pragmatic "
    "markers. (2) Distinguish how strong a statement is only coarsely. (3) Nearly equal quantities and qualities are "
    "the same. (4) A sentence that names what it is about, and one that only implies it, are in different groups. "
    "(5) So are a sentence with further information and one without it."
)
"""The heading of the sheet's last column: the guidelines of White et al. (2015, section 4.2)."""
UNGROUPED = (
    "sentences without groups; use --encoder to propose groups, and confirm them by hand, or --by-hand for a sheet of "
    "all sentences; for a table of pairs, name its columns with --first and --second"
)
THRESHOLD = 0.8


@dataclass(frozen=True)
class ProposedSentence:
    """A sentence of a proposed group; people decide whether it has the same meaning as the others (None: undecided).

    The group is empty for a sentence that nobody has put into one.
    """

    group: str
    source: SourceSentence
    confirmed: bool | None = None


def read(
    path: Path, *, first: str = "", second: str = "", label: str = ""
) -> tuple[SourcePair, ...] | tuple[ProposedSentence, ...]:
    """Read a table of pairs, or a sheet of candidates that people filled.

    Parameters
    ----------
    first, second
        The column of first or of second sentences, if it is not recognised by name.
    label
        The column that says whether they mean the same, if it is not recognised by name; none if all pairs do.

    Raises
    ------
    SourceError
        With file, line and column, for a file that is neither, and for pairs without a label unless ``label`` is
        ``none``.
    """
    if not (first or second or label):
        if is_text(path):
            read_sentences(path)  # An unreadable file is reported first.
            raise SourceError(UNGROUPED, path)
        table = open_table(path)
        if set(CONFIRM) <= set(table.names):
            return tuple(_proposed(row) for row in sheet_rows(path, ProposedRow))
        if not is_of_pairs(path):
            raise SourceError(f"{UNGROUPED}; found {listed(table.names)}", path, 1)
    return read_pairs(path, first, second, label, needs_label=True)


def build(
    sources: Sequence[SourcePair] | Sequence[ProposedSentence],
    *,
    seed: int = 0,
    count: int | None = None,
    advance: Advance = silent,
    merge: bool = False,
) -> Built:
    """Return groups of at least three sentences: components of the paraphrase pairs, or confirmed candidates.

    Parameters
    ----------
    sources
        All of one kind, from :func:`read`.
    count
        Use at most N randomly chosen groups; all by default.
    merge
        Whether groups that share a sentence become one, as in the paper; otherwise this is an error.
    """
    rejected = Reasons()
    pairs = [source for source in sources if isinstance(source, SourcePair)]
    candidates = [source for source in sources if isinstance(source, ProposedSentence)]
    group_of = _components(pairs, rejected) if pairs else _confirmed(candidates, merge, rejected)
    # The classifier of the diagnostic tests a third of each group, so groups need three sentences.
    sizes = Counter(group_of.values())
    large = [group for group, size in sizes.items() if size >= SMALLEST]
    drawn = set(evenly([(group, group) for group in large], count, seed, "groups"))
    samples = []
    for number, (text, group) in enumerate(group_of.items()):
        if group in drawn:
            samples.append(Grouped(str(number), text, group))
        elif sizes[group] < SMALLEST:
            rejected[f"sentence of a group below {SMALLEST}"] += 1
        else:
            rejected["sentence of a group that was not drawn (--count)"] += 1
    advance(len(sources), len(sources))
    return Built(tuple(samples), rejected)


def propose(
    sources: Sequence[SourceSentence], encoder: Encoder, *, threshold: float = THRESHOLD, advance: Advance = silent
) -> tuple[ProposedSentence, ...]:
    """Propose groups: clusters in which every two sentences have a cosine above the threshold (complete linkage).

    Parameters
    ----------
    threshold
        Above 0 and below 1.

    Returns
    -------
    The sentences of clusters of three or more, cluster by cluster, in the order of the sources.

    Raises
    ------
    InputError
        For a threshold out of range, or one that distinguishes nothing.
    """
    if not 0 < threshold < 1:
        raise InputError(f"--threshold must be above 0 and below 1, is {threshold:g}")
    texts = [source.text for source in sources]
    vectors = vectors_of(texts, encoder, advance)
    cluster_of_source = complete_linkage(vectors, threshold)
    members = dict[int, list[SourceSentence]]()
    for source, cluster in zip(sources, cluster_of_source.tolist(), strict=True):
        members.setdefault(cluster, []).append(source)
    # The proposed groups are numbered from 1 without gaps, because a person reads the numbers.
    large = [group for group in members.values() if len(group) >= SMALLEST]
    candidates = list[ProposedSentence]()
    for number, group in enumerate(large, 1):
        for source in group:
            candidates.append(ProposedSentence(str(number), source))
    return tuple(candidates)


def proposal_sheet(candidates: Sequence[ProposedSentence]) -> bytes:
    """Return the sheet on which people write yes or no next to each sentence, or a group, as CSV."""
    rows = []
    for candidate in candidates:
        # Who writes a group confirms it by that.
        confirm = "yes" if candidate.confirmed else ""
        rows.append({"group": candidate.group, "sentence": candidate.source.text, "confirm": confirm})
    return sheet_of((*CONFIRM, GUIDELINES), rows)


def _components(pairs: Sequence[SourcePair], rejected: Reasons) -> dict[str, str]:
    """Return the group of each sentence of the pairs that mean the same, in the order in which they come."""
    numbers, same_pairs = dict[str, int](), list[tuple[int, int]]()
    for pair in pairs:
        first = numbers.setdefault(pair.first.text, len(numbers))
        second = numbers.setdefault(pair.second.text, len(numbers))
        if pair.same:
            same_pairs.append((first, second))
        else:
            rejected["pair with different meanings"] += 1
    texts = list(numbers)
    return {texts[number]: str(group) for number, group in closure(same_pairs).items()}


def _confirmed(candidates: Sequence[ProposedSentence], merge: bool, rejected: Reasons) -> dict[str, str]:
    """Return the group of each sentence that was confirmed."""
    from scipy.cluster.hierarchy import DisjointSet

    group_of = dict[str, str]()
    merged = DisjointSet(candidate.group for candidate in candidates)
    for candidate in candidates:
        text = candidate.source.text
        if candidate.confirmed is None:
            rejected["candidate without yes or no"] += 1
        elif not candidate.confirmed:
            rejected["candidate that was not confirmed"] += 1
        elif not candidate.group:
            rejected["sentence without a group"] += 1
        elif group_of.setdefault(text, candidate.group) != candidate.group and not merge:
            raise InputError(
                f"the sentence on line {candidate.source.line} is confirmed in two groups; confirm it in only one, or "
                "add --merge, so that the two become one"
            )
        else:
            merged.merge(group_of[text], candidate.group)
    return {text: merged[group] for text, group in group_of.items()}


class ProposedRow(ConfirmedRow):
    """A row of a filled sheet."""

    group: str = ""
    sentence: Stripped


def _proposed(row: ProposedRow) -> ProposedSentence:
    """Return the sentence of a row of a filled sheet."""
    return ProposedSentence(row.group, SourceSentence(row.sentence, row.line or 1), row.confirm)
