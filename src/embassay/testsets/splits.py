"""Splitting questions into training and test sets, and making some of them unanswerable.

Units are drawn at random, so that the splits share no unit and no near-duplicate of a passage that answers a question.
Roychowdhury et al. (2024) split by question, 80 to 20.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from embassay.core.formatting import counted
from embassay.core.randomness import generator
from embassay.core.samples.retrieval import Document, Question
from embassay.corpora.queries.leaks import telling
from embassay.corpora.queries.passages import Passage, tokens
from embassay.testsets.base import Built
from embassay.testsets.questions import PassageQuestion
from embassay.testsets.right_documents import other_units, stems


def drawn_units(
    units: Iterable[str], share: float, seed: int, purpose: str, least: int = 0, barred: Collection[str] = ()
) -> frozenset[str]:
    """Draw a share of the units, rounded; if there are several units and the share is below 1, at least one remains.

    Parameters
    ----------
    purpose
        Names the random stream.
    least
        The minimum number of units to draw, if there are several units and the share is above 0.
    barred
        Units that are not drawn, but count for the share.
    """
    # Sorted, because the order of a set differs between processes.
    all_units = sorted(set(units))
    number = round(share * len(all_units))
    if 0 < share < 1:
        most = max(len(all_units) - 1, 0)
        number = min(max(number, least), most)
    allowed = [unit for unit in all_units if unit not in barred]
    random = generator(seed, "builders", "retrieval", purpose)
    drawn = random.permutation(len(allowed))[:number]
    return frozenset(allowed[place] for place in drawn)


# --- From questions with their answers to a test set ---


def built_of(
    questions: Sequence[PassageQuestion], grounds: Sequence[Passage], *, seed: int, unanswerable: float, test: float
) -> Built:
    """Return the test set of some questions: its splits, its documents, and the unanswerable questions.

    The units of a question's passages, and of their near-duplicates, are merged. Of the units that are asked about, a
    share is removed with all its passages, and a share is for testing. A unit stays if another unit may answer a
    question about it.
    """
    unit_of = _merged_units(questions, grounds)
    units = {question.id: unit_of[question.passage.unit] for question in questions}
    with_stems = [(passage, stems(passage.text)) for passage in grounds]
    barred = set[str]()
    for question in questions:
        unit = units[question.id]
        if any(unit_of[other] != unit for other in other_units(question, with_stems)):
            barred.add(unit)
    removed = drawn_units(units.values(), unanswerable, seed, "unanswerable", barred=barred)
    remaining = frozenset(units.values()) - removed
    tested = drawn_units(remaining, test, seed, "test", least=1)
    tested |= drawn_units(removed, test, seed, "test without an answer")

    remaining_passages = [passage for passage in grounds if unit_of[passage.unit] not in removed]
    documents = [Document(passage.id, (passage.text,)) for passage in remaining_passages]
    samples, fields = list[Question](), dict[str, dict[str, str]]()
    for question in questions:
        unit = units[question.id]
        fields[question.id] = {"split": "test" if unit in tested else "train", "source": question.way}
        right: tuple[str, ...] = ()
        if unit not in removed:
            right = tuple(passage.id for passage in question.right)
            fields[question.id]["answer"] = question.answer
        samples.append(Question(question.id, question.text, right, units=(unit,)))
    notes = []
    if questions:
        shares = [overlap(question.text, [passage.text for passage in question.right]) for question in questions]
        notes.append(
            f"{sum(shares) / len(shares):.0%} of a question's words, without function words, occur in its right "
            "documents, on average; encoders that match words, such as bm25, benefit from that"
        )
    if removed:
        notes.append(
            f"the passages of {counted(len(removed), 'unit')} were removed: no document answers their questions"
        )
    fewer = round(unanswerable * len(set(units.values()))) - len(removed)
    if fewer > 0:
        notes.append(f"{fewer:,} fewer than requested: others may answer their questions, or none would stay")
    return Built(
        tuple(samples),
        Counter(),
        notes=tuple(notes),
        documents=tuple(documents),
        fields=fields,
    )


def _merged_units(questions: Sequence[PassageQuestion], grounds: Sequence[Passage]) -> Mapping[str, str]:
    """Return the unit of each passage's unit key; keys that a question has in common are one unit."""
    from scipy.cluster.hierarchy import DisjointSet

    # All units that a question could be answered from must be in the same split.
    merged = DisjointSet(passage.unit for passage in grounds)
    for question in questions:
        for passage in question.near:
            merged.merge(question.near[0].unit, passage.unit)
    # A merged unit has the key of its first passage.
    first = dict[str, str]()
    return {passage.unit: first.setdefault(merged[passage.unit], passage.unit) for passage in grounds}


def overlap(question: str, passages: Iterable[str]) -> float:
    """Return the share of a question's content words that occur in its passages, 0 to 1; 0 if it has none."""
    content = telling(tokens(question))
    passage_words = set(tokens(" ".join(passages)))
    return sum(word in passage_words for word in content) / max(len(content), 1)
