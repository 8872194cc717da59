"""Which answers of a generator cannot be used, whatever was asked: a refusal, an echo, another language …

Told by rules that reject in doubt. What else an answer must be, one sentence or JSON, its builder says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from embassay.endpoint.chat import CUT_OFF, FAILED, TOO_LONG, Answer
from embassay.testsets.english.language import language_of

REFUSED = "the generator refused"
EMPTY = "an empty answer"
SHORT = "cut off at the limit of tokens"
LONG = "a prompt that is too long for the generator"
LOST = "no answer at any attempt, though the service answered others"
DAMAGED = "damaged characters in the answer"
ECHO = "the generator repeated its prompt"
LANGUAGE = "an answer in another language"
RUN = 8
"""Words in a row that an answer has by chance neither of the instructions nor of the whole prompt."""
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


@dataclass(frozen=True)
class Instructions:
    """The words that prompts begin with: of several different ones those that all have, of a single one the first.

    Attributes
    ----------
    words
        In lower case. Fewer than :data:`RUN` where prompts begin with what they are about.
    """

    words: tuple[str, ...]

    @classmethod
    def of(cls, prompts: Iterable[str]) -> Instructions:
        """Tell instructions from texts by what all prompts share."""
        found = [_words(prompt) for prompt in dict.fromkeys(prompts)]
        return cls(tuple(found[0][:RUN] if len(found) == 1 else _common(min(found), max(found))))

    def after(self, prompt: str) -> str:
        """Return what a prompt says after them."""
        places = list(_WORD.finditer(prompt))
        return prompt[places[len(self.words) - 1].end() :] if self.words and places else prompt


def cleaned(text: str) -> str:
    """Return an answer without what a model thought aloud before it, and without space around it."""
    return _THOUGHT.sub("", text).strip()


def problem_of(answer: Answer, prompt: str, instructions: Instructions) -> str:
    """Return why an answer cannot be used, a short phrase; empty where it can.

    A refusal is told by the service's own word or by how it begins, unless the prompt has the same words after its
    instructions. An echo has a run of eight words of the instructions, or all the words of the prompt. The language may
    be that of what follows the instructions, or of any line of it.
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
    about = instructions.after(prompt)
    if _refuses(text, about):
        return REFUSED
    if _echoes(_words(text), _words(prompt), instructions.words):
        return ECHO
    return LANGUAGE if _is_foreign(text, about) else ""


def _refuses(text: str, about: str) -> bool:
    begun = REFUSALS.match(_OPENING.sub("", _plain(text)))
    return begun is not None and begun.group() not in _plain(about)


def _echoes(words: Sequence[str], prompt: Sequence[str], instructions: Sequence[str]) -> bool:
    said = set(_runs(words, RUN))
    whole = words == prompt if len(prompt) < RUN else tuple(prompt) in set(_runs(words, len(prompt)))
    return whole or any(run in said for run in _runs(instructions, RUN))


def _is_foreign(text: str, about: str) -> bool:
    found = language_of(text)
    if not found or (found == "another" and text.isascii()):
        # Without function words there is nothing to tell a Latin language by.
        return False
    allowed = {language_of(part) for part in (about, *about.splitlines())} - {""}
    return bool(allowed) and found not in allowed


def _runs(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[i : i + length]) for i in range(len(words) - length + 1))


def _common(first: Sequence[str], last: Sequence[str]) -> Sequence[str]:
    """Return what the first and the last of sorted sequences, and so all between, begin with."""
    same = (i for i, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(same, min(len(first), len(last)))]


def _words(text: str) -> list[str]:
    # In this order: "İ" in lower case is two characters, and between them a word would end.
    return [word.lower() for word in _WORD.findall(text)]


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").lower().split())
