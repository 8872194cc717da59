"""Which questions are for training and which for testing, and whose documents are taken away.

Both are drawn by unit: what one split has been asked about, or is near to that, the other never sees (Roychowdhury et
al. 2024 divide by question, 80 to 20; here no context is shared).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import TypeVar

from embassay.corpora.io.jsonl import counted
from embassay.errors import SpecError
from embassay.randomness import generator
from embassay.samples.groups import closure
from embassay.samples.retrieval import Document, Question
from embassay.testsets.base import Built
from embassay.testsets.generator.questions import overlap
from embassay.testsets.passages import SHORTEST
from embassay.testsets.right_documents import Answered, Grounds, units_that_may_answer

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


# --- Questions with what answers them → a test set: some that nothing answers, the splits, and what is to ---

TRAIN, TEST = "train", "test"


def built_of(found: Sequence[Answered], grounds: Grounds, *, seed: int, unanswerable: float, test: float) -> Built:
    """Return the test set of some questions.

    Units are what passages belong to; those of one question, and of near-duplicates of what answers it, are one. From
    the units that are asked about a share is taken away with all its passages, and a share is for testing. A unit about
    which a question may be answered by another stays, and so does the last one with passages.
    """
    unit_of = _joined(found, grounds)
    units = {one.id: unit_of[one.right[0].unit] for one in found}
    others = units_that_may_answer(found, grounds)
    barred = {units[one.id] for one in found if {unit_of[key] for key in others[one.id]} - {units[one.id]}}
    gone = drawn_units(units.values(), unanswerable, seed, "unanswerable", barred=barred)
    if gone == set(unit_of.values()):
        gone -= {min(gone)}
    left = frozenset(units.values()) - gone
    tested = drawn_units(left, test, seed, "test", least=1) | drawn_units(gone, test, seed, "test without an answer")
    splits = {name: TEST if unit in tested else TRAIN for name, unit in units.items()}
    check_apart(splits, {one.id: [units[one.id], *(f"passage {p.id}" for p in one.near)] for one in found})
    kept = [passage for passage in grounds.passages if unit_of.get(passage.unit, passage.unit) not in gone]
    right = {one.id: () if units[one.id] in gone else tuple(p.id for p in one.right) for one in found}
    samples = tuple(Question(one.id, one.asked.question, right[one.id], units=(units[one.id],)) for one in found)
    taken = (
        (
            f"{counted(len(gone), 'unit')} taken away, {counted(len(grounds.passages) - len(kept), 'passage')}: "
            f"{counted(sum(not r for r in right.values()), 'question')} that no document answers",
        )
        if gone
        else ()
    )
    taken = (*taken, *_fewer(len(gone), len(set(units.values())), len(barred), unanswerable))
    return Built(
        samples,
        Counter(),
        (*_notes(found, grounds), *taken, *([told(splits, units)] if splits else [])),
        documents=tuple(Document(passage.id, (passage.text,)) for passage in kept),
        splits=splits,
        answers={one.id: one.asked.answer for one in found if right[one.id]},
        ways={(one.id, "question"): one.asked.way for one in found},
    )


def _joined(found: Sequence[Answered], grounds: Grounds) -> Mapping[str, str]:
    """Return the unit of each key that passages have; keys that a question joins are one."""
    keys = list(dict.fromkeys(passage.unit for passage in grounds.passages))
    number = {key: place for place, key in enumerate(keys)}
    chains = [[number[passage.unit] for passage in one.near] for one in found]
    pairs = [pair for chain in chains for pair in pairwise([chain[0], *chain])]
    group = closure(pairs)
    return {key: keys[group.get(place, place)] for key, place in number.items()}


def _notes(found: Sequence[Answered], grounds: Grounds) -> Iterator[str]:
    short = sum(not passage.long for passage in grounds.passages)
    few = f", {short:,} of them below {SHORTEST} words: not asked about" if short else ""
    yield f"each of {counted(len(grounds.passages), 'passage')} is a document{few}"
    if near := len(grounds.groups) - len(set(grounds.groups)):
        say = "says" if near == 1 else "say"
        yield f"{near:,} of them {say} nearly what another says: both are right where both have the answer"
    several = sum(len(one.right) > 1 for one in found)
    if several:
        yield f"{counted(several, 'question')} with several right documents"
    if found:
        share = sum(overlap(one.asked.question, [p.text for p in one.right]) for one in found) / len(found)
        yield (
            f"{share:.0%} of a question's words, function words aside, stand in its right documents, on average: "
            "what goes by words, as bm25 does, profits from that"
        )


def _fewer(gone: int, units: int, barred: int, share: float) -> Iterator[str]:
    """Say where fewer units are taken away than were asked for, and why."""
    wanted = round(share * units)
    if not units or not share or gone >= max(wanted, 1):
        return
    asked = f"{counted(gone, 'unit')} taken away where unanswerable is {share:g} of {units:,}"
    why = (
        f"{barred:,} of them {'has' if barred == 1 else 'have'} questions that another unit may answer"
        if barred
        else "one has to stay"
    )
    yield f"{asked}: {why}" if wanted else f"{asked}: that rounds to none"
