"""Hard negatives: wrong documents that the base model ranks high.

Roychowdhury et al. (2024, section 2.4) fine-tune on triplets ⟨question, right, [wrong …]⟩. A wrong document must be
less similar to the question than the right one by a margin, so that an unmarked right answer is not taught to be wrong:
Moreira et al. (2024, "NV-Retriever").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from embassay.adaptation.space import Space
from embassay.errors import InputError
from embassay.randomness import generator
from embassay.samples.retrieval import Question
from embassay.training.triplets import Triplet
from embassay.types import AnyCorpus, Encoder

NEAR_DUPLICATE = 0.95
"""A document whose cosine to a right document is above this is treated as a duplicate of it."""
AGAIN = "repeated questions with the same right text"
UNANSWERED = "questions without a right document"
BARE = "questions without a wrong document"
SAME = "documents that repeat the text of a right one"
NEAR = "near duplicates of a right document"
CLOSE = "documents within the margin"
HELD = "documents that answer a held-out question"
CURES = {
    SAME: "remove repeated documents, or search further with a larger --window",
    NEAR: "the base can hardly distinguish these documents: use another base, or --pretrain alone (no negatives)",
    CLOSE: "search further with a larger --window, or use a smaller --margin",
    HELD: "search further with a larger --window, or use --by question, which holds no documents out",
}
"""What to do if a reason leaves no negatives."""


@dataclass(frozen=True)
class Mined:
    """The triplets to fine-tune on.

    Attributes
    ----------
    triplets
        One for each question and right document.
    left_out
        How many questions and candidates were left out, by reason.
    notes
        Notes for the user, one sentence each.
    """

    triplets: tuple[Triplet, ...]
    left_out: Counter[str]
    notes: tuple[str, ...] = ()

    @property
    def negatives(self) -> int:
        """The number of wrong documents, over all triplets."""
        return sum(len(triplet.wrong) for triplet in self.triplets)


def mine(
    corpus: AnyCorpus,
    questions: Sequence[Question],
    encoder: Encoder,
    *,
    per_question: int = 4,
    window: int = 50,
    margin: float = 0.05,
    seed: int = 0,
    held_out: Collection[str] = (),
) -> Mined:
    """Sample wrong documents for each question from its nearest documents.

    A candidate is one of the nearest documents and not a right document of any question with the same text. Its text
    does not equal, contain or occur in the text of a right document, and its cosine to a right one is at most 0.95. It
    is less similar to the question than the right document by at least the margin. At most ``per_question`` candidates
    are chosen at random. A document with several passages is represented by the passage nearest to the question. A
    question without a candidate is kept as a pair.

    Parameters
    ----------
    corpus
        The corpus whose documents are searched.
    questions
        The training questions. Those without a right document are left out.
    per_question
        Maximum number of wrong documents for each right one.
    window
        The number of nearest documents that are candidates, right ones included.
    margin
        A wrong document must be less similar to the question than the right one by this amount: a difference of
        cosines, or, if the encoder compares by dot product, a share of the right document's similarity.
    seed
        Seed for the sampling. The sample of one question does not depend on the other questions.
    held_out
        Ids of documents that are never used as negatives, nor are other documents with the same text.

    Raises
    ------
    InputError
        If no question has a right document, or no question has a wrong one.
    """
    answered = [question for question in questions if question.right]
    if not answered:
        raise InputError(f"corpus {corpus.name!r}: none of the {len(questions):,} questions has a right document")
    left_out: Counter[str] = Counter({UNANSWERED: len(questions) - len(answered)})
    space = Space(corpus, answered, encoder, window, held_out)
    triplets: dict[tuple[str, str], Triplet] = {}
    for row, question in enumerate(answered):
        # A random stream for each question, so that its sample does not depend on the others.
        rng = generator(seed, "hard negatives", question.id)
        for name in dict.fromkeys(question.right):
            document = space.documents[name]
            right = space.text(row, document)
            if (question.question, right) in triplets:
                left_out[AGAIN] += 1
                continue
            candidates, refused = _candidates(space, row, document, margin)
            left_out += refused
            drawn = sorted(rng.permutation(len(candidates))[:per_question].tolist())
            wrong = tuple(dict.fromkeys(candidates[place] for place in drawn))
            if not wrong:
                left_out[BARE] += 1
            triplets[question.question, right] = Triplet(question.question, right, wrong, space.rights(row).texts)

    without = left_out[BARE]
    if without == len(triplets):
        raise _no_negatives(corpus, without, left_out, window, margin)
    notes = []
    if without:
        notes.append(f"{without:,} of {len(triplets):,} questions have no hard negative; they are used as pairs")
    return Mined(tuple(triplets.values()), +left_out, tuple(notes))


def _candidates(space: Space, row: int, document: int, margin: float) -> tuple[list[str], Counter[str]]:
    """Return a question's candidate texts for one right document, nearest first, and the rejected ones by reason."""
    nearest, rights = space.nearest, space.rights(row)
    right_similarity = space.right_similarity[row, document]
    # Dot products have no common scale, so the margin is a share of the right document's similarity.
    scale = abs(right_similarity) if space.by_dot_product else 1
    largest = right_similarity - margin * scale
    refused: Counter[str] = Counter()
    texts = []
    # If the search returns fewer documents than requested, the remaining places are -1.
    for place, other in enumerate(nearest.documents[row].tolist()):
        if other < 0 or other in rights.documents:
            continue
        passage = int(nearest.passages[row, place])
        if rights.repeated(space.form(passage)):
            refused[SAME] += 1
        elif space.held_out(passage):
            refused[HELD] += 1
        # Near-duplicates of a right passage may also answer the question, so they are no negatives.
        elif space.largest_cosine(passage, rights.passages) > NEAR_DUPLICATE:
            refused[NEAR] += 1
        elif nearest.similarity[row, place] <= largest:
            texts.append(space.passages[passage])
        else:
            refused[CLOSE] += 1
    return texts, refused


def _no_negatives(corpus: AnyCorpus, questions: int, left_out: Counter[str], window: int, margin: float) -> InputError:
    """Return the error that explains why there are no negatives, and what to do."""
    reasons = sorted(filter(left_out.get, CURES), key=lambda reason: -left_out[reason])
    why = ", ".join(f"{left_out[reason]:,} {reason}" for reason in reasons)
    cure = CURES[reasons[0]] if reasons else "add documents, or search further with a larger --window"
    return InputError(
        f"corpus {corpus.name!r}: none of its {questions:,} questions has a hard negative among the {window} nearest "
        f"documents at a margin of {margin:g} ({why or 'all are right documents'}); {cure}"
    )
