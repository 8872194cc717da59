"""Questions that a generator asks about a passage: the prompt, and reading its answer."""

from __future__ import annotations

import re
from contextlib import suppress

from pydantic import BaseModel, ValidationError

from embassay.core.samples.base import Words
from embassay.corpora.io.passages import collapsed
from embassay.corpora.queries.leaks import leak
from embassay.corpora.queries.passages import Passage
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
_OBJECT = re.compile(r"\{[^{}]*\}")


class QuestionAndAnswer(BaseModel):
    """What the prompt asks for."""

    question: Words
    answer: Words


def question_in(text: str, passage: Passage, name: str, share: float) -> PassageQuestion | str:
    """Return the question of an answer, or why it cannot be used.

    Parameters
    ----------
    name
        The generator.
    share
        See :func:`~embassay.corpora.queries.leaks.leak`.
    """
    asked = _asked_in(text)
    if asked is None:
        return MALFORMED
    question = collapsed(asked.question)
    quote = quote_of(collapsed(asked.answer), passage.body)
    problem = problem_of(question, quote, passage) or leak(question, quote, passage.text, share)
    return problem or PassageQuestion(f"{passage.id}-q", passage, question, quote, f"generator: {name}")


def _asked_in(text: str) -> QuestionAndAnswer | None:
    """Return the first JSON object with question and answer in a text, whatever stands around it; None if none does."""
    for braces in _OBJECT.findall(text):
        # Models also write braces in prose.
        with suppress(ValidationError):
            return QuestionAndAnswer.model_validate_json(braces)
    return None
