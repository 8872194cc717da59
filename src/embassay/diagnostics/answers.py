"""How much has to be read until the answer is read? Judged by the words of the answer, not by the right document.

The passages of all documents are read in the order of their similarity to the question. An answer is read when all its
words are; pieces of it in two passages count together, and overlapping words count as often as they are read.
``Answer@400w``: the text stops at the 400th word. With the condition ``whole`` a passage counts only if it fits.
``Answer@5``: the answer is in the first five passages.

Two ways to divide documents differ in the words of a passage, so they are compared at the same number of words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from embassay.core.errors import SpecError
from embassay.core.layout import Curves, Drawings
from embassay.core.result import Series
from embassay.core.samples.retrieval import AnsweredQuestion, AnswerPlace, Document, Question
from embassay.core.types import Corpus, ItemScores
from embassay.core.vectors import Neighbours, Vectors
from embassay.corpora.io.passages import word_count
from embassay.diagnostics.method import ItemMethod, ItemView, Shown, Stored, need_within
from embassay.diagnostics.metrics.metric import Meaning, Metric, with_options
from embassay.diagnostics.metrics.summary import Figures, MetricSummary
from embassay.diagnostics.retrieval.scores import passages_of, queries_of
from embassay.stats.units import Floats, Ints

NAME = "answers"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
MEANING = Meaning("answers within the words that are read", "questions", task="information-retrieval")
BUDGETS = (100, 200, 400, 800)
"""The numbers of words at which every run says how many answers are read."""
CURVE = np.unique(np.geomspace(20, 800, 40).astype(int))
"""The numbers of words of the curve on the page."""


@dataclass(frozen=True)
class Passages:
    """All passages of the documents, document by document.

    Attributes
    ----------
    texts
        Their texts, without what is set before them.
    words
        The number of words of each, with those that are set before it.
    spans
        Where each begins and ends in its document, white space not counted.
    rows
        The passages of each document, by its id.
    """

    texts: Sequence[str]
    words: Sequence[int]
    spans: Sequence[tuple[int, int]]
    rows: Mapping[str, range]

    @classmethod
    def of_documents(cls, documents: Sequence[Document]) -> Passages:
        """Return those of some documents."""
        texts, words, spans, rows = list[str](), list[int](), list[tuple[int, int]](), dict[str, range]()
        for document in documents:
            rows[document.id] = range(len(texts), len(texts) + len(document.passages))
            words += map(word_count, document.passages)
            for text, start, end in document.placed:
                texts.append(text)
                spans.append((start, end))
        return cls(texts, words, spans, rows)


def words_to(text: str, letters: int) -> int:
    """Return how many words a text has up to this character, white space not counted."""
    read = list[str]()
    for word in text.split():
        read.append(word[:letters])
        letters -= len(word)
        if letters <= 0:
            break
    return word_count(" ".join(read))


def until(place: AnswerPlace, passages: Passages, order: Ints, ends: Ints) -> tuple[float, float, float]:
    """Return when all of an answer is read: in which passage, from 1, and after how many words.

    Parameters
    ----------
    order, ends
        (m,) the passages in the order in which they are read, and the number of words at the end of each.

    Returns
    -------
    The number of the passage, the words up to the last one of the answer, and the words up to the end of the passage;
    infinity where what is read does not hold all of the answer.
    """
    missing = set(range(place.start, place.end))
    for position in np.flatnonzero(np.isin(order, passages.rows[place.document])).tolist():
        row = int(order[position])
        start, end = passages.spans[row]
        now_read = {letter for letter in missing if start <= letter < end}
        missing -= now_read
        if not missing:
            # The words up to the end of the passage, less those of it that follow the answer.
            text, read = passages.texts[row], float(ends[position])
            following = word_count(text) - words_to(text, max(now_read) + 1 - start)
            return float(position + 1), read - following, read
    return np.inf, np.inf, np.inf


@dataclass(frozen=True)
class AnswersView(ItemView):
    """One encoder's questions: when their answers are read."""

    options: Answers

    def within(self, name: Literal["rank", "stop", "whole"], most: int) -> Floats:
        """(n,) 1 where the answer is read within so many passages or words, else 0; NaN without an answer."""
        values = self.scores.values[name]
        return np.where(np.isnan(values), np.nan, values <= most)

    @property
    def right(self) -> Floats:
        """(n,) 1 where the answer is read within the words of the headline."""
        return self.within("stop", self.options.read)

    @property
    def margin(self) -> Floats:
        """(n,) how many words are to spare: negative where the answer comes after the last word."""
        return self.options.read - self.scores.values["stop"]

    def shown(self, index: int) -> Shown:
        """Return the number of the passage in which an answer is read, and the words until then."""
        values = self.scores.values
        return {"passage": float(values["rank"][index]), "words": float(values["stop"][index])}, {}


def _within(words: int | None, reading: Literal["stop", "whole"], **declared: Any) -> Metric:
    """Declare the share of answers that are read within so many words; None for those of the option ``read``."""
    fits = "; only passages that fit count" if reading == "whole" else ""
    return Metric(
        f"Answer@{words or '{read}'}w",
        condition="whole" if reading == "whole" else "",
        of=lambda view: view.within(reading, words or view.options.read),
        kind="share",
        better="higher",
        compared="on request",
        meaning=f"share of questions whose answer is within the first words read, passages nearest first{fits}",
        **declared,
    )


