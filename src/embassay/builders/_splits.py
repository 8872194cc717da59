"""Which questions are for training and which for testing, and whose documents are taken away.

Both are drawn by unit: what one split has been asked about, or is near to that, the other never sees (Roychowdhury et
al. 2024 divide by question, 80 to 20; here no context is shared).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

from embassay.corpora.io.jsonl import counted
from embassay.errors import SpecError
from embassay.randomness import generator

T = TypeVar("T")


def check_share(name: str, share: float) -> None:
    """Raise SpecError for what is no share, 0 to 1."""
    if not 0 <= share <= 1:
        raise SpecError(f"{name} must be from 0 to 1, is {share:g}")


def drawn_units(
    units: Iterable[str], share: float, seed: int, purpose: str, least: int = 0, barred: Collection[str] = ()
) -> frozenset[str]:
    """Draw a share of the units, rounded; of several units some stay where the share is below 1.

    Parameters
    ----------
    purpose
        What they are drawn for: another purpose draws others.
    least
        How many are drawn at least, of several units and where the share is above 0.
    barred
        Units that are not drawn, though the share is of them too.
    """
    known = sorted(set(units))
    wanted = round(share * len(known))
    if 0 < share < 1:
        wanted = min(max(wanted, least), max(len(known) - 1, 0))
    free = [unit for unit in known if unit not in barred]
    places = generator(seed, "builders", "retrieval", purpose).permutation(len(free))[:wanted]
    return frozenset(free[place] for place in places)


def evenly(items: Sequence[tuple[str, T]], count: int | None, seed: int, purpose: str) -> list[T]:
    """Draw so many items, as many of each unit as there are; all where there are no more. Their order stays.

    Parameters
    ----------
    items
        (unit, item) of each.
    """
    if count is None or count >= len(items):
        return [item for _, item in items]
    stream = generator(seed, "builders", "retrieval", purpose)
    of_unit = defaultdict[str, list[int]](list)
    for place in stream.permutation(len(items)).tolist():
        of_unit[items[place][0]].append(place)
    rounds = zip_longest(*of_unit.values())
    order = [place for turn in rounds for place in turn if place is not None]
    return [items[place][1] for place in sorted(order[:count])]


def check_apart(splits: Mapping[str, str], contexts: Mapping[str, Iterable[str]]) -> None:
    """Make sure that no context is in two splits.

    Parameters
    ----------
    splits
        The split of each question, by its id.
    contexts
        The contexts of each question: its unit, and what is near to its passages.

    Raises
    ------
    RuntimeError
        With the context that is.
    """
    seen = dict[str, str]()
    for name, split in splits.items():
        for context in contexts[name]:
            if seen.setdefault(context, split) != split:
                raise RuntimeError(f"{context!r} is in the splits {seen[context]} and {split}: a fault of this builder")


def told(splits: Mapping[str, str], units: Mapping[str, str]) -> str:
    """Say how many questions and units each split has."""
    questions = Counter(splits.values())
    parts = Counter(split for split, _ in {(split, units[name]) for name, split in splits.items()})
    named = (
        f"{split}: {counted(questions[split], 'question')} of {counted(parts[split], 'unit')}"
        for split in sorted(questions)
    )
    return f"split by unit, {'; '.join(named)}"
