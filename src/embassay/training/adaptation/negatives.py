"""Hard negatives: wrong documents that the base model ranks high.

Roychowdhury et al. (2024, section 2.4) fine-tune on triplets ⟨question, right, [wrong …]⟩. A wrong document must be
less similar to the question than the right one by a margin, so that an unmarked right answer is not taught to be wrong:
Moreira et al. (2024, "NV-Retriever").
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from embassay.core.errors import InputError
from embassay.core.randomness import generator
from embassay.core.samples.retrieval import Question, first_passages, right_pairs
from embassay.core.types import AnyCorpus, Encoder
from embassay.core.vectors import Neighbours
from embassay.models.neural.derived import unit
from embassay.search.exact.top import search
from embassay.training.triplets import Triplet, normalised

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

    def __bool__(self) -> bool:
        """Return whether there is a triplet."""
        return bool(self.triplets)

    @property
    def negatives(self) -> int:
        """The number of wrong documents, over all triplets."""
        return sum(len(triplet.wrong) for triplet in self.triplets)


NONE = Mined((), Counter())
"""No triplets."""


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
    space = _Space.of(corpus, answered, encoder, window)
    # Compared as texts, because a document that may be learnt from can repeat a held-out one.
    held_out_forms = {space.forms[passage] for name in held_out for passage in space.passages_of[space.places[name]]}
    # Questions of one text share their right documents.
    right_places: defaultdict[str, set[int]] = defaultdict(set)
    for question in answered:
        right_places[normalised(question.question)].update(space.places[name] for name in question.right)
    triplets: dict[tuple[str, str], Triplet] = {}
    for row, question in enumerate(answered):
        # A random stream for each question, so that its sample does not depend on the others.
        rng = generator(seed, "hard negatives", question.id)
        rights = _Rights.of(right_places[normalised(question.question)], space)
        for name in dict.fromkeys(question.right):
            place = space.places[name]
            right = space.nearest_text(row, place)
            if (question.question, right) in triplets:
                left_out[AGAIN] += 1
                continue
            candidates, refused = space.candidates(row, place, rights, margin, held_out_forms)
            left_out += refused
            drawn = sorted(rng.permutation(len(candidates))[:per_question].tolist())
            wrong = tuple(dict.fromkeys(candidates[number] for number in drawn))
            if not wrong:
                left_out[BARE] += 1
            triplets[question.question, right] = Triplet(question.question, right, wrong, rights.texts)

    without = left_out[BARE]
    if without == len(triplets):
        raise _no_negatives(corpus, without, left_out, window, margin)
    notes = []
    if without:
        notes.append(f"{without:,} of {len(triplets):,} questions have no hard negative; they are used as pairs")
    return Mined(tuple(triplets.values()), +left_out, tuple(notes))


@dataclass(frozen=True)
class _Rights:
    """The right documents of all questions with one text: their places, their passages and the passages' texts."""

    places: Collection[int]
    passages: Sequence[int]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, places: Collection[int], space: _Space) -> _Rights:
        """Gather the passages. If there is only one text, ``texts`` is empty."""
        # Sorted, because the order of a set differs between processes.
        passages = [passage for place in sorted(places) for passage in space.passages_of[place]]
        texts = tuple(dict.fromkeys(space.texts[passage] for passage in passages))
        return cls(places, passages, texts if len(texts) > 1 else ())


