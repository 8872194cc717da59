"""Questions from judgements (qrels): lines that grade how well a document answers a query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from embassay.core.errors import SourceError, quoted
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import Question
from embassay.corpora.retrieval.corpus import About, left_out, units

JUDGED = "verdicts are about these documents, as many questions share right ones; about=new-documents says otherwise"
Judgement = tuple[int | None, str, str, int]
"""Line, query, document and grade."""


def judged_questions(
    path: Path, rows: Iterable[Judgement], queries: Mapping[str, str], documents: Mapping[str, object], about: About
) -> tuple[tuple[Question, ...], list[str]]:
    """Return the queries that have a right document, in their order, and notes on what was left out.

    A document is right if its grade is above 0.

    Parameters
    ----------
    rows
        The judgements of the file.
    queries, documents
        Those that exist, by id.

    Raises
    ------
    SourceError
        If no query has a right document.
    """
    gains = defaultdict[str, dict[str, int]](dict)
    zero = repeated = 0
    no_query, no_document = list[str](), list[str]()
    queries_of_missing = set[str]()
    for line, query, document, grade in rows:
        if grade <= 0:
            zero += 1
        elif query not in queries:
            no_query.append(f"{quoted(query)} on line {line} of {path.name}")
        elif document not in documents:
            no_document.append(f"{quoted(document)} on line {line} of {path.name}")
            queries_of_missing.add(query)
        else:
            right = gains[query]
            repeated += document in right
            right[document] = max(grade, right.get(document, 0))
    if not gains:
        missing = [*no_query, *no_document]
        reason = f"{missing[0]} is missing" if missing else "no grade is above 0"
        raise SourceError(f"no judgement gives a query a right document: {reason}", path)
    notes = []
    lost = len(queries_of_missing - gains.keys())
    unjudged = len(queries) - len(gains) - lost
    if unjudged:
        notes.append(f"{counted(unjudged, 'query', 'queries')} left out: no right document in {path.name}")
    if zero:
        notes.append(f"{counted(zero, 'judgement')} with grade 0 or less: not right")
    if repeated:
        notes.append(f"{counted(repeated, 'judgement')} repeated: the highest grade counts")
    notes += left_out(
        no_query, "judgement left out: its query is missing", "judgements left out: their queries are missing"
    )
    notes += left_out(
        no_document, "judgement left out: its document is missing", "judgements left out: their documents are missing"
    )
    if lost:
        notes.append(f"{counted(lost, 'query', 'queries')} left out: all their right documents are missing")
    return _questions(queries, gains, about), notes


def _questions(
    queries: Mapping[str, str], gains: Mapping[str, Mapping[str, int]], about: About
) -> tuple[Question, ...]:
    """Return the queries with the grades of their right documents."""
    questions = list[Question]()
    for query, text in queries.items():
        if query in gains:
            grades = gains[query]
            questions.append(Question(query, text, tuple(grades), tuple(grades.values()), units(grades, about)))
    return tuple(questions)
