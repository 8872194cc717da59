"""Questions and passages in the space of an encoder, and what answers which question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine.topk import search
from embassay.samples.retrieval import Question
from embassay.training.triplets import normalised
from embassay.types import Corpus, Encoder
from embassay.vectors import Found

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rights:
    """What answers the questions of one text.

    Attributes
    ----------
    documents
        Places of the right documents.
    passages
        All of their passages.
    texts
        Those passages' texts; none where there is one only.
    forms
        Those texts in normalised form, a blank on either side.
    """

    documents: frozenset[int]
    passages: Ints
    texts: tuple[str, ...]
    forms: frozenset[str]

    def repeated(self, form: str) -> bool:
        """Say whether a text, in that form, is a right one, a part of one, or more than one."""
        return form in self.forms or any(form in right or right in form for right in self.forms)


class Space:
    """The questions and passages as vectors, and the documents nearest to each question."""

    def __init__(
        self, corpus: Corpus[Any], questions: Sequence[Question], encoder: Encoder, last: int, held_out: Collection[str]
    ):
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
        self._forms: dict[int, str] = {}
        places = [self.documents[name] for name in held_out]
        self._held_out = {self.form(p) for d in places for p in range(self.starts[d], self.starts[d + 1])}
        self._asked_alike: defaultdict[str, set[int]] = defaultdict(set)
        for question in questions:
            self._asked_alike[normalised(question.question)].update(self.documents[name] for name in question.right)
        self._rights: dict[frozenset[int], Rights] = {}

    def rights(self, row: int) -> Rights:
        """Return what answers a question, or another one of its text."""
        documents = frozenset(self._asked_alike[normalised(self.questions[row].question)])
        if documents not in self._rights:
            passages = np.concatenate([np.arange(self.starts[p], self.starts[p + 1]) for p in sorted(documents)])
            texts = tuple(dict.fromkeys(self.passages[p] for p in passages))
            forms = frozenset(map(self.form, passages.tolist()))
            self._rights[documents] = Rights(documents, passages, texts if len(texts) > 1 else (), forms)
        return self._rights[documents]

    def form(self, passage: int) -> str:
        """Return a passage's text in normalised form, a blank on either side, so that parts of it are whole words."""
        if passage not in self._forms:
            self._forms[passage] = f" {normalised(self.passages[passage])} "
        return self._forms[passage]

    def held_out(self, passage: int) -> bool:
        """Say whether a passage is one of a document that is held out, or has its text."""
        return self.form(passage) in self._held_out

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


def _unit(rows: Any) -> Any:
    """Return rows at unit length; zero rows stay."""
    from sklearn.preprocessing import normalize

    return normalize(rows)
