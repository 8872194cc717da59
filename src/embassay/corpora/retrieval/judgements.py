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
from embassay.core.tables.rows import Key, Row, column
from embassay.core.tables.texts import read_head, read_text
from embassay.core.types import Corpus
from embassay.corpora.io.passages import Cutter
from embassay.corpora.retrieval.corpus import About, corpus_of, cut_all, left_out, units

JUDGED = "verdicts are about these documents, as many questions share right ones; about=new-documents says otherwise"
HEADER = ("query-id", "corpus-id", "score")
HEAD = 65_536


class Judgement(Row):
    """A query, a document, and its grade; ``1.0`` is one."""

    query: Key = column(*HEADER[:1])
    document: Key = column(*HEADER[1:2])
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


def judged_corpus(
    name: str,
    path: Path,
    queries: Mapping[str, str],
    texts: Mapping[str, tuple[str, str]],
    cut: Cutter,
    about: About,
    notes: Iterable[str],
) -> Corpus[Question]:
    """Return the queries that have a right document, in their order, with notes on what was left out.

    A document is right if its grade is above 0.

    Parameters
    ----------
    path
        The file of the judgements.
    queries
        By id.
    texts
        By the id of a document: its text, which may be empty, and its place.

    Raises
    ------
    SourceError
        If no query has a right document.
    """
    documents = {key: text for key, (text, _) in texts.items() if text}
    empty = [f"{quoted(key)} on {place}" for key, (text, place) in texts.items() if not text]
    gains: dict[str, dict[str, int]] = {}
    zero = repeated = 0
    missing = list[str]()
    for row in read_judgements(path):
        unknown = [key for key, known in ((row.query, queries), (row.document, documents)) if key not in known]
        if row.score <= 0:
            zero += 1
        elif unknown:
            missing.append(f"{quoted(unknown[0])} on {row.place}")
        else:
            right = gains.setdefault(row.query, {})
            repeated += row.document in right
            right[row.document] = max(row.score, right.get(row.document, 0))
    if not gains:
        reason = f"{missing[0]} is missing" if missing else "no grade is above 0"
        raise SourceError(f"no judgement gives a query a right document: {reason}", path)
    questions = []
    for query, text in queries.items():
        if grades := gains.get(query):
            questions.append(Question(query, text, tuple(grades), tuple(grades.values()), units(grades, about)))
    same = len(queries.keys() & documents.keys())
    counts = {
        f"left out: no right document in {path.name}": counted(len(queries) - len(gains), "query", "queries"),
        "with grade 0 or less: not right": counted(zero, "judgement"),
        "repeated: the highest grade counts": counted(repeated, "judgement"),
        "with the id of a document, which can be retrieved here; BEIR's evaluation leaves it out": counted(
            same, "query", "queries"
        ),
    }
    notes = [*notes, *(f"{number} {what}" for what, number in counts.items() if not number.startswith("0 "))]
    notes += left_out(missing, "judgement left out: no such id", "judgements left out: no such ids")
    notes += left_out(empty, "document left out: no text", "documents left out: no text")
    if about == "these-documents":
        notes.append(JUDGED)
    return corpus_of(name, cut_all(documents, cut), questions, notes=notes)
