"""Why a sentence, or a clause of it, is no place for a negated antonym: each reason by its name."""

from __future__ import annotations

from itertools import pairwise

from embassay.builders._clauses import Group
from embassay.builders._polarity import AFTER_NOT, DEGREES, FOCUS, POLAR, SENTENCE_ADVERBS
from embassay.builders._verbs import BE, DO, HAVE, MODALS, STOPS, is_after_subject, lower, wordset
from embassay.builders._words import Tagged, Word

SHORTEST, LONGEST = 4, 30
"""Words and marks of a sentence: Vahtola et al. (2022) took four at least."""
SELF_DUAL = frozenset({"will", "would", "should", "'ll", "wo"})
"""Modals that may change places with a negation."""
QUANTIFIERS = wordset(
    "all every everyone everybody everything everywhere each both most many some someone somebody something somewhere "
    "few fewer several half only least less one nobody nothing anyone anything either neither"
)
HYPOTHETICAL = wordset("if unless whether wish wished wishes as though lest suppose supposing imagine")
NEARLY = frozenset({"almost", "nearly", "practically", "virtually", "sort", "kind", "of", "pretty", "simply", "always"})
"""Words before a verb group that its negation does not leave as they were."""
FREQUENCY = wordset("often usually frequently generally")


def unfit(tagged: Tagged) -> str:
    """Return why a sentence as a whole cannot be used; empty if it can."""
    words = tagged.words
    if not SHORTEST <= len(words) <= LONGEST:
        return f"not {SHORTEST} to {LONGEST} words and marks"
    if "?" in tagged.text:
        return "a question"
    if any(word.text in STOPS for word in words[:-1]):
        return "several sentences"
    lows = {lower(word) for word in words}
    if lows & {"always", "sometimes"} or "all the time" in tagged.text.lower():
        return "a frequency"
    if reason := _unfit_around(words):
        return reason
    if lows & HYPOTHETICAL or {"either", "or"} <= lows:
        return "a condition or a wish"
    if words[0].tag in ("WRB", "WP") and len(words) > 1 and lower(words[1]) in BE | HAVE | DO | MODALS:
        return "a question"
    if lower(words[0]).rstrip(".") in ("yes", "no", "yeah", "yep", "nope", "nah"):
        return "an answer"
    return "there is, there are" if any(word.tag == "EX" for word in words) else ""


def _unfit_around(words: tuple[Word, ...]) -> str:
    """Return why two words together rule a sentence out; empty if none do."""
    pairs = [(lower(word), after) for word, after in pairwise(words)]
    if any(word in BE and lower(after) == "so" for word, after in pairs):
        return "so … that"
    if any(word == "how" and after.tag == "RB" for word, after in pairs):
        return "a degree or focus word at the negation"
    likes = (at for at, word in enumerate(words) if word.lemma in ("like", "dislike") and word.tag.startswith("VB"))
    if any(_to_after(words, at) for at in likes):
        return "like with an infinitive, which dislike does not take"
    return ""


def _to_after(words: tuple[Word, ...], index: int) -> bool:
    """Say whether an infinitive follows a verb, at once or after its object."""
    return any(lower(word) == "to" and after.tag == "VB" for word, after in pairwise(words[index + 1 :]))


def unfit_group(words: tuple[Word, ...], group: Group, pattern: str) -> str:
    """Return why the negation of a verb group is not the contrary of its clause; empty if it is."""
    start = group.first
    while start and words[start - 1].text not in STOPS | {","} and words[start - 1].tag != "CC":
        start -= 1
    if start > 1 and words[start - 1].tag == "CC" and words[start - 2].tag.startswith(("VB", "MD")):
        return "several adjectives or clauses"
    inside = [lower(word) for word in words[group.first : group.last + 1]]
    if reason := _unfit_subject(words[start : group.first]):
        return reason
    if (MODALS | {"'d", "need", "dare"}) - SELF_DUAL & set(inside):
        return "a modal verb"
    near = [words[group.first - 1], *words[group.first : group.last + 2]] if group.first else words[: group.last + 2]
    adverbs = {lower(word) for word in near if word.tag[:2] in ("RB", "IN", "DT", "JJ")} - {"that", "this"}
    if adverbs & (POLAR | DEGREES | FOCUS | (AFTER_NOT - FREQUENCY)):
        return "a degree or focus word at the negation"
    if _commands(words, group):
        return "a command"
    if pattern == "never" and inside[0] in HAVE | MODALS:
        return "never with a perfect or a modal verb"
    return ""


def _unfit_subject(before: tuple[Word, ...]) -> str:
    """Return why what stands before a verb group in its clause does not let its negation be the contrary."""
    lows = [lower(word) for word in before]
    if {"than", "before", "until", "till"} & set(lows):
        return "a comparison, or a clause of time that a negation empties"
    if {"what", "whatever", "whichever", "whoever"} & set(lows):
        return "a clause that names its subject or object"
    if QUANTIFIERS & set(lows) or any(word.tag == "CD" for word in before):
        return "a quantified subject"
    manner = lows and lows[-1].endswith("ly") and before[-1].tag == "RB" and lows[-1] not in SENTENCE_ADVERBS
    return "a degree or focus word at the negation" if manner or NEARLY & set(lows[-3:]) else ""


def _commands(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether a group is an imperative: a bare verb, or ``do``, without a subject."""
    first = words[group.first]
    if first.tag == "VB" and not is_after_subject(words, group.first) and not _plural_subject(words, group.first):
        return True
    opens = group.first == 0 or (group.first == 1 and words[0].tag.startswith("RB"))
    return opens and (first.tag == "VB" or lower(first) == "do")


def _plural_subject(words: tuple[Word, ...], index: int) -> bool:
    return index > 0 and words[index - 1].tag in ("NNS", "NNPS")
