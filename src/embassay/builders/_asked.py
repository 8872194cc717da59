"""Questions that a generator asks about a passage: the prompt, and what is taken from its answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from embassay.builders._language import language_of
from embassay.builders._leaks import leak
from embassay.builders._passages import Passage
from embassay.corpora.io.passages import collapsed
from embassay.errors import SpecError

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
        See :func:`~embassay.builders._leaks.leak`.
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
