"""Splitting questions into training and test sets, and making some of them unanswerable.

Units are drawn at random, so that the splits share no unit and no near-duplicate of a passage that answers a question.
Roychowdhury et al. (2024) split by question, 80 to 20.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from embassay.core.errors import SpecError
from embassay.core.formatting import counted
from embassay.core.randomness import generator
from embassay.core.samples.groups import closure
from embassay.core.samples.retrieval import Document, Question
from embassay.corpora.queries.duplicates import PassageGroups
from embassay.corpora.queries.leaks import telling
from embassay.corpora.queries.passages import SHORTEST, tokens
from embassay.testsets.base import Built
from embassay.testsets.right_documents import Answered, units_that_may_answer


def check_share(name: str, share: float) -> None:
    """Raise SpecError unless a share is from 0 to 1."""
    if not 0 <= share <= 1:
        raise SpecError(f"{name} must be from 0 to 1, is {share:g}")


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

TRAIN, TEST = "train", "test"


def built_of(
    questions: Sequence[Answered], grounds: PassageGroups, *, seed: int, unanswerable: float, test: float
) -> Built:
    """Return the test set of some questions: its splits, its documents, and the unanswerable questions.

    The units of a question's passages, and of their near-duplicates, are merged. Of the units that are asked about, a
    share is removed with all its passages, and a share is for testing. A unit stays if another unit may answer a
    question about it, and so does the last one with passages.
    """
    unit_of = _merged_units(questions, grounds)
    units = {entry.id: unit_of[entry.right[0].unit] for entry in questions}
    barred = set[str]()
    for name, others in units_that_may_answer(questions, grounds).items():
        if any(unit_of[other] != units[name] for other in others):
            barred.add(units[name])
    removed = drawn_units(units.values(), unanswerable, seed, "unanswerable", barred=barred)
    # A corpus needs at least one document.
    if removed == set(unit_of.values()):
        removed -= {min(removed)}
    remaining = frozenset(units.values()) - removed
    tested = drawn_units(remaining, test, seed, "test", least=1)
    tested |= drawn_units(removed, test, seed, "test without an answer")
    splits = {name: TEST if unit in tested else TRAIN for name, unit in units.items()}

    remaining_passages = [passage for passage in grounds.passages if unit_of[passage.unit] not in removed]
    documents = [Document(passage.id, (passage.text,)) for passage in remaining_passages]
    samples, answers = list[Question](), dict[str, str]()
    for entry in questions:
        unit = units[entry.id]
        right: tuple[str, ...] = ()
        if unit not in removed:
            right = tuple(passage.id for passage in entry.right)
        samples.append(Question(entry.id, entry.question.text, right, units=(unit,)))
        if right and entry.question.answer:
            answers[entry.id] = entry.question.answer
    notes = _notes_on_passages(questions, grounds)
    if removed:
        passages = counted(len(grounds.passages) - len(documents), "passage")
        lost = counted(sum(not sample.right for sample in samples), "question")
        notes.append(f"{counted(len(removed), 'unit')} removed, {passages}: {lost} that no document answers")
    notes += _note_on_few_removed(len(removed), len(set(units.values())), len(barred), unanswerable)
    if splits:
        notes.append(_note_on_splits(splits, units))
    return Built(
        tuple(samples),
        Counter(),
        tuple(notes),
        documents=tuple(documents),
        splits=splits,
        answers=answers,
        ways={(entry.id, "question"): entry.question.way for entry in questions},
    )


def _merged_units(questions: Sequence[Answered], grounds: PassageGroups) -> Mapping[str, str]:
    """Return the unit of each passage's unit key; keys that a question has in common are one unit."""
    keys = list(dict.fromkeys(passage.unit for passage in grounds.passages))
    number_of = {key: number for number, key in enumerate(keys)}
    # All units that a question could be answered from must be in the same split.
    pairs_to_merge = list[tuple[int, int]]()
    for question in questions:
        first = number_of[question.near[0].unit]
        for passage in question.near:
            pairs_to_merge.append((first, number_of[passage.unit]))
    merged = closure(pairs_to_merge)
    unit_of = dict[str, str]()
    for key, number in number_of.items():
        # Keys without a question are not merged.
        unit_of[key] = keys[merged.get(number, number)]
    return unit_of


# --- Notes ---


def overlap(question: str, passages: Iterable[str]) -> float:
    """Return the share of a question's content words that occur in its passages, 0 to 1; 0 if it has none."""
    content = telling(tokens(question))
    if not content:
        return 0.0
    passage_words = set[str]()
    for passage in passages:
        passage_words.update(tokens(passage))
    return sum(word in passage_words for word in content) / len(content)


def _notes_on_passages(questions: Sequence[Answered], grounds: PassageGroups) -> list[str]:
    """Return notes on the passages, on near-duplicates among them, and on how much questions repeat their wording."""
    # Queries that were made from the documents have no answers.
    have_answers = any(entry.question.answer for entry in questions)
    short = sum(not passage.long for passage in grounds.passages)
    not_asked = ""
    if short:
        not_asked = f"; {short:,} of them have fewer than {SHORTEST} words and get no questions"
    notes = [f"each of {counted(len(grounds.passages), 'passage')} is a document{not_asked}"]
    near = len(grounds.groups) - len(set(grounds.groups))
    if near:
        say = "say"
        if near == 1:
            say = "says"
        both = "both are right"
        if have_answers:
            both = "both are right if both have the answer"
        notes.append(f"{near:,} of them {say} nearly the same as another: {both}")
    several = sum(len(entry.right) > 1 for entry in questions)
    if several:
        notes.append(f"{counted(several, 'question')} with several right documents")
    if questions:
        shares = [overlap(entry.question.text, [passage.text for passage in entry.right]) for entry in questions]
        note = (
            f"{sum(shares) / len(shares):.0%} of a question's words, without function words, occur in its right "
            "documents, on average"
        )
        benefit = ""
        if have_answers:
            benefit = "; encoders that match words, such as bm25, benefit from that"
        notes.append(note + benefit)
    return notes


def _note_on_few_removed(removed: int, units: int, barred: int, share: float) -> list[str]:
    """Return why fewer units are removed than requested; no note otherwise."""
    number = round(share * units)
    if not units or not share or removed >= max(number, 1):
        return []
    if not number:
        reason = "the share rounds to 0"
    elif barred:
        have = "have"
        if barred == 1:
            have = "has"
        reason = f"{barred:,} of them {have} questions that another unit may answer"
    else:
        reason = "at least one must remain"
    return [f"{counted(removed, 'unit')} removed (unanswerable={share:g} of {units:,}): {reason}"]


def _note_on_splits(splits: Mapping[str, str], units: Mapping[str, str]) -> str:
    """Return how many questions and units each split has."""
    parts = list[str]()
    for split in sorted(set(splits.values())):
        questions_of_split = [name for name, split_of_name in splits.items() if split_of_name == split]
        units_of_split = {units[name] for name in questions_of_split}
        number_of_questions = counted(len(questions_of_split), "question")
        parts.append(f"{split}: {number_of_questions} of {counted(len(units_of_split), 'unit')}")
    return f"split by unit, {'; '.join(parts)}"
