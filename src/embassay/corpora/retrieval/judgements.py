"""Questions from judgements (qrels): lines that grade how well a document answers a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from embassay.core.errors import SourceError, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import first_line, read_table
from embassay.core.tables.rows import Key, Row, Stripped, Text, column
from embassay.core.tables.texts import read_head
from embassay.core.types import Corpus
from embassay.corpora.io.headerless import headerless
from embassay.corpora.io.passages import Cutter
from embassay.corpora.retrieval.corpus import About, corpus_of, cut_all, notes_on, units

JUDGED = "verdicts are about these documents, as many questions share right ones; about=new-documents says otherwise"
HEADER = ("query-id", "corpus-id", "score")
HEAD = 65_536


class DocumentRow(Row):
    """A document; it may have no text."""

    id: Key = column("_id")
    title: Text = ""
    text: Text = ""


class QueryRow(Row):
    """A query."""

    id: Key = column("_id")
    text: Stripped


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
        return headerless(path, HEADER, _trec_values, "query, 0, document and grade").select(Judgement)
    if not line.startswith("{") and tuple(cell.strip() for cell in line.split("\t")) != HEADER:
        problem = f"the header must be {', '.join(HEADER)}, separated by tabs; it is {quoted(line)}"
        raise SourceError(f"{problem}; without a header, lines are TREC's query, 0, document and grade", path, 1)
    return read_table(path).select(Judgement)


def _trec_values(cells: list[str]) -> list[str]:
    """Return query, document and grade of a line of TREC's judgements, between spaces or tabs."""
    values = " ".join(cells).split()
    return [values[0], *values[2:]] if values else []


def judged_corpus(
    name: str,
    path: Path,
    queries: Iterable[QueryRow],
    documents: Iterable[DocumentRow],
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

    Raises
    ------
    SourceError
        If no query has a right document.
    """
    text_of = {row.id: row.text for row in queries}
    # The title and the text of each document, which may be empty.
    whole = dict[str, str]()
    for document in documents:
        # They may be those of several files.
        if document.id in whole:
            raise document.error(f"{quoted(document.id)} is already the id of a document", "id")
        whole[document.id] = f"{document.title} {document.text}".strip()
    texts = {key: text for key, text in whole.items() if text}
    gains: dict[str, dict[str, int]] = {query: {} for query in text_of}
    counts = Counter[tuple[str, str]]()
    for row in read_judgements(path):
        if row.score <= 0:
            counts["judgement", "with grade 0 or less: not right"] += 1
        elif row.query not in gains or row.document not in texts:
            counts["judgement", "left out: no such id"] += 1
        else:
            right = gains[row.query]
            counts["judgement", "repeated: the highest grade counts"] += row.document in right
            right[row.document] = max(row.score, right.get(row.document, 0))
    questions = [
        Question(query, text_of[query], tuple(right), tuple(right.values()), units(right, about))
        for query, right in gains.items()
        if right
    ]
    counts["question", "left out: no right document"] = len(gains) - len(questions)
    counts["document", "left out: no text"] = len(whole) - len(texts)
    counts["question", "with the id of a document, which can be retrieved here; BEIR's evaluation leaves it out"] = len(
        gains.keys() & texts.keys()
    )
    all_notes = [*notes, *notes_on(counts)]
    if not questions:
        raise SourceError("; ".join(["no judgement gives a question a right document", *all_notes]), path)
    if about == "these-documents":
        all_notes.append(JUDGED)
    return corpus_of(name, cut_all(texts, cut), questions, notes=all_notes)
