"""Which answers of a generator are unusable for any prompt. A builder checks the rest: one sentence, or JSON."""

from __future__ import annotations

import re

from embassay.models.services.chat import CUT_OFF, FAILED, TOO_LONG, ChatAnswer
from embassay.testsets.generator.base import Reply

REFUSED = "the generator refused"
PROBLEMS = {
    CUT_OFF: "truncated at the token limit",
    TOO_LONG: "a prompt that is too long for the generator",
    FAILED: "no answer after all attempts, although the service answered others",
}
"""What a finish reason means, if it is a problem."""
REFUSALS = re.compile(
    r"\W*(?:(?:i'?m|i am) (?:very |so |really |truly )?(?:sorry|afraid|unable|not able)\b|(?:my )?(?:sorry|apologies)\b"
    r"|i (?:apologi[sz]e|can ?not|can't|won't|must decline)\b|as an? (?:ai|artificial|(?:large )?language model)\b"
    r"|unfortunately,? (?:i|as an)\b|es tut mir leid|je suis désolée?|désolée?\b|lo siento|mi dispiace)"
)
"""How refusals begin."""
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.S)
_DAMAGE = re.compile(r"[\ufffd\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def reply_of(answer: ChatAnswer, prompt: str) -> Reply:
    """Return the text of an answer, without a model's reasoning before it, or why the answer cannot be used.

    A refusal is marked by the service, or begins as refusals do with words that the prompt does not have.
    """
    text = _THOUGHT.sub("", answer.text).strip()
    refusal = REFUSALS.match(_plain(text))
    if answer.refused:
        problem = REFUSED
    elif answer.finish in PROBLEMS:
        problem = PROBLEMS[answer.finish]
    elif not text:
        problem = "an empty answer"
    elif _DAMAGE.search(text):
        problem = "damaged characters in the answer"
    elif refusal and refusal.group().lstrip() not in _plain(prompt):
        problem = REFUSED
    else:
        return Reply(text)
    return Reply(problem=problem)


def _plain(text: str) -> str:
    return text.replace("’", "'").lower()
