"""Which answers of a generator are unusable for any prompt. A builder checks the rest: one sentence, or JSON."""

from __future__ import annotations

import re

from embassay.models.services.chat import CUT_OFF, FAILED, TOO_LONG, ChatAnswer

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


def cleaned(text: str) -> str:
    """Return an answer, stripped, without a model's reasoning before it."""
    return _THOUGHT.sub("", text).strip()


def problem_of(answer: ChatAnswer, prompt: str) -> str:
    """Return why an answer cannot be used, as a short phrase; empty if it can.

    A refusal is marked by the service, or begins as refusals do with words that the prompt does not have.
    """
    text = cleaned(answer.text)
    if answer.refused:
        return REFUSED
    if answer.finish in PROBLEMS:
        return PROBLEMS[answer.finish]
    if not text:
        return "an empty answer"
    if _DAMAGE.search(text):
        return "damaged characters in the answer"
    refusal = REFUSALS.match(_plain(text))
    if refusal and refusal.group().lstrip() not in _plain(prompt):
        return REFUSED
    return ""


def _plain(text: str) -> str:
    return text.replace("’", "'").lower()
