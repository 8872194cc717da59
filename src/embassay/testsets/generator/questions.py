"""Questions that a generator asks about a passage: the prompt, and reading its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

from embassay.corpora.io.passages import collapsed
from embassay.corpora.queries.leaks import leak
from embassay.corpora.queries.passages import Passage
from embassay.testsets.base import Reasons
from embassay.testsets.generator.base import check_prompt, filled
from embassay.testsets.questions import PassageQuestion, problem_of, quote_of

PROMPT = """\
Below is a passage. Write one question that somebody who has never seen the passage could ask, and that it answers.

- The question is to be understood without the passage: name things in full, with no "it", "this" or "the text".
- Use words of your own where you can; do not copy a phrase of the passage, and do not give the answer away.
- The question is in the language of the passage, is one sentence, and ends with a question mark.
- The answer is copied from the passage word for word, and is as short as it can be.

Answer with a JSON object only: {"question": "…", "answer": "…"}

Passage:
{passage}
"""
MALFORMED = "an answer without JSON of question and answer"


def prompt_of(passage: Passage, template: str = "") -> str:
    """Return the prompt about a passage.

    Parameters
    ----------
    template
        The user's own, with ``{passage}``; :data:`PROMPT` if empty.

    Raises
    ------
    SpecError
        If the passage has no place in it.
    """
    template = template or PROMPT
    check_prompt(template, ["passage"])
    return filled(template, passage=passage.text)


def from_reply(text: str, passage: Passage, name: str, *, share: float, rejected: Reasons) -> list[PassageQuestion]:
    """Return the question of an answer if it can be used, else none; then its reason is counted.

    Parameters
    ----------
    name
        The generator.
    share
        See :func:`~embassay.corpora.queries.leaks.leak`.
    """
    pair = next(_pairs_in(text), None)
    if pair is None:
        rejected[MALFORMED] += 1
        return []
    question, answer = collapsed(pair["question"]), collapsed(pair["answer"])
    quote = quote_of(answer, passage.body)
    reason = problem_of(question, quote, passage) or leak(question, quote, passage.text, share)
    if reason:
        rejected[reason] += 1
        return []
    return [PassageQuestion(f"{passage.id}-q", passage, question, quote, f"generator: {name}")]


def _pairs_in(text: str) -> Iterator[dict[str, str]]:
    """Yield the JSON objects with question and answer in a text, whatever other text and fences it has."""
    decoder = json.JSONDecoder()
    for brace in re.finditer(r"\{", text):
        # A brace may open no JSON; models also write braces in prose.
        with suppress(ValueError):
            value, _ = decoder.raw_decode(text, brace.start())
            if _is_text(value.get("question")) and _is_text(value.get("answer")):
                yield value


def _is_text(value: object) -> bool:
    """Return whether a value is a text that is not blank and can be written as UTF-8."""
    return isinstance(value, str) and bool(value.strip()) and not re.search("[\ud800-\udfff\0]", value)
