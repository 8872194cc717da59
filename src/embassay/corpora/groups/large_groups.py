"""Code that the loaders of paraphrase groups share: dropping groups that are too small, and notes on what was kept.

White et al. (2015), "How Well Sentence Embeddings Capture Meaning", section 4: a group is a component of the paraphrase
pairs, or was made by hand; groups below three are discarded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.samples.shapes import Grouped
from embassay.core.types import Corpus

SMALLEST = 3
"""The minimum size of a group: each of three folds tests one sentence of it."""


def corpus_of(name: str, path: Path, samples: Sequence[Grouped], notes: Iterable[str] = ()) -> Corpus[Grouped]:
    """Return the corpus of the groups that have three sentences or more, with notes on what was kept and dropped.

    Raises
    ------
    SourceError
        If no group is large enough.
    """
    # A diagnostic of groups tests a third of each group, so a smaller one cannot be used.
    sizes = Counter(sample.group for sample in samples)
    kept = tuple(sample for sample in samples if sizes[sample.group] >= SMALLEST)
    kept_groups = len({sample.group for sample in kept})
    if not kept:
        amounts = f"{counted(len(sizes), 'group')} with {counted(len(samples), 'sentence')}"
        raise SourceError(f"no group has {SMALLEST} sentences or more; found {amounts}", path)
    all_notes = [*notes, f"{counted(len(kept), 'sentence')} in {counted(kept_groups, 'group')}"]
    dropped = len(samples) - len(kept)
    if dropped:
        groups = counted(len(sizes) - kept_groups, "group")
        all_notes.append(f"{groups} below {SMALLEST} sentences dropped, with {counted(dropped, 'sentence')}")
    return Corpus(name, "groups", kept, notes=tuple(all_notes))
