"""Files in SQuAD's format: articles of paragraphs, with the location of every error (Rajpurkar et al. 2016, 2018)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, StrictBool, StrictInt, StrictStr

from embassay.core.tables.records import parsed_json
from embassay.core.tables.rows import Key, Row, Stripped, Text, checked
from embassay.core.tables.texts import BLANK, read_text

HEAD = 65_536
_DATA = re.compile(r'\[|\{(?s:.*)"data"\s*:\s*\[')
_INSIDE = re.compile(r'"(?:paragraphs|qas|context)"\s*:')


class Answer(BaseModel):
    """An answer of an annotator, and its offset in the context."""

    text: StrictStr
    answer_start: StrictInt


class Asked(BaseModel):
    """A question about a paragraph."""

    id: Key
    question: Stripped
    answers: list[Answer] = []
    is_impossible: StrictBool = False


class _Paragraph(BaseModel):
    context: Text
    qas: list[Asked] = []


class _Article(BaseModel):
    title: object = ""
    paragraphs: list[_Paragraph]


class _File(Row):
    data: list[_Article]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph.

    Attributes
    ----------
    id
        The numbers of its article and of the paragraph, from 0: ``0-3``.
    text
        As it is written in the file: answers are found by their offsets.
    title
        The title of its article; empty if it has none.
    article
        The key of its article: ``article:0``.
    """

    id: str
    text: str
    title: str
    article: str
    questions: list[Asked]


def is_squad(head: str) -> bool:
    """Return whether a file looks like this format, by its beginning; the list of articles may stand alone."""
    start = head.lstrip(BLANK)[:HEAD]
    return bool(_DATA.match(start) and _INSIDE.search(start))


def paragraphs(path: Path) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file.

    Raises
    ------
    SourceError
        With file and field, for content that is not in this format.
    """
    content = parsed_json(read_text(path), path)
    file = checked(_File, content if isinstance(content, dict) else {"data": content}, path)
    for number, article in enumerate(file.data):
        # SQuAD writes titles as in addresses of Wikipedia: "Super_Bowl_50".
        title = article.title.strip().replace("_", " ") if isinstance(article.title, str) else ""
        for index, row in enumerate(article.paragraphs):
            yield Paragraph(f"{number}-{index}", row.context, title, f"article:{number}", row.qas)
