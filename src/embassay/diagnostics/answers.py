"""How much has to be read until the answer is read? Judged by the words of the answer, not by the right document.

The passages of all documents are read in the order of their similarity to the question. An answer is read when all its
words are; pieces of it in two passages count together, and overlapping words count as often as they are read.
``Answer@400w``: the text stops at the 400th word. With the condition ``whole`` a passage counts only if it fits.
``Answer@5``: the answer is in the first five passages.

Two ways to divide documents differ in the words of a passage, so they are compared at the same number of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from embassay.core.claims import COUNT, Template
from embassay.core.errors import SpecError, begun
from embassay.core.formatting import counted
from embassay.core.layout import Curves, Drawings, ExampleColumn, Examples
from embassay.core.result import Finding, Series
from embassay.core.samples.retrieval import AnsweredQuestion, AnswerPlace, Document, Question, length
from embassay.core.types import Corpus, ItemScores, Origin
from embassay.core.vectors import Neighbours, Vectors
from embassay.corpora.io.passages import word_count
from embassay.diagnostics.method import ItemMethod, ItemView, Shown, Stored, need_within
from embassay.diagnostics.metrics.metric import Meaning, Metric, with_options
from embassay.diagnostics.metrics.summary import Figures, MetricSummary
from embassay.diagnostics.retrieval.scores import passages_of, queries_of, reference_of, starts_of
from embassay.stats.resample import ABSENT
from embassay.stats.units import Bools, Floats, Ints

NAME = "answers"
VERSION = 3
"""To be raised with each change after which the same vectors have other scores or figures."""
MEANING = Meaning(
    "answers within the words that are read", "questions", task="information-retrieval", instead_of="retrieval"
)
MANY_BEHIND = 0.01
"""From this share of the answers on, that they are not read is a finding of more than low severity."""
BEFORE, AFTER = 50, 200
"""How many characters before and after the end of an answer are shown."""
BUDGETS = (100, 200, 400, 800)
"""The numbers of words at which every run says how many answers are read."""
BEHIND = Template(
    "{encoder} reads {tokens:,.0f} tokens of a passage, which leaves out {answers} of {corpus} ({share:.0%}).",
    "the encoder truncates every passage that holds the answer, before the end of the answer",
    COUNT,
    title="Answers behind the last token",
    action="{action}",
)
CURVE = np.unique(np.geomspace(20, 800, 40).astype(int))
"""The numbers of words of the curve on the page."""


@dataclass(frozen=True)
class Passages:
    """All passages of the documents, document by document.

    Attributes
    ----------
    full, texts
        Their texts, and the same without what is set before them.
    words
        The number of words of each, with those that are set before it.
    spans
        Where each begins and ends in its document, white space not counted.
    rows
        The passages of each document, by its id.
    """

    full: Sequence[str]
    texts: Sequence[str]
    words: Sequence[int]
    spans: Sequence[tuple[int, int]]
    rows: Mapping[str, range]

    @classmethod
    def of_documents(cls, documents: Sequence[Document]) -> Passages:
        """Return those of some documents."""
        full, texts, spans, rows = list[str](), list[str](), list[tuple[int, int]](), dict[str, range]()
        for document in documents:
            rows[document.id] = range(len(full), len(full) + len(document.passages))
            full += document.passages
            for text, start, end in document.placed:
                texts.append(text)
                spans.append((start, end))
        return cls(full, texts, list(map(word_count, full)), spans, rows)

    def ends(self, sample: Question) -> Iterator[tuple[int, str]]:
        """Yield the passages in which the answer of a question ends, by their rows, each up to that end."""
        for place in sample.places if isinstance(sample, AnsweredQuestion) else ():
            for row in self.rows[place.document]:
                start, end = self.spans[row]
                if start < place.end <= end:
                    before = length(self.full[row]) - length(self.texts[row])
                    yield row, beginning(self.full[row], before + place.end - start)


def beginning(text: str, letters: int) -> str:
    """Return a text up to this character, white space not counted, with single spaces."""
    read = list[str]()
    for word in text.split():
        read.append(word[:letters])
        letters -= len(word)
        if letters <= 0:
            break
    return " ".join(read)


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
    # The characters of the answer that no passage before has shown.
    unread = set(range(place.start, place.end))
    is_of_document = np.isin(order, passages.rows[place.document])
    for position in np.flatnonzero(is_of_document).tolist():
        row = int(order[position])
        start, end = passages.spans[row]
        now_read = unread.intersection(range(start, end))
        unread -= now_read
        if not unread:
            text = passages.texts[row]
            up_to_answer = beginning(text, max(now_read) + 1 - start)
            words_after_answer = word_count(text) - word_count(up_to_answer)
            words_read = float(ends[position])
            return float(position + 1), words_read - words_after_answer, words_read
    return np.inf, np.inf, np.inf


@dataclass(frozen=True)
class AnswersView(ItemView):
    """One encoder's questions: when their answers are read."""

    options: Answers

    def within(self, name: Literal["rank", "stop", "whole"], most: int) -> Floats:
        """(n,) 1 where the answer is read within so many passages or words, else 0; ABSENT without an answer."""
        values = self.scores.values[name]
        read = np.where(np.isnan(values), np.nan, values <= most)
        return np.where(self.scores.values["has_answer"] == 1, read, ABSENT)

    @property
    def right(self) -> Floats:
        """(n,) 1 where the answer is read within the words of the headline; NaN without an answer."""
        read = self.within("stop", self.options.read)
        return np.where(read == ABSENT, np.nan, read)

    @property
    def behind(self) -> float:
        """The share of the answers that the encoder does not read, because it truncates their passages; 0 if none."""
        encoded = self.scores.values.get("encoded", np.empty(0))
        known = encoded[~np.isnan(encoded)]
        return float(np.mean(known == 0)) if len(known) else 0.0

    @property
    def margin(self) -> Floats:
        """(n,) how many words are to spare: negative where the answer comes after the last word."""
        return self.options.read - self.scores.values["stop"]

    def shown(self, index: int) -> Shown:
        """Return the number of the passage in which an answer is read, and the words until then."""
        passage, words = (float(self.scores.values[name][index]) for name in ("rank", "stop"))
        if self.scores.values["has_answer"][index] == 0:
            return {}, {}
        where = (
            f"in passage {passage:,.0f}, after {words:,.0f} words"
            if np.isfinite(words)
            else "in no passage that was read"
        )
        return {}, {"read": where}


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
        says="the first {read} words that are read hold the answer for {of_100}",
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
        Examples(
            "Question by question",
            "question",
            texts=(("answer", "answer"), ("right", "where it stands")),
            columns=(
                ExampleColumn("answer read", ("read",)),
                ExampleColumn("passage read first", ("first",), passages=True),
            ),
            margin="the words that are left when the answer is read",
        ),
    ),
    note="Set-ups are compared at the same number of words, whatever the size of their passages.",
)


