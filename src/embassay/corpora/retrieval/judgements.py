"""Questions from judgements (qrels): rows that grade how well a document answers a query."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from embassay.core.errors import SourceError
from embassay.core.samples.retrieval import Question
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Key, TableRow, column
from embassay.core.tables.texts import first_line
from embassay.core.types import Corpus
from embassay.corpora.io.headerless import headerless
from embassay.corpora.io.passages import Cutter
from embassay.corpora.retrieval.corpus import About, corpus_of, cut_all, notes_on, units

TREC = re.compile(r"\s*(?P<query>\S+)\s+\S+\s+(?P<document>\S+)\s+(?P<score>\S+)\s*")
"""A line of TREC's judgements, with spaces or tabs."""
JUDGED = "verdicts are about these documents only; about=new-documents makes them about others like these"


class Judgement(TableRow):
    """A query, a document, and its grade; ``1.0`` is one."""

    query: Key = column("query-id", "query")
    document: Key = column("corpus-id", "document")
    score: Annotated[int, Field(le=10**9)]


def judged_corpus(
    name: str,
    judgements: Path,
    whole: Mapping[str, str],
    text_of: Mapping[str, str],
    cut: Cutter,
    about: About,
) -> Corpus[Question]:
    """Return the queries that have a right document, with notes on what was left out.

    Parameters
    ----------
    judgements
        Their file: BEIR's table or JSON lines, or TREC's lines of query, 0, document and grade.
    whole, text_of
        The texts of documents, which may be empty, and of queries, by id.

    Raises
    ------
    SourceError
        If no query has a right document.
    """
    texts = {key: text for key, text in whole.items() if text}
    gains: dict[str, dict[str, int]] = {query: {} for query in text_of}
    counts = Counter[tuple[str, str]]()
    is_trec = TREC.fullmatch(first_line(judgements))
    table = headerless(judgements, TREC, "query, 0, document and grade") if is_trec else read_table(judgements)
    for row in table.select(Judgement):
        if row.score <= 0:
            counts["judgement", "with grade 0 or less: not right"] += 1
        elif row.query not in gains or row.document not in texts:
            counts["judgement", "left out: no such id"] += 1
        else:
            right = gains[row.query]
            counts["judgement", "repeated: the highest grade counts"] += row.document in right
            right[row.document] = max(row.score, right.get(row.document, 0))
    questions = []
    for query, right in gains.items():
        if right:
            grades = tuple(right.values())
            questions.append(Question(query, text_of[query], tuple(right), grades, units(right, about)))
    counts["question", "left out: no right document"] = len(gains) - len(questions)
    counts["document", "left out: no text"] = len(whole) - len(texts)
    same_id = "with the id of a document, which can be retrieved here; BEIR's evaluation leaves it out"
    counts["question", same_id] = len(gains.keys() & texts.keys())
    notes = [f"judgements: {judgements.name}", f"passages: {cut.passages}", *notes_on(counts)]
    if not questions:
        raise SourceError("; ".join(["no judgement gives a question a right document", *notes]), judgements)
    if about == "these-documents":
        notes.append(JUDGED)
    return corpus_of(name, cut_all(texts, cut), questions, notes=notes)
