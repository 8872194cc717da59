"""SQuAD 1.1 and 2.0, and files in its format (XQuAD, TeleQuAD): find the sentence, or paragraph, that answers.

Rajpurkar et al. (2016, 2018). One JSON object: articles of paragraphs, each a context and its questions with the
answers of one or more annotators. A sentence is right if an answer begins in it. ``is_impossible`` alone decides
what is unanswerable, whatever answers stand beside it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, StrictBool, StrictInt, StrictStr

from embassay.core.errors import SourceError, SpecError
from embassay.core.formatting import counted
from embassay.core.grouping import grouped
from embassay.core.samples.retrieval import Document, Question
from embassay.core.tables.records import parsed_json
from embassay.core.tables.rows import Key, Row, Stripped, Text, checked
from embassay.core.tables.texts import BLANK, read_text
from embassay.core.types import Corpus
from embassay.corpora.io.passages import Cutter, sentences
from embassay.corpora.retrieval.answers import RawQuestion, Searched, located
from embassay.corpora.retrieval.corpus import corpus_of, cut_all, notes_on, sound

SHAPE = "retrieval"
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
    article
        The key of its article: ``article:0``.
    """

    id: str
    text: str
    article: str
    questions: list[Asked]


def recognises(head: str) -> bool:
    """Return whether a file looks like this format, by its beginning; the list of articles may stand alone."""
    start = head.lstrip(BLANK)[:HEAD]
    return bool(_DATA.match(start) and _INSIDE.search(start))


def load(
    source: str,
    name: str,
    *,
    documents: Literal["sentences", "paragraphs", "articles"] = "sentences",
    passages: str = "paragraph",
    language: str = "en",
) -> Corpus[Question]:
    """Read a file in SQuAD's format.

    Parameters
    ----------
    source
        Path of the JSON file.
    documents
        What to search: sentences, paragraphs, or whole articles, in which the answers are located.
    passages
        How articles are divided; see :class:`~embassay.corpora.io.passages.Cutter`.
    language
        The language whose rules decide where a sentence ends.

    Raises
    ------
    SourceError
        With file and field, for content that is not in this format.
    """
    path = Path(source)
    all_paragraphs = list(paragraphs(path))
    if documents == "articles":
        return _articles(path, name, all_paragraphs, Cutter(passages, language))
    if passages != "paragraph":
        raise SpecError("passages= divides whole articles: add documents=articles")
    read, questions = list[Document](), list[Question]()
    counts = Counter[tuple[str, str]]()
    for paragraph in all_paragraphs:
        pieces, ids = [(0, paragraph.text.strip())], [paragraph.id]
        if documents == "sentences":
            pieces = sentences(paragraph.text, language)
            ids = [f"{paragraph.id}-{number}" for number in range(len(pieces))]
        read += [Document(key, (piece,)) for key, (_, piece) in zip(ids, pieces, strict=True)]
        starts = [start for start, _ in pieces]
        for asked in paragraph.questions:
            offsets = []
            for answer in () if asked.is_impossible else asked.answers:
                offset = _offset(answer, paragraph.text)
                if offset is None:
                    counts["answer", "left out: empty, or not exactly once in the context"] += 1
                    continue
                is_moved = offset != answer.answer_start
                counts["answer", "not at the offset: located by the text, which occurs once"] += is_moved
                # Its first letter counts.
                offsets.append(offset + len(answer.text) - len(answer.text.lstrip()))
            # In the order of the text. A sentence is right if an answer begins in it.
            right = dict.fromkeys(ids[max(bisect_right(starts, offset) - 1, 0)] for offset in sorted(offsets))
            if right or asked.is_impossible:
                questions.append(Question(asked.id, asked.question, tuple(right), units=(paragraph.article,)))
            else:
                counts["question", "left out: no answer can be located"] += 1
    if not questions:
        raise SourceError("the file has no usable question", path)
    articles = {paragraph.article for paragraph in all_paragraphs}
    amounts = f"{counted(len(articles), 'article')}, {counted(len(all_paragraphs), 'paragraph')}"
    notes = [amounts, f"documents: {documents}", *notes_on(counts)]
    return sound(corpus_of(name, read, questions, notes=notes, noun=documents.removesuffix("s")), path)


def _articles(path: Path, name: str, all_paragraphs: Sequence[Paragraph], cut: Cutter) -> Corpus[Question]:
    """Return the corpus of whole articles, in which the answers are located by their texts."""
    texts, asked = dict[str, str](), list[RawQuestion]()
    for key, of_article in grouped(all_paragraphs, lambda paragraph: paragraph.article).items():
        document = key.removeprefix("article:")
        texts[document] = "\n\n".join(paragraph.text for paragraph in of_article)
        for one in (one for paragraph in of_article for one in paragraph.questions):
            answers = {} if one.is_impossible else dict.fromkeys(answer.text for answer in one.answers)
            right = {document: None} if answers else {}
            asked.append(RawQuestion(one.id, one.question, f"question {one.id}", right, answers))
    searched = {document: Searched(text) for document, text in texts.items()}
    questions, notes = located(asked, searched, lambda right: tuple(f"article:{document}" for document in right))
    notes = [*notes, f"documents: articles, passages: {cut.way}"]
    return sound(corpus_of(name, cut_all(texts, cut), questions, notes=notes, noun="article"), path)


def _offset(answer: Answer, context: str) -> int | None:
    """Return where an answer is in its context: at its offset, else where its text occurs once; None if nowhere."""
    text, start = answer.text, answer.answer_start
    if not text.strip():
        return None
    # A negative index would count from the end.
    if start >= 0 and context.startswith(text, start):
        return start
    return context.find(text) if context.count(text) == 1 else None


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
        for index, row in enumerate(article.paragraphs):
            yield Paragraph(f"{number}-{index}", row.context, f"article:{number}", row.qas)
