"""Questions with what answers them → a test set: some that nothing answers, the splits, and what is to be said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from embassay.builders._built import Built
from embassay.builders._elsewhere import units_that_may_answer
from embassay.builders._leaks import overlap
from embassay.builders._passages import SHORTEST
from embassay.builders._right import Answered, Grounds
from embassay.builders._splits import check_apart, drawn_units, told
from embassay.corpora.io.jsonl import counted
from embassay.samples.groups import closure
from embassay.samples.retrieval import Document, Question

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
