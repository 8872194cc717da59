"""Questions from judgements (qrels): lines that grade how well a document answers a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from embassay.core.errors import SourceError, quoted
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import Record, Table, first_line, read_table
from embassay.core.tables.rows import Columns, Key, Row
from embassay.core.tables.texts import read_head, read_text
from embassay.corpora.retrieval.corpus import About, left_out, units

HEADER = ("query-id", "corpus-id", "score")
HEAD = 65_536


class Judgement(Row):
    """A query, a document, and its grade; ``1.0`` is one."""

    query: Annotated[Key, Columns(HEADER[:1])]
    document: Annotated[Key, Columns(HEADER[1:2])]
    score: Annotated[int, Field(ge=-(10**9), le=10**9)]


def read_judgements(path: Path) -> Iterable[Judgement]:
    """Read BEIR's table or JSON lines, or TREC's lines of query, 0, document and grade.

    Raises
    ------
    SourceError
        With file and line, for a file in another format.
    """
    line = first_line(read_head(path, HEAD))
    if len(line.split()) == 4:
        return Table(path, HEADER, 1, lambda _: _trec_records(path)).select(Judgement)
    if not line.startswith("{") and tuple(cell.strip() for cell in line.split("\t")) != HEADER:
        problem = f"the header must be {', '.join(HEADER)}, separated by tabs; it is {quoted(line)}"
        raise SourceError(f"{problem}; without a header, lines are TREC's query, 0, document and grade", path, 1)
    return read_table(path).select(Judgement)


def _trec_records(path: Path) -> Iterator[Record]:
    """Yield the lines of TREC's judgements."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        cells = line.split()
        if cells and len(cells) != 4:
            raise SourceError(f"must be query, 0, document and grade; it has {len(cells)} columns", path, number)
        if cells:
            yield number, dict(zip(HEADER, (cells[0], *cells[2:]), strict=True))


def judged_questions(
    path: Path, queries: Mapping[str, str], documents: Mapping[str, object], about: About
) -> tuple[tuple[Question, ...], list[str]]:
    """Return the queries that have a right document, in their order, and notes on what was left out.

    A document is right if its grade is above 0.

    Parameters
    ----------
    path
        The file of the judgements.
    queries, documents
        Those that exist, by id.

    Raises
    ------
    SourceError
        If no query has a right document.
    """
    gains: dict[str, dict[str, int]] = {}
    zero = repeated = 0
    no_query, no_document = list[str](), list[str]()
    queries_of_missing = set[str]()
    for row in read_judgements(path):
        query, document = row.query, row.document
        if row.score <= 0:
            zero += 1
        elif query not in queries:
            no_query.append(f"{quoted(query)} on {row.place}")
        elif document not in documents:
            no_document.append(f"{quoted(document)} on {row.place}")
            queries_of_missing.add(query)
        else:
            right = gains.setdefault(query, {})
            repeated += document in right
            right[document] = max(row.score, right.get(document, 0))
    if not gains:
        missing = [*no_query, *no_document]
        reason = f"{missing[0]} is missing" if missing else "no grade is above 0"
        raise SourceError(f"no judgement gives a query a right document: {reason}", path)
    lost = len(queries_of_missing - gains.keys())
    counts = {
        f"left out: no right document in {path.name}": (len(queries) - len(gains) - lost, "query", "queries"),
        "with grade 0 or less: not right": (zero, "judgement", ""),
        "repeated: the highest grade counts": (repeated, "judgement", ""),
    }
    notes = [f"{counted(number, *nouns)} {what}" for what, (number, *nouns) in counts.items() if number]
    notes += left_out(
        no_query, "judgement left out: its query is missing", "judgements left out: their queries are missing"
    )
    notes += left_out(
        no_document, "judgement left out: its document is missing", "judgements left out: their documents are missing"
    )
    if lost:
        notes.append(f"{counted(lost, 'query', 'queries')} left out: all their right documents are missing")
    questions = list[Question]()
    for query, text in queries.items():
        if query in gains:
            grades = gains[query]
            questions.append(Question(query, text, tuple(grades), tuple(grades.values()), units(grades, about)))
    return tuple(questions), notes
