"""Questions that a generator asks about a passage: the prompt, and what is taken from its answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from embassay.corpora.io.passages import collapsed
from embassay.errors import SpecError
from embassay.testsets.english.language import language_of
from embassay.testsets.passages import Passage, tokens

# --- Does a question give its answer away, or repeat its passage? ---

RUN = 6
"""Words of the passage, one after the other, from which on a question repeats it."""
ENOUGH = 3
"""Content words that a shorter run must have to be looked at: a name of two words is none."""
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
        Share of the question's content words that stand in one run in the passage, from which on it repeats it;
        above 0, at most 1. A run has :data:`ENOUGH` content words at least; names may stand in both.
    """
    asked, wanted = tokens(question), tokens(answer)
    if wanted and _within(wanted, asked):
        return ANSWER
    named = set(names(question))
    content = telling(asked, named)
    for run in _runs(asked, _placed(passage)):
        told = telling(run, named)
        long = sum(word not in named for word in run) >= RUN
        if told and (long or len(told) >= max(ENOUGH, share * len(content) - 1e-9)):
            return REPEATS
    return ""


def overlap(question: str, passages: Iterable[str]) -> float:
    """Return the share of a question's content words that stand in its passages, 0 to 1; 0 where it has none."""
    known = [_placed(passage).places for passage in passages]
    content = telling(tokens(question))
    return sum(any(word in places for places in known) for word in content) / len(content) if content else 0.0


def telling(words: Iterable[str], left_out: Collection[str] = ()) -> list[str]:
    """Return the words that tell what a text is about, without some that are left out."""
    return [word for word in words if word not in _FUNCTION_WORDS and word not in left_out]


def names(question: str) -> list[str]:
    """Return the words, lower-cased, that have a capital after the first word of a question."""
    return [word for part in question.split()[1:] if part[:1].isupper() for word in tokens(part)]


@dataclass(frozen=True)
class _Placed:
    """The words of a text, and the places of each."""

    words: Sequence[str]
    places: Mapping[str, Sequence[int]]


@lru_cache(maxsize=32)
def _placed(text: str) -> _Placed:
    """Return where the words of a text stand; asked for each question about it."""
    words, places = tokens(text), dict[str, list[int]]()
    for place, word in enumerate(words):
        places.setdefault(word, []).append(place)
    return _Placed(words, places)


def _runs(asked: Sequence[str], passage: _Placed) -> Iterator[Sequence[str]]:
    """Yield the longest run of words, from each word of the question on, that stands in the passage too.

    Runs of fewer than :data:`ENOUGH` words leak nothing and are left out. Others are looked for where the rarest of
    their first words stands, so that "is a" costs nothing in a long passage.
    """
    for at in range(len(asked) - ENOUGH + 1):
        rarest = min(range(at, at + ENOUGH), key=lambda word: len(passage.places.get(asked[word], ())))
        starts = (place - (rarest - at) for place in passage.places.get(asked[rarest], ()))
        length = max((_same(asked, at, passage.words, start) for start in starts if start >= 0), default=0)
        if length >= ENOUGH:
            yield asked[at : at + length]


def _same(a: Sequence[str], at: int, b: Sequence[str], place: int) -> int:
    """Return how many words two texts share from two places on."""
    length = 0
    while at + length < len(a) and place + length < len(b) and a[at + length] == b[place + length]:
        length += 1
    return length


def _within(inner: Sequence[str], outer: Sequence[str]) -> bool:
    return any(outer[at : at + len(inner)] == inner for at in range(len(outer) - len(inner) + 1))


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


@dataclass(frozen=True)
class Asked:
    """A question about a passage.

    Attributes
    ----------
    answer
        Words of the passage.
    way
        Who asked it: ``generator: NAME``.
    """

    question: str
    answer: str
    way: str


