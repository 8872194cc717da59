"""SQuAD 1.1 and 2.0, and files in its format (XQuAD, TeleQuAD): find the sentence, or paragraph, that answers.

Rajpurkar et al. (2016, 2018). One JSON object: articles of paragraphs, each a context and its questions with the
answers of one or more annotators. A sentence is right if an answer begins in it. ``is_impossible`` alone decides
what is unanswerable, whatever answers stand beside it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, StrictBool, StrictInt, StrictStr

from embassay.core.errors import SourceError, SpecError
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import Document, Question
from embassay.core.tables.records import ARRAY, parsed_json
from embassay.core.tables.rows import Key, Stripped, TableRow, Text, checked
from embassay.core.tables.texts import BLANK, read_text
from embassay.core.types import Corpus
from embassay.corpora.io.passages import Cutter, sentences
from embassay.corpora.retrieval.answers import RawQuestion, located
from embassay.corpora.retrieval.corpus import corpus_of, cut_all, notes_on, sound

SHAPE = "retrieval"
HEAD = 65_536
NOT_LOCATED = ("question", "left out: no answer can be located")
_DATA = re.compile(r'\[|\{(?s:.*)"data"\s*:\s*\[')
_INSIDE = re.compile(r'"(?:paragraphs|qas|context)"\s*:')


class SquadAnswer(BaseModel):
    """An answer of an annotator, and its offset in the context."""

    text: StrictStr
    answer_start: StrictInt


class Asked(BaseModel):
    """A question about a paragraph."""

    id: Key
    question: Stripped
    answers: list[SquadAnswer] = []
    is_impossible: StrictBool = False


class Paragraph(BaseModel):
    """A paragraph as it is written in the file: answers are found by their offsets."""

    context: Text
    qas: list[Asked] = []


class Article(BaseModel):
    """An article."""

    paragraphs: list[Paragraph]


class _File(TableRow):
    data: list[Article]


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
    articles = articles_of(path)
    if documents == "articles":
        return _whole_articles(path, name, articles, Cutter(passages, language))
    if passages != "paragraph":
        raise SpecError("passages= divides whole articles: add documents=articles")
    read, questions = [], []
    counts = Counter[tuple[str, str]]()
    for number, article in enumerate(articles):
        for index, paragraph in enumerate(article.paragraphs):
            key = f"{number}-{index}"
            starts, parts = [0], [Document(key, (paragraph.context.strip(),))]
            if documents == "sentences":
                placed = sentences(paragraph.context, language)
                starts = [start for start, _ in placed]
                parts = [Document(f"{key}-{place}", (sentence,)) for place, (_, sentence) in enumerate(placed)]
            read += parts
            for asked in paragraph.qas:
                offsets = [] if asked.is_impossible else _offsets(asked.answers, paragraph.context, counts)
                # A sentence is right if an answer begins in it.
                right = dict.fromkeys(parts[max(bisect_right(starts, offset) - 1, 0)].id for offset in offsets)
                if right or asked.is_impossible:
                    questions.append(Question(asked.id, asked.question, tuple(right), units=(f"article:{number}",)))
                else:
                    counts[NOT_LOCATED] += 1
    number_of_paragraphs = sum(len(article.paragraphs) for article in articles)
    amounts = f"{counted(len(articles), 'article')}, {counted(number_of_paragraphs, 'paragraph')}"
    notes = [amounts, f"documents: {documents}", *notes_on(counts)]
    return sound(corpus_of(name, read, questions, notes=notes, noun=documents.removesuffix("s")), path)


def _whole_articles(path: Path, name: str, articles: Sequence[Article], cut: Cutter) -> Corpus[Question]:
    """Return the corpus of whole articles, in which the answers are located by their texts."""
    texts, questions = {}, []
    counts = Counter[tuple[str, str]]()
    for number, article in enumerate(articles):
        document = str(number)
        if article.paragraphs:
            texts[document] = "\n\n".join(paragraph.context for paragraph in article.paragraphs)
        for paragraph in article.paragraphs:
            for asked in paragraph.qas:
                question = RawQuestion(asked.id, asked.question, f"question {asked.id}")
                if not asked.is_impossible:
                    question.right[document] = None
                    question.answers |= {answer.text: None for answer in asked.answers if answer.text.strip()}
                if question.answers or asked.is_impossible:
                    questions.append(question)
                else:
                    counts[NOT_LOCATED] += 1
    samples, notes = located(questions, texts, lambda right: tuple(f"article:{document}" for document in right))
    notes += [f"documents: articles, passages: {cut.passages}", *notes_on(counts)]
    return sound(corpus_of(name, cut_all(texts, cut), samples, notes=notes, noun="article"), path)


def _offsets(answers: Iterable[SquadAnswer], context: str, counts: Counter[tuple[str, str]]) -> list[int]:
    """Return where answers begin in their context, ascending: at their offsets, else where their texts occur once.

    Answers that are moved or left out are counted.
    """
    offsets = []
    for answer in answers:
        text, start = answer.text, answer.answer_start
        # A negative index would count from the end.
        is_there = start >= 0 and context.startswith(text, start)
        if not text.strip() or not (is_there or context.count(text) == 1):
            counts["answer", "left out: empty, or not exactly once in the context"] += 1
            continue
        counts["answer", "not at the offset: located by the text, which occurs once"] += not is_there
        # Its first letter counts.
        start = start if is_there else context.index(text)
        offsets.append(start + len(text) - len(text.lstrip()))
    return sorted(offsets)


def articles_of(path: Path) -> list[Article]:
    """Return the articles of a file.

    Raises
    ------
    SourceError
        With file and field, for content that is not in this format.
    """
    content = parsed_json(read_text(path), path)
    if isinstance(content, list) and not any(isinstance(one, dict) and "paragraphs" in one for one in content):
        raise SourceError(ARRAY, path)
    return checked(_File, content if isinstance(content, dict) else {"data": content}, path).data
