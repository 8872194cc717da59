"""Requirements for a question about a passage: clear without it, and answered by it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from embassay.corpora.queries.passages import Passage
from embassay.corpora.retrieval.answers import in_any_writing, whole_matches
from embassay.stats.lexical.language import language_of

LONGEST = 40
"""The maximum number of words of a question."""
_POINTS = re.compile(
    r"(?i)\b(?:the|this|that)\s+(?:above\s+|given\s+|following\s+|provided\s+|previous\s+)?"
    r"(?:passage|excerpt|paragraph|text|snippet|author|article|section|document)s?"
    r"(?:'s|’s)?(?![\w'’-])(?!\s+(?:of|for|editor|field|box|file|format|message|number)\b)"
    r"|\b(?:mentioned|described|listed|given|stated|discussed)\s+(?:above|here)\b"
)
_PRONOUN_SUBJECT = re.compile(
    r"(?i)^(?:\w+\s+){0,4}?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must)\s+"
    r"(?:he|she|it|they|this|these|those)\b(?!\s+(?:called|possible|necessary|important|safe|better|best|that)\b)"
)


@dataclass(frozen=True)
class PassageQuestion:
    """A question about a passage, and the passages that answer it.

    Attributes
    ----------
    passage
        What it was asked about.
    answer
        Words of the passage; empty for a query made from a document.
    way
        How it was made: ``generator: NAME``, or the source of made queries.
    right
        The passages that answer it, its own first.
    near
        These and their near-duplicates, which may lack the answer.
    """

    id: str
    passage: Passage
    text: str
    answer: str
    way: str
    right: tuple[Passage, ...] = ()
    near: tuple[Passage, ...] = ()


def problem_of(question: str, quote: str, passage: Passage) -> str:
    """Return why a question cannot be used; empty if it can.

    Parameters
    ----------
    quote
        The words of the passage that answer it; empty if there are none.
    """
    if not question.endswith(("?", "？", "؟", ";")) or len(question) < 8:
        return "not a question"
    if len(question.split()) > LONGEST:
        return f"a question of more than {LONGEST} words"
    if _POINTS.search(question) or _PRONOUN_SUBJECT.match(question):
        return "a question that is unclear without its passage"
    passage_language, question_language = language_of(passage.body), language_of(question)
    if passage_language and question_language and passage_language != question_language:
        return "a question in another language"
    if quote:
        return ""
    return "an answer that is not in the passage"


def quote_of(answer: str, passage: str) -> str:
    """Return the words of a passage that an answer quotes, in any case, quotes, dashes or emphasis; empty if none."""
    for start, end in whole_matches(in_any_writing(answer), passage):
        return passage[start:end]
    return ""