def prompt_of(passage: Passage, template: str = "", per_passage: int = 1) -> str:
    """Return the prompt about a passage.

    Parameters
    ----------
    template
        The user's own, with ``{passage}``, and perhaps ``{questions}`` for how many; else :data:`PROMPT`.

    Raises
    ------
    SpecError
        If the passage has no place in it.
    """
    if template and "{passage}" not in template:
        raise SpecError("the prompt has no {passage}, where each passage is put")
    many = "one question" if per_passage == 1 else f"{per_passage} questions"
    filled = (template or PROMPT).replace("{questions}", many).replace("{form}", ONE if per_passage == 1 else MANY)
    return passage.text.join(filled.split("{passage}"))


def from_reply(
    text: str, passage: Passage, name: str, *, most: int = 1, share: float, rejected: Counter[str]
) -> Iterator[Asked]:
    """Yield the questions of an answer that can be used, and count the others by why they cannot.

    Parameters
    ----------
    name
        Of the generator.
    most
        Questions that are taken, at most.
    share
        See :func:`~embassay.testsets.generator.questions.leak`.
    """
    found = _objects(text)
    if not found:
        rejected[MALFORMED] += 1
    for row in found[:most]:
        question, answer = (collapsed(row[field]) for field in ("question", "answer"))
        quoted = quote_of(answer, passage.body)
        if reason := _unfit(question, answer, passage) or leak(question, quoted, passage.text, share):
            rejected[reason] += 1
        else:
            yield Asked(question, quoted, f"generator: {name}")


def quote_of(answer: str, passage: str) -> str:
    """Return the words of a passage that an answer quotes; empty where it has none of the kind.

    White space, case, quotation marks, dashes, marks of emphasis and a closing full stop make no difference.
    """
    pieces = [_pattern(piece) for piece in answer.rstrip(" .").split()]
    if not any(pieces):
        return ""
    found = re.search(r"(?<!\w)" + r"[*_`]*\s+[*_`]*".join(pieces) + r"(?!\w)", passage, re.IGNORECASE)
    return found.group() if found else ""


def _pattern(piece: str) -> str:
    classes = {**dict.fromkeys(_QUOTES, f"[{_QUOTES}]+"), **dict.fromkeys(_DASHES, "[-‐‑–—]")}
    return "".join(classes.get(letter) or re.escape(letter) for letter in piece)


def _unfit(question: str, answer: str, passage: Passage) -> str:
    """Return why a question cannot be used; empty if it can."""
    if not question.endswith(("?", "？", "؟", ";")) or len(question) < 8:
        return "not a question"
    if len(question.split()) > LONGEST:
        return f"a question of more than {LONGEST} words"
    if _POINTS.search(question) or _OPENS.match(question):
        return "a question that is not understood without its passage"
    told, asked = language_of(passage.body), language_of(question)
    if told and asked and told != asked:
        return "a question in another language"
    return "" if quote_of(answer, passage.body) else "an answer that is not in the passage"


def _objects(text: str) -> list[dict[str, str]]:
    """Return the objects with question and answer in an answer, whatever text and fences stand around them."""
    decoder, place, found = json.JSONDecoder(), 0, list[dict[str, str]]()
    for _ in range(STARTS):
        begin = re.compile(r"[{\[]").search(text, place)
        if begin is None:
            break
        try:
            value, place = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            place = begin.start() + 1
            continue
        found += _rows(value)
    return found


def _rows(value: Any) -> Iterator[dict[str, str]]:
    """Yield what has the fields of a question, of a list of them, and of an object that has such a list."""
    if isinstance(value, list):
        for one in value:
            yield from _rows(one) if isinstance(one, dict) else ()
    elif isinstance(value, dict):
        if _is_text(value.get("question")) and _is_text(value.get("answer")):
            yield value
        elif isinstance(value.get("questions"), list):
            yield from _rows(value["questions"])


def _is_text(value: Any) -> bool:
    """Say whether a value is a text that can be written as UTF-8."""
    return isinstance(value, str) and bool(value.strip()) and not re.search("[\ud800-\udfff\0]", value)
