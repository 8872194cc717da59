"""Negating an English sentence, or one word of it.

HEROS (Chiang et al. 2023, section 2.2.6) negates the main verb and the replaced word. In doubtful cases the functions
return None. Module ``negation_removal`` removes negations.
"""

from __future__ import annotations

import re

from embassay.testsets.english.negation_removal import unnegated
from embassay.testsets.english.negators import AFTER_NOT, QUANTIFIED, SENTENCE_ADVERBS, is_manner, negations
from embassay.testsets.english.syntax import VerbGroup, dependents, group_at, subject_of
from embassay.testsets.english.word_classes import BE, DO, HAVE, MODALS, STOPS, wordset
from embassay.testsets.english.words import Splice, Tagged, Words, spliced, substituted, word_at
from embassay.testsets.options import Auxiliary

# --- Negating a verb group ---

ALL = wordset("everyone everybody everything all each both either anyone anybody anything any")
"""Subjects after which ``not`` would deny the metric instead of the verb."""
WRITTEN_IN_FULL = {"'ll": "will", "'ve": "have", "'d": "had"}
"""Contracted auxiliaries and the words that they stand for; ``'d`` is "would" before a base form."""


def negated(tagged: Tagged, group: VerbGroup) -> str | None:
    """Negate a verb group of a sentence with ``not``; None if it is already negated, or in doubtful cases."""
    if group.negator is not None or any(pattern in QUANTIFIED for pattern, _ in negations(tagged)):
        return None
    words = tagged.words
    first = words[group.first].lowercase
    subject = subject_of(words, group.last)
    # As in a question or a wish, the subject follows.
    has_odd_subject = subject is not None and (subject > group.first or words[subject].lowercase in ALL)
    if has_odd_subject or first == "let":
        return None
    full = WRITTEN_IN_FULL.get(first)
    if full == "had" and any(word.tag == "VB" for word in words[group.first : group.last + 1]):
        full = "would"
    if full:
        splices = [(words[group.first].start, words[group.first].end, f" {full} not")]
    elif first in MODALS | BE or (first in HAVE | DO and _is_auxiliary(words, group)):
        splices = [_not_after_auxiliary(words, group.first)]
    else:
        splices = _with_do(words, group.first)
    return spliced(tagged.text, splices)


def _is_auxiliary(words: Words, group: VerbGroup) -> bool:
    """Return whether ``have`` or ``do`` is negated by ``not`` alone: ``I have seen it``, ``yes, I do``."""
    after = word_at(words, group.last + 1).text
    return group.last > group.first or after in STOPS | {",", ""}


def _not_after_auxiliary(words: Words, auxiliary: int) -> Splice:
    """Return the change that inserts ``not`` after an auxiliary and any sentence adverbs that follow it."""
    last_adverb = auxiliary
    while word_at(words, last_adverb + 1).lowercase in SENTENCE_ADVERBS:
        last_adverb += 1
    end = words[last_adverb].end
    # "Cannot" is one word.
    return end, end, "not" if words[last_adverb].lowercase == "can" else " not"


def _with_do(words: Words, verb: int) -> list[Splice]:
    """Return the changes that insert ``do``, ``does`` or ``did`` with ``not`` and make the verb a base form."""
    word = words[verb]
    auxiliary = {"VBZ": "does", "VBD": "did"}.get(word.tag, "do")
    # Some adverbs stay between the negation and the verb: "they formally agree" becomes "they do not formally agree".
    first = verb
    while is_manner(word_at(words, first - 1)) or word_at(words, first - 1).lowercase in AFTER_NOT:
        first -= 1
    if first == verb:
        return [(word.start, word.end, f"{auxiliary} not {word.lemma}")]
    start = words[first].start
    return [(start, start, f"{auxiliary} not "), (word.start, word.end, word.lemma)]


# --- Negating the replaced word of a minimal pair (Chiang et al. 2023, section 2.2.6) ---

_ELSEWHERE = re.compile(
    r"(?i)(?:not|n['’]t) (?:just|only|simply|merely|even|pretty|super|gotta)\b|\bha(?:ve|s|d) not to\b|"
    r"\brather (?:do|does|did) not\b|\b(?:super|so|very|really|pretty|more|most|too|feel) not\b|"
    r"\b(?:already|finally|once|almost|nearly|ever|barely) (?:do|does|did|am|is|are|was|were) not\b|"
    r"\b(?:already|nearly|ever) not\b|\bnow (?:do|does|did) not\b|"
    r"not (?:already|almost|finally|still|rather|once|ever|long|much rather|very \w+ly|(?:be )?some)\b|"
    r"(?:not|n['’]t)\b[^,.;!]*,? too(?=[,.;!]|$)"
)
"""Negations that deny another word than the verb, or are not correct English."""
_BARS_NOT = wordset("not n't such no what so how too been being never as why")
"""Words after which "not" does not fit before an adjective."""


def word_negated(tagged: Tagged, index: int, auxiliary: Auxiliary) -> str | None:
    """Negate an adjective or a verb, or remove its negation. Before an adjective and its noun, ``not`` is inserted.

    Parameters
    ----------
    auxiliary
        Whether the auxiliary of a removed negation is kept.

    Returns
    -------
    The sentence; None in doubtful cases, or if the ``not`` would be read with another word.
    """
    word, verb = tagged.words[index], index
    # "It is (or was) illegal": the negation belongs to both verbs.
    is_after_parenthesis = word_at(tagged.words, index - 1).text == ")"
    if word.relation == "amod" or is_after_parenthesis:
        return _not_before(tagged, index)
    if word.relation == "acomp":
        verb = word.head
    group = group_at(tagged, verb)
    return None if group is None else unnegated(tagged, group, auxiliary) or negated(tagged, group)


def falls_elsewhere(tagged: Tagged, text: str) -> bool:
    """Return whether a new negation denies another word ("not just"), or is not correct English ("has not to").

    Parameters
    ----------
    tagged, text
        The sentence without and with the negation.
    """
    return len(_ELSEWHERE.findall(text)) > len(_ELSEWHERE.findall(tagged.text))


def _not_before(tagged: Tagged, index: int) -> str | None:
    """Insert ``not`` before an adjective and the adverbs that belong to it.

    None if the ``not`` would be read with another word: at the start, after a verb, "and", "no", "such a".
    """
    words = tagged.words
    first = min([index, *(place for place in dependents(words, index, ("advmod",)) if place < index)])
    before = word_at(words, first - 1)
    starts_clause = before.tag in {"", "CC", ",", ":", "."} and before.text != ")"
    if starts_clause or before.tag.startswith("VB"):
        return None
    nearby = words[max(0, first - 2) : index]
    if any(word.lowercase in _BARS_NOT for word in nearby):
        return None
    return substituted(tagged, {first: f"not {words[first].text}"})
