"""Which answers of a generator are unusable for any prompt: a refusal, an echo, another language …

The rules reject an answer if in doubt. A builder checks the rest: one sentence, or JSON.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from embassay.corpora.queries.passages import spaced
from embassay.models.services.chat import CUT_OFF, FAILED, TOO_LONG, ChatAnswer
from embassay.stats.lexical.language import language_of

REFUSED = "the generator refused"
EMPTY = "an empty answer"
SHORT = "truncated at the token limit"
LONG = "a prompt that is too long for the generator"
LOST = "no answer after all attempts, although the service answered others"
DAMAGED = "damaged characters in the answer"
ECHO = "the generator repeated its prompt"
LANGUAGE = "an answer in another language"
RUN = 8
"""The length of a run of words that an answer does not share with its instructions by chance."""
REFUSALS = re.compile(
    r"(?:i'?m|i am) (?:very |so |really |truly )?(?:sorry|afraid|unable|not able)\b|(?:my )?(?:sorry|apologies)\b"
    r"|i (?:apologi[sz]e|can ?not|can't|won't|must decline)\b|as an? (?:ai|artificial|(?:large )?language model)\b"
    r"|unfortunately,? (?:i|as an)\b|es tut mir leid|je suis désolée?|désolée?\b|lo siento|mi dispiace"
)
"""How refusals begin."""
_REASONS = {CUT_OFF: SHORT, TOO_LONG: LONG, FAILED: LOST}
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.S)
_WORD = re.compile(r"\w+")
_OPENING = re.compile(r"\A[\W_]+")


def instructions_of(prompts: Iterable[str]) -> tuple[str, ...]:
    """Return the words, in lower case, that all prompts begin with; for a single prompt, its first words.

    They are fewer than :data:`RUN` if prompts begin with their subject.
    """
    words = [_words(prompt) for prompt in dict.fromkeys(prompts)]
    if len(words) == 1:
        return tuple(words[0][:RUN])
    # The common prefix of the first and the last in sorted order is common to all.
    first, last = min(words), max(words)
    length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
    return tuple(first[:length])


def subject_of(prompt: str, instructions: Sequence[str]) -> str:
    """Return a prompt without its instructions."""
    matches = list(_WORD.finditer(prompt))
    if not instructions or not matches:
        return prompt
    return prompt[matches[len(instructions) - 1].end() :]


def cleaned(text: str) -> str:
    """Return an answer, stripped, without a model's reasoning before it."""
    return _THOUGHT.sub("", text).strip()


def problem_of(answer: ChatAnswer, prompt: str, instructions: Sequence[str]) -> str:
    """Return why an answer cannot be used, as a short phrase; empty if it can.

    - A refusal is marked by the service, or begins as refusals do and the prompt does not.
    - An echo has a run of eight words of the instructions, or all words of the prompt.
    - The language must be that of the prompt after its instructions, or of one of its lines.
    """
    text = cleaned(answer.text)
    if answer.refused:
        return REFUSED
    if answer.finish in _REASONS:
        return _REASONS[answer.finish]
    if not text:
        return EMPTY
    if any(c == "\ufffd" or (unicodedata.category(c) == "Cc" and c not in "\n\r\t") for c in text):
        return DAMAGED
    subject = subject_of(prompt, instructions)
    if _refuses(text, subject):
        return REFUSED
    if _echoes(text, prompt, instructions):
        return ECHO
    if _is_foreign(text, subject):
        return LANGUAGE
    return ""


def _refuses(text: str, subject: str) -> bool:
    refusal = REFUSALS.match(_OPENING.sub("", _plain(text)))
    return refusal is not None and refusal.group() not in _plain(subject)


def _echoes(text: str, prompt: str, instructions: Sequence[str]) -> bool:
    """Return whether an answer repeats its prompt, or a run of ``RUN`` words of the instructions."""
    words, prompt_words = _words(text), _words(prompt)
    answer = spaced(words)
    # A short prompt may occur in a longer answer by chance.
    contains_prompt = len(prompt_words) >= RUN and spaced(prompt_words) in answer
    if words == prompt_words or contains_prompt:
        return True
    for start in range(len(instructions) - RUN + 1):
        run = instructions[start : start + RUN]
        if spaced(run) in answer:
            return True
    return False


def _is_foreign(text: str, subject: str) -> bool:
    """Return whether an answer is in another language than what it is about; False in doubt."""
    language = language_of(text)
    if not language or (language == "another" and text.isascii()):
        # Without function words, a language in Latin script cannot be identified.
        return False
    allowed = {language_of(part) for part in (subject, *subject.splitlines())} - {""}
    return bool(allowed) and language not in allowed


def _words(text: str) -> list[str]:
    # In this order, because "İ" in lower case is two characters, and a word would end between them.
    return [word.lower() for word in _WORD.findall(text)]


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").lower().split())