@dataclass(frozen=True)
class _Space:
    """The questions and passages as vectors, and the documents nearest to each question.

    Attributes
    ----------
    places
        The place of each document by its id.
    passages_of
        For each document the numbers of its passages; all passages are numbered one after the other.
    texts, forms
        The passages, and their normalised texts between two spaces, so that only whole words match in them.
    unit_vectors, compared_vectors
        (passages, d) vectors at unit length, and as the encoder compares them.
    right_similarity
        The similarity of a question and a right document by (row of the question, place of the document).
    """

    places: dict[str, int]
    passages_of: list[range]
    texts: list[str]
    forms: list[str]
    by_dot_product: bool
    question_vectors: np.ndarray
    unit_vectors: np.ndarray
    compared_vectors: np.ndarray
    nearest: Neighbours
    right_similarity: dict[tuple[int, int], float]

    @classmethod
    def of(cls, corpus: AnyCorpus, questions: Sequence[Question], encoder: Encoder, window: int) -> _Space:
        """Encode questions and passages, and search."""
        texts = [passage for document in corpus.documents for passage in document.passages]
        starts = first_passages(corpus.documents)
        pairs = right_pairs(questions, corpus.documents)
        question_vectors = np.asarray(encoder.encode([question.question for question in questions], "query"))
        vectors = np.asarray(encoder.encode(texts, "document"))
        unit_vectors = unit(vectors)
        by_dot_product = encoder.card.similarity == "dot"
        nearest = search(
            question_vectors,
            vectors,
            k=window,
            similarity_function=encoder.card.similarity,
            starts=starts,
            pairs=pairs,
        )
        return cls(
            {document.id: place for place, document in enumerate(corpus.documents)},
            [range(start, end) for start, end in pairwise((*starts.tolist(), len(texts)))],
            texts,
            [f" {normalised(text)} " for text in texts],
            by_dot_product,
            question_vectors,
            unit_vectors,
            vectors if by_dot_product else unit_vectors,
            nearest,
            dict(zip(map(tuple, pairs.tolist()), nearest.own.tolist(), strict=True)),
        )

    def nearest_text(self, row: int, place: int) -> str:
        """Return the passage of a document that is nearest to a question."""
        passages = self.passages_of[place]
        similarities = self.compared_vectors[passages.start : passages.stop] @ self.question_vectors[row]
        return self.texts[passages[int(similarities.argmax())]]

    def candidates(
        self, row: int, place: int, rights: _Rights, margin: float, held_out_forms: Collection[str]
    ) -> tuple[list[str], Counter[str]]:
        """Return a question's candidate texts for one right document, nearest first, and the refused ones by reason."""
        similarity = self.right_similarity[row, place]
        # Dot products have no common scale, so the margin is a share of the right document's similarity.
        limit = similarity - margin * (abs(similarity) if self.by_dot_product else 1)
        refused: Counter[str] = Counter()
        texts = []
        for column, other in enumerate(self.nearest.documents[row].tolist()):
            # If the search returns fewer documents than requested, the remaining places are -1.
            if other < 0 or other in rights.places:
                continue
            passage = int(self.nearest.passages[row, column])
            reason = self.refused(passage, rights.passages, held_out_forms)
            if not reason and self.nearest.similarity[row, column] > limit:
                reason = CLOSE
            if reason:
                refused[reason] += 1
            else:
                texts.append(self.texts[passage])
        return texts, refused

    def refused(self, passage: int, right_passages: Sequence[int], held_out_forms: Collection[str]) -> str:
        """Return why a passage is no negative, however similar it is to the question; empty if it may be one."""
        form = self.forms[passage]
        if any(form in self.forms[right] or self.forms[right] in form for right in right_passages):
            return SAME
        if form in held_out_forms:
            return HELD
        # Near-duplicates of a right passage may also answer the question, so they are no negatives.
        if (self.unit_vectors[list(right_passages)] @ self.unit_vectors[passage]).max() > NEAR_DUPLICATE:
            return NEAR
        return ""


def _no_negatives(corpus: AnyCorpus, questions: int, left_out: Counter[str], window: int, margin: float) -> InputError:
    """Return the error that explains why there are no negatives, and what to do."""
    reasons = sorted(filter(left_out.get, CURES), key=lambda reason: -left_out[reason])
    why = ", ".join(f"{left_out[reason]:,} {reason}" for reason in reasons)
    cure = CURES[reasons[0]] if reasons else "add documents, or search further with a larger --window"
    return InputError(
        f"corpus {corpus.name!r}: none of its {questions:,} questions has a hard negative among the {window} nearest "
        f"documents at a margin of {margin:g} ({why or 'all are right documents'}); {cure}"
    )