METRICS = (
    _within(
        None,
        "stop",
        headline=True,
        margin=0.02,
        says="within {read} words read, the text holds the answer for {of_100}",
        explanation=(
            "The share of the questions whose answer is read when passages are read, nearest first, up to this many "
            "words."
        ),
    ),
    Metric(
        "Answer@{passages}",
        of=lambda view: view.within("rank", view.options.passages),
        kind="share",
        better="higher",
        compared="on request",
        meaning="share of questions whose answer is in the first passages",
    ),
    *(_within(words, "stop") for words in BUDGETS),
    *(_within(words, "whole") for words in (None, *BUDGETS)),
)
DRAWINGS = Drawings(
    parts=(
        Curves(
            "Answers read, by the number of words",
            "curve",
            "Passages are read in the order of their similarity; the text stops at this number of words.",
        ),
    ),
    note="A set-up is compared with another at the same number of words, whatever the size of its passages.",
)


@dataclass(frozen=True, kw_only=True)
class Answers(ItemMethod):
    """The diagnostic.

    Parameters
    ----------
    read
        The number of words of the headline, 10 to 10,000.
    passages
        The number of passages of ``Answer@5``.
    compare
        Which metrics are compared pair by pair: ``headline``, or ``all``, the other numbers of words included.

    Raises
    ------
    SpecError
        For a number out of range.
    """

    read: int = 400
    passages: int = 5
    shape = "retrieval"
    view = AnswersView
    metrics = METRICS

    def __post_init__(self) -> None:
        """Check the ranges of the numbers."""
        need_within(NAME, self, read=(10, 10_000), passages=(1, 1000))

    @property
    def options(self) -> str:
        """The number of words, where more are read than by default."""
        return f"read={self.read}" if self.read > max(BUDGETS) else ""

    def suits(self, corpus: Corpus[Question]) -> bool:
        """Return whether some question has an answer that stands in a document."""
        return any(isinstance(sample, AnsweredQuestion) for sample in corpus.samples)

    def check(self, corpus: Corpus[Question]) -> None:
        """Check that there are answers.

        Raises
        ------
        SpecError
            If there is none; the message says how they are given.
        """
        if not self.suits(corpus):
            raise SpecError(
                f"corpus {corpus.name!r} has no answers: give the table of its questions a column 'answer' with the "
                "text of each answer, or read a file in SQuAD's format with documents=articles"
            )

    def values(self, corpus: Corpus[Question], vectors: Vectors) -> Stored:
        """Read the passages of each question, nearest first, until its answer is read or the words are used up.

        ``rank``, ``stop`` and ``whole``, each (n,): the number of the passage, the words up to the end of the answer,
        and those up to the end of that passage. NaN without an answer, or without any similarity; infinity where the
        answer is not read.
        """
        passages = Passages.of_documents(corpus.documents)
        order, ends = self._read(corpus, vectors, np.array(passages.words))
        read = np.full((len(corpus.samples), 3), np.nan)
        for index, sample in enumerate(corpus.samples):
            # Without any similarity nothing is read.
            if isinstance(sample, AnsweredQuestion) and order[index, 0] >= 0:
                of_places = [until(place, passages, order[index], ends[index]) for place in sample.places]
                # Of several places, the one that is read first.
                read[index] = np.min(of_places, axis=0)
        return dict(zip(("rank", "stop", "whole"), read.T, strict=True))

    def _read(self, corpus: Corpus[Question], vectors: Vectors, words: Ints) -> tuple[Ints, Ints]:
        """Return (n, m) the passages of each question in their order, and the number of words at the end of each.

        They are as many as are needed for all numbers of words; −1 where there is no further one with a similarity.
        """
        queries, matrix = queries_of(corpus, vectors), passages_of(corpus, vectors)
        depth = max(self.passages, 32)
        while True:
            nearest: Neighbours = vectors.search(queries, matrix, k=depth, similarity_function=vectors.similarity)
            order = nearest.documents
            ends = np.cumsum(np.where(order < 0, 0, words[order]), axis=1)
            if depth >= len(words) or ends[:, -1].min() >= max(self.read, *BUDGETS):
                return order, ends
            depth *= 2

    def figures(self, scores: Sequence[ItemScores]) -> Figures[AnswersView]:
        """Return the declared metrics of all encoders."""
        metrics = with_options(METRICS, passages=self.passages, read=self.read)
        return Figures.of(partial(AnswersView, options=self), scores, metrics)

    def series(self, figures: Figures[AnswersView], summary: MetricSummary) -> Iterator[Series]:
        """Yield how many answers are read, by the number of words."""
        lines = []
        for view in figures.requested:
            stops = view.scores.values["stop"]
            stops = stops[~np.isnan(stops)]
            if len(stops):
                shares = [float(np.mean(stops <= words)) for words in CURVE]
                lines.append({"encoder": view.encoder, "line": view.encoder, "y": shares})
        if lines:
            data = {"x": "words read", "y": "answers read", "at": CURVE.tolist(), "lines": lines}
            yield Series(NAME, figures.views[0].corpus, "curve", "curve", data)


create = Answers
