"""Requirements for a question about a passage: clear without it, answered by it, and not a copy of its words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from embassay.testsets.english.language import language_of
from embassay.testsets.passages import Passage, spaced, tokens

LONGEST = 40
"""The maximum number of words of a question."""
RUN = 6
"""A question repeats its passage if it shares a run of this many words with it, not counting names."""
ENOUGH = 3
"""The least number of content words of a shorter run: a name of two words is no repetition."""
ANSWER = "a question that contains its answer"
REPEATS = "a question that repeats the words of its passage"
_FUNCTION_WORDS = frozenset(
    "a about after all also am an and any are as at be been before being between but by can could did do does done "
    "during each for from had has have having he her him his how i if in into is it its many may me might more most "
    "much must my no not of on one or our out over own s shall she should so some such t than that the their them then "
    "there these they this those through to under up used us was we were what when where which while who whom whose "
    "why will with would you your".split()
)
_POINTS = re.compile(
    r"(?i)\b(?:the|this|that)\s+(?:above\s+|given\s+|following\s+|provided\s+|previous\s+)?"
    r"(?:passage|excerpt|paragraph|text|snippet|author|article|section|document)s?"
    r"(?:'s|’s)?(?![\w'’-])(?!\s+(?:of|for|editor|field|box|file|format|message|number)\b)"
    r"|\b(?:mentioned|described|listed|given|stated|discussed)\s+(?:above|here)\b"
)
_OPENS = re.compile(
    r"(?i)^(?:\w+\s+){0,4}?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must)\s+"
    r"(?:he|she|it|they|this|these|those)\b(?!\s+(?:called|possible|necessary|important|safe|better|best|that)\b)"
)
_QUOTES, _DASHES = "\"'“”‘’„«»`", "-‐‑–—"
_PATTERNS = dict.fromkeys(_QUOTES, f"[{_QUOTES}]+") | dict.fromkeys(_DASHES, f"[{_DASHES}]")
"""Patterns of characters that are written in several ways."""


@dataclass(frozen=True)
class PassageQuestion:
    """A question about a passage.

    Attributes
    ----------
    answer
        Words of the passage.
    way
        How it was made: ``generator: NAME``.
    """

    text: str
    answer: str
    way: str


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
    if _POINTS.search(question) or _OPENS.match(question):
        return "a question that is unclear without its passage"
    passage_language, question_language = language_of(passage.body), language_of(question)
    if passage_language and question_language and passage_language != question_language:
        return "a question in another language"
    return "" if quote else "an answer that is not in the passage"


def quote_of(answer: str, passage: str) -> str:
    """Return the words of a passage that an answer quotes; empty if there are none.

    White space, case, quotation marks, dashes, emphasis markup and a final full stop are ignored.
    """
    words = answer.rstrip(" .").split()
    if not words:
        return ""
    between = r"[*_`]*\s+[*_`]*"
    pattern = between.join("".join(_PATTERNS.get(letter) or re.escape(letter) for letter in word) for word in words)
    match = re.search(rf"(?<!\w){pattern}(?!\w)", passage, re.IGNORECASE)
    return match.group() if match else ""


# --- Does a question give its answer away, or repeat its passage? ---


def leak(question: str, answer: str, passage: str, share: float = 0.6) -> str:
    """Return how a question leaks its answer or passage, as a short phrase; empty if it does not.

    Parameters
    ----------
    answer
        The words of the passage that answer it.
    share
        A question repeats its passage if this share of its content words, above 0 and at most 1, is in one run in
        the passage. A run has at least :data:`ENOUGH` content words; names may occur in both.
    """
    question_words, answer_words = tokens(question), tokens(answer)
    if answer_words and spaced(answer_words) in spaced(question_words):
        return ANSWER
    name_words = set(names(question))
    content = telling(question_words, name_words)
    for run in shared_runs(question_words, passage):
        run_content = telling(run, name_words)
        is_long = sum(word not in name_words for word in run) >= RUN
        has_share = len(run_content) >= max(ENOUGH, share * len(content) - 1e-9)
        if run_content and (is_long or has_share):
            return REPEATS
    return ""


def overlap(question: str, passages: Iterable[str]) -> float:
    """Return the share of a question's content words that occur in its passages, 0 to 1; 0 if it has none."""
    content = telling(tokens(question))
    if not content:
        return 0.0
    passage_words = {word for passage in passages for word in tokens(passage)}
    return sum(word in passage_words for word in content) / len(content)


def telling(words: Iterable[str], excluded: Collection[str] = ()) -> list[str]:
    """Return the content words: those that are neither function words nor excluded."""
    return [word for word in words if word not in _FUNCTION_WORDS and word not in excluded]


def names(question: str) -> list[str]:
    """Return the words, lower-cased, that have a capital after the first word of a question."""
    return [word for part in question.split()[1:] if part[:1].isupper() for word in tokens(part)]


def shared_runs(question: Sequence[str], passage: str) -> Iterator[Sequence[str]]:
    """Yield, for each word of a question, the longest run of words from it on that stands in the passage too.

    Runs of fewer than :data:`ENOUGH` words are left out.
    """
    text = _spaced_words_of(passage)
    for start in range(len(question) - ENOUGH + 1):
        end = start + ENOUGH
        if spaced(question[start:end]) not in text:
            continue
        while end < len(question) and spaced(question[start : end + 1]) in text:
            end += 1
        yield question[start:end]


@lru_cache(maxsize=32)
def _spaced_words_of(text: str) -> str:
    # Cached, because several questions about the same passage follow each other.
    return spaced(tokens(text))
