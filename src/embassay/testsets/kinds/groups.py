"""Groups of sentences with the same meaning: from pairs, or from clusters of an encoder that people confirm.

White et al. (2015), "How Well Sentence Embeddings Capture Meaning", section 4: a group is a connected component of the
pairs of paraphrases, or is made by hand, under strict bidirectional entailment; groups below three sentences are
dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from embassay.core.errors import SourceError, listed
from embassay.core.samples.groups import Grouped, closure
from embassay.core.tables.records import FIRST, SECOND, read_table, recognised_pair
from embassay.core.tables.rows import Row, Stripped, Text, YesNo, column
from embassay.corpora.queries.sampling import evenly
from embassay.testsets.base import Advance, Built, Reasons, silent
from embassay.testsets.sheets import SheetRow

LANGUAGES = "any"
SMALLEST = 3
"""The minimum size of a group: each of three folds tests one sentence of it."""
CONFIRM = ("group", "sentence", "confirm")
"""Columns of the sheet of candidates."""
UNGROUPED = (
    "sentences without groups; use --encoder to propose groups, and confirm them by hand, or --by-hand for a sheet of "
    "all sentences; for a table of pairs, name its columns with --first and --second"
)


ALL_THE_SAME = "none"
"""Given as the column of labels: there is none, because all pairs have the same meaning."""
UNLABELLED = (
    f"pairs without a label; name one with --label, or write --label {ALL_THE_SAME} if the sentences of every pair "
    "mean the same"
)


class PairRow(Row):
    """Two sentences and whether they mean the same."""

    first: Stripped = column(*FIRST)
    second: Stripped = column(*SECOND)
    label: YesNo = column("label", "quality", "is_duplicate", default=True)


class ProposedRow(SheetRow):
    """A row of a sheet of candidates: people confirm that the sentence has the same meaning as others of its group."""

    group: str = ""
    sentence: Text
    confirm: YesNo | None = None


def read(
    path: Path, *, first: str = "", second: str = "", label: str = ""
) -> tuple[Sequence[PairRow] | Sequence[ProposedRow], Sequence[str]]:
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
    table = read_table(path)
    if set(CONFIRM) <= set(table.names):
        return tuple(table.select(ProposedRow)), ()
    if not (first or second or recognised_pair(table.names)):
        raise SourceError(f"{UNGROUPED}; found {listed(table.names)}", path, 1)
    are_the_same = label == ALL_THE_SAME
    selection = table.select(PairRow, first=first, second=second, label="" if are_the_same else label)
    if not are_the_same and "label" not in selection.names:
        raise SourceError(UNLABELLED, path)
    return [row.model_copy(update={"label": row.label or are_the_same}) for row in selection], ()


def build(
    sources: Sequence[PairRow] | Sequence[ProposedRow],
    *,
    seed: int = 0,
    count: int | None = None,
    advance: Advance = silent,
) -> Built:
    """Return groups of at least three sentences: components of the paraphrase pairs, or confirmed candidates.

    Parameters
    ----------
    sources
        All of one kind, from :func:`read`.
    count
        Use at most N randomly chosen groups; all by default.
    """
    rejected = Reasons()
    pairs = [source for source in sources if isinstance(source, PairRow)]
    candidates = [source for source in sources if isinstance(source, ProposedRow)]
    group_of = _components(pairs, rejected) if pairs else _confirmed(candidates, rejected)
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


def _components(pairs: Sequence[PairRow], rejected: Reasons) -> dict[str, str]:
    """Return the group of each sentence of the pairs that mean the same, in the order in which they come."""
    numbers, same_pairs = dict[str, int](), list[tuple[int, int]]()
    for pair in pairs:
        first = numbers.setdefault(pair.first, len(numbers))
        second = numbers.setdefault(pair.second, len(numbers))
        if pair.label:
            same_pairs.append((first, second))
        else:
            rejected["pair with different meanings"] += 1
    texts = list(numbers)
    return {texts[number]: str(group) for number, group in closure(same_pairs).items()}


def _confirmed(candidates: Sequence[ProposedRow], rejected: Reasons) -> dict[str, str]:
    """Return the group of each sentence that was confirmed."""
    from scipy.cluster.hierarchy import DisjointSet

    group_of = dict[str, str]()
    merged = DisjointSet(candidate.group for candidate in candidates)
    for candidate in candidates:
        if candidate.confirm is None:
            rejected["candidate without yes or no"] += 1
        elif not candidate.confirm:
            rejected["candidate that was not confirmed"] += 1
        elif not candidate.group:
            rejected["sentence without a group"] += 1
        else:
            # Groups that share a sentence become one, as in the paper.
            merged.merge(group_of.setdefault(candidate.sentence, candidate.group), candidate.group)
    return {text: merged[group] for text, group in group_of.items()}
