"""Questions that a generator asks about a passage: the prompt, and what is taken from its answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from embassay.corpora.io.passages import collapsed
from embassay.errors import SpecError
from embassay.testsets.english.language import language_of
from embassay.testsets.passages import Passage, spaced, tokens

# --- Does a question give its answer away, or repeat its passage? ---

RUN = 6
"""A question repeats its passage if it has a run of this many of its words, names aside."""
ENOUGH = 3
"""The least number of content words of a shorter run: a name of two words is no repetition."""
ANSWER = "a question that has its answer in it"
REPEATS = "a question that repeats the words of its passage"
_FUNCTION_WORDS = frozenset(
    "a about after all also am an and any are as at be been before being between but by can could did do does done "
    "during each for from had has have having he her him his how i if in into is it its many may me might more most "
    "much must my no not of on one or our out over own s shall she should so some such t than that the their them then "
    "there these they this those through to under up used us was we were what when where which while who whom whose "
    "why will with would you your".split()
)


def leak(question: str, answer: str, passage: str, share: float = 0.6) -> str:
    """Return how a question leaks, as a phrase for people; empty if it does not.

    Parameters
    ----------
    answer
        The words of the passage that answer it.
    share
        A question repeats its passage if this share of its content words, above 0 and at most 1, stands in one run in
        the passage. A run has at least :data:`ENOUGH` content words; names may stand in both.
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
    """Return the share of a question's content words that stand in its passages, 0 to 1; 0 where it has none."""
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
    # Several questions are asked about a passage, one after the other.
    return spaced(tokens(text))


# --- Questions that a generator asks about a passage: the prompt, and what is taken from its answer ---

PROMPT = """\
Below is a passage. Write {questions} that somebody who has never seen the passage could ask, and that it answers.

- The question is to be understood without the passage: name things in full, with no "it", "this" or "the text".
- Use words of your own where you can; do not copy a phrase of the passage, and do not give the answer away.
- The question is in the language of the passage, is one sentence, and ends with a question mark.
- The answer is copied from the passage word for word, and is as short as it can be.

Answer with a JSON object only: {form}

Passage:
{passage}
"""
ONE = '{"question": "…", "answer": "…"}'
MANY = '{"questions": [{"question": "…", "answer": "…"}, …]}'
LONGEST = 40
"""Words of a question, at most."""
STARTS = 50
"""Places of an answer at which JSON is looked for, at most."""
MALFORMED = "an answer without JSON of question and answer"
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
_JSON_START = re.compile(r"[{\[]")


@dataclass(frozen=True)
class GeneratedQuestion:
    """A question about a passage.

    Attributes
    ----------
    answer
        Words of the passage.
    way
        The generator: ``generator: NAME``.
    """

    text: str
    answer: str
    way: str


def prompt_of(passage: Passage, template: str = "", per_passage: int = 1) -> str:
    """Return the prompt about a passage.

    Parameters
    ----------
    template
        The user's own, with ``{passage}``, and perhaps ``{questions}`` for their number; :data:`PROMPT` if empty.

    Raises
    ------
    SpecError
        If the passage has no place in it.
    """
    template = template or PROMPT
    if "{passage}" not in template:
        raise SpecError("the prompt has no {passage}, where each passage is put")
    if per_passage == 1:
        template = template.replace("{questions}", "one question").replace("{form}", ONE)
    else:
        template = template.replace("{questions}", f"{per_passage} questions").replace("{form}", MANY)
    # The passage comes last: a placeholder inside it is text.
    return template.replace("{passage}", passage.text)


def from_reply(
    text: str, passage: Passage, name: str, *, most: int = 1, share: float, rejected: Counter[str]
) -> Iterator[GeneratedQuestion]:
    """Yield the questions of an answer that can be used, and count the others by the reason.

    Parameters
    ----------
    name
        The generator.
    most
        The number of questions that are taken, at most.
    share
        See :func:`leak`.
    """
    pairs = _pairs_in(text)
    if not pairs:
        rejected[MALFORMED] += 1
    for pair in pairs[:most]:
        question, answer = collapsed(pair["question"]), collapsed(pair["answer"])
        quote = quote_of(answer, passage.body)
        reason = _problem_of(question, quote, passage) or leak(question, quote, passage.text, share)
        if reason:
            rejected[reason] += 1
        else:
            yield GeneratedQuestion(question, quote, f"generator: {name}")


def quote_of(answer: str, passage: str) -> str:
    """Return the words of a passage that an answer quotes; empty where there are none.

    White space, case, quotation marks, dashes, marks of emphasis and a final full stop make no difference.
    """
    words = answer.rstrip(" .").split()
    if not words:
        return ""
    between = r"[*_`]*\s+[*_`]*"
    pattern = between.join("".join(_PATTERNS.get(letter) or re.escape(letter) for letter in word) for word in words)
    match = re.search(rf"(?<!\w){pattern}(?!\w)", passage, re.IGNORECASE)
    return match.group() if match else ""


def _problem_of(question: str, quote: str, passage: Passage) -> str:
    """Return why a question cannot be used; empty if it can."""
    if not question.endswith(("?", "？", "؟", ";")) or len(question) < 8:
        return "not a question"
    if len(question.split()) > LONGEST:
        return f"a question of more than {LONGEST} words"
    if _POINTS.search(question) or _OPENS.match(question):
        return "a question that is not understood without its passage"
    passage_language, question_language = language_of(passage.body), language_of(question)
    if passage_language and question_language and passage_language != question_language:
        return "a question in another language"
    return "" if quote else "an answer that is not in the passage"


def _pairs_in(text: str) -> list[dict[str, str]]:
    """Return the JSON objects with question and answer in a text, whatever other text and fences it has."""
    decoder = json.JSONDecoder()
    pairs = list[dict[str, str]]()
    position = 0
    for _ in range(STARTS):
        start = _JSON_START.search(text, position)
        if start is None:
            break
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
            continue
        pairs += _pairs(value)
    return pairs


def _pairs(value: Any) -> list[dict[str, str]]:
    """Return the pairs in a JSON value: a pair, a list of pairs, or an object with a list of them."""
    if isinstance(value, list):
        return [pair for item in value if isinstance(item, dict) for pair in _pairs(item)]
    if not isinstance(value, dict):
        return []
    if _is_text(value.get("question")) and _is_text(value.get("answer")):
        return [value]
    questions = value.get("questions")
    return _pairs(questions) if isinstance(questions, list) else []


def _is_text(value: Any) -> bool:
    """Return whether a value is a text that is not blank and can be written as UTF-8."""
    return isinstance(value, str) and bool(value.strip()) and not re.search("[\ud800-\udfff\0]", value)
