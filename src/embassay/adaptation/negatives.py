"""Hard negatives: documents that the base model takes for right and that are not.

Triplets ⟨question, right, [wrong …]⟩ are what Roychowdhury et al. (2024, section 2.4) fine-tune on. That wrong ones
have to stand clear of the right one, so that an unmarked right answer is not taught to be wrong, is as in Moreira et
al. (2024, "NV-Retriever").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from embassay.adaptation.space import Space
from embassay.errors import InputError, SpecError
from embassay.randomness import generator
from embassay.samples.retrieval import Question
from embassay.training.triplets import Triplet
from embassay.types import Corpus, Encoder

AGAIN = "questions asked again with the same right text"
UNANSWERED = "questions without a right document"
BARE = "questions without a wrong document"
SAME = "wrong documents with a right one's text, or a part of it"
NEAR = "wrong documents nearly a right one"
CLOSE = "wrong documents within the margin"
HELD = "wrong documents that answer a held-out question"
CURES = {
    SAME: "leave out of the documents what repeats others, or look further down with a larger --window",
    NEAR: "the base tells these documents hardly apart: take another one, or --pretrain alone, which needs none",
    CLOSE: "look further down with a larger --window, or take a smaller --margin",
    HELD: "look further down with a larger --window, or take --by question, which holds no documents out",
}
"""What helps where a reason leaves nothing."""


@dataclass(frozen=True)
class Mined:
    """What was found.

    Attributes
    ----------
    triplets
        One for each question and right document.
    left_out
        How many questions and candidates were left out, by reason.
    notes
        One sentence each.
    """

    triplets: tuple[Triplet, ...]
    left_out: Counter[str]
    notes: tuple[str, ...] = ()

    @property
    def negatives(self) -> int:
        """The number of wrong documents, over all triplets."""
        return sum(len(triplet.wrong) for triplet in self.triplets)


def mine(
    corpus: Corpus[Any],
    questions: Sequence[Question],
    encoder: Encoder,
    *,
    per_question: int = 4,
    ranks: tuple[int, int] = (1, 50),
    margin: float = 0.05,
    near: float = 0.95,
    seed: int = 0,
    held_out: Collection[str] = (),
) -> Mined:
    """Draw wrong documents for each question from those that the encoder ranks high.

    A candidate stands in the window of ranks and is none of the question's right documents, which are those of all
    questions of its text; its text is not a right one's, a part of it or more than it, and no near-duplicate of it; the
    question is nearer to the right document by the margin. Of these ``per_question`` are drawn. Of a document of
    several passages the one nearest to the question stands for it. A question without a candidate is kept as a pair.

    Parameters
    ----------
    corpus
        Where the documents are.
    questions
        Those to learn from; one without a right document is left out.
    per_question
        How many wrong documents each right one gets, at most.
    ranks
        First and last rank, from 1, among all documents, the right ones included.
    margin
        How much less similar to the question than the right document a wrong one has to be: a difference of cosines,
        or, where the encoder compares by dot product, a share of the right document's.
    near
        A document whose cosine to a right one is above this is a near-duplicate.
    seed
        Of the draw; a question's does not depend on the other questions.
    held_out
        Ids of documents that are never drawn, nor others of their text.

    Raises
    ------
    SpecError
        For an option out of its range.
    InputError
        If no question has a right document, or none a wrong one.
    """
    _check(per_question, ranks, margin, near)
    left_out: Counter[str] = Counter()
    answered = [question for question in questions if question.right]
    left_out[UNANSWERED] += len(questions) - len(answered)
    if not answered:
        raise InputError(f"corpus {corpus.name!r}: none of the {len(questions):,} questions has a right document")
    space = Space(corpus, answered, encoder, ranks[1], held_out)
    triplets: dict[tuple[str, str], Triplet] = {}
    for row, question in enumerate(answered):
        rng = generator(seed, "hard negatives", question.id)
        for place in dict.fromkeys(question.right):
            right = space.text(row, space.documents[place])
            if (question.question, right) in triplets:
                left_out[AGAIN] += 1
                continue
            clear = _clear(space, row, space.documents[place], ranks[0], margin, near, left_out)
            drawn = rng.permutation(len(clear))[:per_question]
            wrong = tuple(dict.fromkeys(clear[n] for n in sorted(drawn.tolist())))
            left_out[BARE] += not wrong
            triplets[question.question, right] = Triplet(question.question, right, wrong, space.rights(row).texts)
    return _mined(corpus, tuple(triplets.values()), left_out, ranks, margin)


def _clear(
    space: Space, row: int, document: int, first: int, margin: float, near: float, left_out: Counter[str]
) -> list[str]:
    """Return the texts of a question's candidates for one right document, the nearest first; count the others."""
    found, rights = space.found, space.rights(row)
    ranked = enumerate(found.documents[row].tolist())
    places = [n for n, d in ranked if n >= first - 1 and d >= 0 and d not in rights.documents]
    if not places:
        return []
    own, passages = space.own[row, document], found.passages[row, places]
    nearness = space.cosines(passages, rights.passages).max(axis=1)
    bar = own - margin * (abs(own) if space.relative else 1)
    kept = []
    for place, passage, cosine in zip(places, passages.tolist(), nearness, strict=True):
        if rights.repeated(space.form(passage)):
            left_out[SAME] += 1
        elif space.held_out(passage):
            left_out[HELD] += 1
        elif cosine > near:
            left_out[NEAR] += 1
        elif not found.similarity[row, place] <= bar:
            left_out[CLOSE] += 1
        else:
            kept.append(space.passages[passage])
    return kept


def _mined(
    corpus: Corpus[Any], triplets: tuple[Triplet, ...], left_out: Counter[str], ranks: tuple[int, int], margin: float
) -> Mined:
    bare = left_out[BARE]
    if bare == len(triplets):
        reasons = sorted((why for why in CURES if left_out[why]), key=lambda why: -left_out[why])
        told = ", ".join(f"{left_out[why]:,} {why}" for why in reasons) or "all are right"
        cure = CURES[reasons[0]] if reasons else "give more documents, or look further down with a larger --window"
        raise InputError(
            f"corpus {corpus.name!r}: none of its {len(triplets):,} questions has a document of ranks {ranks[0]} to "
            f"{ranks[1]} that is wrong and {margin:g} less similar than the right one ({told}); {cure}"
        )
    notes = (f"{bare:,} of {len(triplets):,} questions have no hard negative and are learnt from as pairs",) * bool(
        bare
    )
    return Mined(triplets, +left_out, notes)


def _check(per_question: int, ranks: tuple[int, int], margin: float, near: float) -> None:
    if per_question < 1:
        raise SpecError(f"option 'per_question': must be 1 or more, is {per_question}")
    if not 1 <= ranks[0] <= ranks[1]:
        raise SpecError(f"option 'ranks': the first and the last rank, from 1; they are {ranks[0]} and {ranks[1]}")
    if not 0 <= margin < 2:
        raise SpecError(f"option 'margin': from 0 to below 2, is {margin}")
    if not 0 < near <= 1:
        raise SpecError(f"option 'near': a cosine above 0 and up to 1, is {near}")