def words_read(order: Ints, passages: Passages) -> Ints:
    """Return (n, m) the words that are read at the end of each passage; −1 stands for none."""
    return np.cumsum(np.where(order < 0, 0, np.array(passages.words)[order]), axis=1)


def _when_read(corpus: Corpus[Question], passages: Passages, order: Ints, missing: Bools) -> dict[str, Floats]:
    """Return when the answers of n questions are read; NaN without an answer, and for the (n,) missing questions."""
    read = np.full((len(corpus.samples), 3), np.nan)
    ends = words_read(order, passages)
    for index, sample in enumerate(corpus.samples):
        if isinstance(sample, AnsweredQuestion) and not missing[index]:
            of_places = [until(place, passages, order[index], ends[index]) for place in sample.places]
            # Of several places, the one that is read first.
            read[index] = np.min(of_places, axis=0)
    has_answer = np.array([isinstance(sample, AnsweredQuestion) for sample in corpus.samples], dtype=np.float64)
    first = np.where(order[:, 0] < 0, np.nan, order[:, 0])
    return {"has_answer": has_answer, "first": first, **dict(zip(("rank", "stop", "whole"), read.T, strict=True))}


def _encoded(sample: Question, passages: Passages, vectors: Vectors) -> float:
    """Return 1 if an encoder reads some passage up to the end of the answer, else 0; NaN if that is not known."""
    beginnings = [text for _, text in passages.ends(sample)]
    counts = vectors.tokens(beginnings) if vectors.tokens and beginnings else None
    return np.nan if counts is None else float(min(counts) <= (vectors.most_tokens or np.inf))


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
    scores_rankings = ranks_passages = True
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

    @property
    def k(self) -> int:
        """The number of passages, by which a weight is chosen."""
        return self.passages

    def searched(self, corpus: Corpus[Question]) -> Corpus[Question]:
        """Return the corpus with each passage as a document; right are those in which the answer ends."""
        passages = Passages.of_documents(corpus.documents)
        documents = tuple(Document(str(row), (text,)) for row, text in enumerate(passages.full))
        samples = []
        for sample in corpus.samples:
            # Several places may be in one passage.
            right = dict.fromkeys(str(row) for row, _ in passages.ends(sample))
            samples.append(Question(sample.id, sample.question, tuple(right), units=sample.units))
        return replace(corpus, samples=tuple(samples), documents=documents)

    def values(self, corpus: Corpus[Question], vectors: Vectors) -> Stored:
        """Read the passages of each question, nearest first, until its answer is read or the words are used up.

        ``rank``, ``stop`` and ``whole``, each (n,): the number of the passage, the words up to the end of the answer,
        and those up to the end of that passage. NaN without an answer, or without any similarity; infinity where the
        answer is not read. ``first``: the passage that is read first. ``encoded``: whether the encoder reads some
        passage up to the end of the answer.
        """
        passages = Passages.of_documents(corpus.documents)
        order = self._nearest(corpus, vectors, passages)
        stored = _when_read(corpus, passages, order, missing=order[:, 0] < 0)
        if vectors.most_tokens and vectors.tokens:
            stored["encoded"] = np.array([_encoded(sample, passages, vectors) for sample in corpus.samples])
        return {**stored, "most_tokens": float(vectors.most_tokens or np.nan)}

    def score_rankings(self, corpus: Corpus[Question], nearest: Neighbours, origin: Origin) -> ItemScores:
        """Score lists of passages; an answer that is in none of them is not read."""
        passages = Passages.of_documents(corpus.documents)
        stored = _when_read(corpus, passages, nearest.documents, missing=np.zeros(len(corpus.samples), dtype=bool))
        return self.stored(corpus, origin, stored)

    def shows(self, corpus: Corpus[Question]) -> Callable[[AnswersView, int], Shown]:
        """Return what shows when an answer is read, with a reference to the passage that is read first."""
        starts = starts_of(corpus)

        def shown(view: AnswersView, index: int) -> Shown:
            _, labels = view.shown(index)
            first = view.scores.values["first"][index]
            if labels and not np.isnan(first):
                labels = {**labels, "first": reference_of(corpus, starts, first)}
            return {}, labels

        return shown

    def texts(
        self, corpus: Corpus[Question], index: int, outcomes: Sequence[Mapping[str, str]]
    ) -> tuple[dict[str, str], Mapping[str, str]]:
        """Return a question with its answer, the text around it, and the passages that the encoders read first."""
        sample = corpus.samples[index]
        texts = corpus.shown(sample)
        for outcome in outcomes:
            if name := outcome.get("first"):
                texts[name] = begun(corpus.passage(name))
        if isinstance(sample, AnsweredQuestion):
            documents = [corpus.document_of[place.document] for place in sample.places[:1]]
            passages = Passages.of_documents(documents)
            for row, up_to_answer in passages.ends(replace(sample, places=sample.places[:1])):
                text, end = " ".join(passages.full[row].split()), len(up_to_answer)
                start = max(end - BEFORE, 0)
                texts["right"] = f"[{documents[0].id}] {'…' if start else ''}{begun(text[start:], end - start + AFTER)}"
        return texts, {}

    def _nearest(self, corpus: Corpus[Question], vectors: Vectors, passages: Passages) -> Ints:
        """Return (n, m) the passages of each question in their order, as many as all numbers of words need.

        −1 where there is no further one with a similarity.
        """
        queries, matrix = queries_of(corpus, vectors), passages_of(corpus, vectors)
        depth = max(self.passages, 32)
        while True:
            nearest: Neighbours = vectors.search(queries, matrix, k=depth, similarity_function=vectors.similarity)
            read = words_read(nearest.documents, passages)[:, -1]
            if depth >= len(passages.words) or read.min() >= max(self.read, *BUDGETS):
                return nearest.documents
            depth *= 2

    def figures(self, scores: Sequence[ItemScores]) -> Figures[AnswersView]:
        """Return the declared metrics of all encoders."""
        metrics = with_options(METRICS, passages=self.passages, read=self.read)
        return Figures.of(partial(AnswersView, options=self), scores, metrics)

    def findings(self, figures: Figures[AnswersView], summary: MetricSummary) -> Iterator[Finding]:
        """Yield how many answers each encoder does not read because it truncates their passages."""
        shares = {view.encoder: view.behind for view in figures.requested}
        is_common = min(shares.values(), default=0.0) >= MANY_BEHIND
        for view in figures.requested:
            if share := view.behind:
                yield BEHIND.finding(
                    view.scores.origin,
                    severity="medium" if share >= MANY_BEHIND else "low",
                    encoder=view.encoder,
                    corpus=view.corpus,
                    answers=counted(int(np.sum(view.scores.values["encoded"] == 0)), "answer"),
                    share=share,
                    tokens=view.scores.scalars["most_tokens"],
                    action="try shorter passages: passages=[paragraph,100]" if is_common else "",
                )

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
