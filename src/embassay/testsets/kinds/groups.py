"""Groups of sentences with the same meaning: from pairs, or clusters that an encoder proposes and people rate.

White et al. (2015), "How Well Sentence Embeddings Capture Meaning", section 4: a group is a connected component of the
pairs of paraphrases, or is made by hand, under strict bidirectional entailment; groups below three sentences are
dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from annotated_types import Gt, Lt

from embassay.core.errors import SourceError, SpecError, listed
from embassay.core.samples.shapes import Grouped, closure
from embassay.core.tables.records import FIRST, SECOND, read_table, recognised_pair
from embassay.core.tables.rows import Stripped, TableRow, YesNo, column
from embassay.core.types import Encoder
from embassay.corpora.queries.sampling import evenly
from embassay.stats.geometry.complete_linkage import complete_linkage
from embassay.testsets.base import Advance, Built, Reasons, silent
from embassay.testsets.sources import SourceSentence, read_sentences

LANGUAGES = "any"
SMALLEST = 3
"""The minimum size of a group: each of three folds tests one sentence of it."""
UNGROUPED = (
    "sentences without groups; use --encoder to propose groups, or write them yourself: a table of sentence and group "
    "is a test set as it is; for a table of pairs, name its columns with --first and --second"
)
ALL_THE_SAME = "none"
"""Given as the column of labels: there is none, because all pairs have the same meaning."""
UNLABELLED = (
    f"pairs without a label; name one with --label, or write --label {ALL_THE_SAME} if the sentences of every pair "
    "mean the same"
)


class LabelledPairRow(TableRow):
    """Two sentences and whether they mean the same."""

    first: Stripped = column(*FIRST)
    second: Stripped = column(*SECOND)
    label: YesNo = column("label", "quality", "is_duplicate", default=True)


def read(
    path: Path, *, first: str = "", second: str = "", label: str = "", encoder: Encoder | None = None, column: str = ""
) -> tuple[Sequence[LabelledPairRow] | Sequence[SourceSentence], Sequence[str]]:
    """Read a table of pairs, or with an encoder, sentences.

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
    if encoder is not None:
        return read_sentences(path, column), ()
    table = read_table(path)
    if not (first or second or recognised_pair(table.names)):
        raise SourceError(f"{UNGROUPED}; found {listed(table.names)}", path, 1)
    are_the_same = label == ALL_THE_SAME
    selection = table.select(LabelledPairRow, first=first, second=second, label="" if are_the_same else label)
    if not are_the_same and "label" not in selection.names:
        raise SourceError(UNLABELLED, path)
    return [row.model_copy(update={"label": row.label or are_the_same}) for row in selection], ()


def build(
    sources: Sequence[LabelledPairRow] | Sequence[SourceSentence],
    *,
    seed: int = 0,
    count: int | None = None,
    advance: Advance = silent,
    encoder: Encoder | None = None,
    threshold: Annotated[float, Gt(0), Lt(1)] = 0.8,
) -> Built:
    """Return groups of at least three sentences: components of the paraphrase pairs, or clusters of an encoder.

    Parameters
    ----------
    sources
        All of one kind, from :func:`read`.
    count
        Use at most N randomly chosen groups; all by default.
    encoder
        SPEC[,option=value…] of the encoder that proposes groups of sentences; rate them before you use them.
    threshold
        With -e: minimum cosine between any two sentences of a group.
    """
    rejected, notes = Reasons(), list[str]()
    pairs = [source for source in sources if isinstance(source, LabelledPairRow)]
    sentences = [source.text for source in sources if isinstance(source, SourceSentence)]
    if encoder is not None:
        vectors = encoder.fit(sentences).encode(sentences, "text")
        clusters = complete_linkage(vectors, threshold).tolist()
        group_of = dict(zip(sentences, map(str, clusters), strict=True))
        notes.append(
            f"Groups are clusters of {encoder.card.spec}, with cosines above {threshold:g}. Rate them before you use "
            "them. The test set favours this encoder."
        )
    elif sentences:
        raise SpecError(UNGROUPED)
    else:
        group_of = _components(pairs, rejected)
    # The classifier of the diagnostic tests a third of each group, so groups need three sentences.
    sizes = Counter(group_of.values())
    large = [group for group, size in sizes.items() if size >= SMALLEST]
    drawn = set(evenly(large, str, count, seed, "groups"))
    samples = []
    for number, (text, group) in enumerate(group_of.items()):
        if group in drawn:
            samples.append(Grouped(str(number), text, group))
        elif sizes[group] < SMALLEST:
            rejected[f"sentence of a group below {SMALLEST}"] += 1
        else:
            rejected["sentence of a group that was not drawn (--count)"] += 1
    advance(len(sources), len(sources))
    filtered_with = () if encoder is None else (encoder.card.spec,)
    return Built(tuple(samples), rejected, tuple(notes), filtered_with=filtered_with)


def _components(pairs: Sequence[LabelledPairRow], rejected: Reasons) -> dict[str, str]:
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
