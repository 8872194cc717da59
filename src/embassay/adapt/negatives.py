"""Hard negatives: documents that the base model takes for right and that are not.

Triplets ⟨question, right, [wrong …]⟩ are what Roychowdhury et al. (2024, section 2.4) fine-tune on. That wrong ones
have to stand clear of the right one, so that an unmarked right answer is not taught to be wrong, is as in Moreira et
al. (2024, "NV-Retriever").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine.topk import search
from embassay.errors import InputError, SpecError
from embassay.randomness import generator
from embassay.samples import Question
from embassay.types import Corpus, Encoder
from embassay.vectors import Found

Ints = NDArray[np.int64]
AGAIN = "questions asked again with the same right text"
UNANSWERED = "questions without a right document"
BARE = "questions without a wrong document"
SAME = "wrong documents with a right one's text"
NEAR = "wrong documents nearly a right one"
CLOSE = "wrong documents within the margin"


@dataclass(frozen=True)
class Triplet:
    """A question, the text that answers it, and texts that do not; without wrong ones it is a pair."""

    question: str
    right: str
    wrong: tuple[str, ...]


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
) -> Mined:
    """Draw wrong documents for each question from those that the encoder ranks high.

    A candidate stands in the window of ranks, is none of the question's right documents, has the text of none, and is
    no near-duplicate of one; the question is nearer to the right document by the margin. Of these ``per_question`` are
    drawn. Of a document of several passages the one nearest to the question stands for it. A question without a
    candidate is kept as a pair.

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
    space = _Space(corpus, answered, encoder, ranks[1])
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
            triplets[question.question, right] = Triplet(question.question, right, wrong)
    return _mined(corpus, tuple(triplets.values()), left_out, ranks, margin)


class _Space:
    """The questions and passages as vectors, and the documents nearest to each question."""

    def __init__(self, corpus: Corpus[Any], questions: Sequence[Question], encoder: Encoder, last: int):
        self.questions = questions
        self.documents = {document.id: place for place, document in enumerate(corpus.documents)}
        self.starts = np.cumsum([0, *(len(d.passages) for d in corpus.documents)])
        self.passages: list[str] = [text for document in corpus.documents for text in document.passages]
        self.relative = encoder.card.similarity == "dot"
        asked = encoder.encode([q.question for q in questions], "query")
        rows = encoder.encode(self.passages, "document")
        pairs = [(row, self.documents[d]) for row, q in enumerate(questions) for d in dict.fromkeys(q.right)]
        self.found: Found = search(
            asked,
            rows,
            k=last,
            measure=encoder.card.similarity,
            starts=self.starts[:-1],
            pairs=np.array(pairs, dtype=np.int64),
        )
        self.own = dict(zip(pairs, self.found.own.tolist(), strict=True))
        self._asked, self._unit = asked, _unit(rows)
        self._compared = rows if self.relative else self._unit

    def right(self, row: int) -> Ints:
        """Return the passages of all right documents of a question."""
        places = [self.documents[name] for name in self.questions[row].right]
        return np.concatenate([np.arange(self.starts[p], self.starts[p + 1]) for p in places])

    def text(self, row: int, document: int) -> str:
        """Return the passage of a right document that is nearest to the question."""
        first, last = (int(place) for place in self.starts[document : document + 2])
        if last - first == 1:
            return self.passages[first]
        scores = self._compared[first:last] @ self._asked[row : row + 1].T
        scores = scores.toarray() if hasattr(scores, "toarray") else scores
        return self.passages[first + int(np.asarray(scores).ravel().argmax())]

    def cosines(self, passages: Ints, others: Ints) -> NDArray[np.float64]:
        """Return the (p, o) cosines of passages with others."""
        found = self._unit[passages] @ self._unit[others].T
        return np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)


def _clear(
    space: _Space, row: int, document: int, first: int, margin: float, near: float, left_out: Counter[str]
) -> list[str]:
    """Return the texts of a question's candidates for one right document, the nearest first; count the others."""
    found = space.found
    rights = {space.documents[name] for name in space.questions[row].right}
    places = [n for n, d in enumerate(found.documents[row]) if n >= first - 1 and d >= 0 and int(d) not in rights]
    if not places:
        return []
    own, passages = space.own[row, document], found.passages[row, places]
    right = space.right(row)
    texts = {_plain(space.passages[p]) for p in right}
    nearness = space.cosines(passages, right).max(axis=1)
    bar = own - margin * (abs(own) if space.relative else 1)
    kept = []
    for place, passage, cosine in zip(places, passages.tolist(), nearness, strict=True):
        if _plain(space.passages[passage]) in texts:
            left_out[SAME] += 1
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
        reasons = ", ".join(f"{left_out[why]:,} {why}" for why in (SAME, NEAR, CLOSE) if left_out[why])
        raise InputError(
            f"corpus {corpus.name!r}: none of its {len(triplets):,} questions has a document of ranks {ranks[0]} to "
            f"{ranks[1]} that is wrong and {margin:g} less similar than the right one ({reasons or 'all are right'}); "
            "more documents, a wider window or a smaller margin may have some"
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


def _unit(rows: Any) -> Any:
    """Return rows at unit length; zero rows stay."""
    from sklearn.preprocessing import normalize

    return normalize(rows)


def _plain(text: str) -> str:
    """Return a text without regard to case and spaces."""
    return " ".join(text.casefold().split())
