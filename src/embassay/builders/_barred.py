"""Verb groups that no ``not`` goes into, and the ``do`` that the others need."""

from __future__ import annotations

from embassay.builders._clauses import Group
from embassay.builders._tagger import possible
from embassay.builders._verbs import BE, DO, HAVE, MODALS, PLAIN_SUBJECTS, SUBJECTS, lower, wordset
from embassay.builders._words import Word

SAID_BY_THE_WAY = wordset("guess figure presume suppose reckon bet")
"""Verbs of a mere aside: ``I guess``."""
ALL = wordset("everyone everybody everything all each both either anyone anybody anything any")
"""Subjects with which a ``not`` denies something else than the verb."""


def takes_no_not(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether a verb group is a question, in a set phrase, or has a subject that no ``not`` goes with."""
    return _inverted(words, group) or _fixed(words, group) or _disagrees(words, group)


def support(words: tuple[Word, ...], at: int) -> str:
    """Return ``do``, ``does`` or ``did``, whichever a lexical verb is negated with."""
    word, low = words[at], lower(words[at])
    third = at > 0 and lower(words[at - 1]) in ("he", "she", "it")
    if word.tag == "VBZ":
        return "does"
    if low != word.lemma:
        return "did"
    if "VB" in (can := possible(low)) and not can & {"VBD", "VBZ"}:
        return "do"
    if (word.tag in ("VBD", "VBN") and (at or "VB" not in can)) or (third and "VBD" in can):
        return "did"
    return "do"


def _inverted(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether a subject follows the auxiliary: a question, a wish."""
    after = group.first + 1
    low = lower(words[group.first])
    if after >= len(words) or low not in MODALS | BE | HAVE | DO or lower(words[after]) not in SUBJECTS:
        return False
    clause = low in BE and after + 1 < len(words) and words[after + 1].tag in ("VBZ", "VBP", "VBD", "MD")
    return clause or low in MODALS or lower(words[after]) not in ("it", "you")


def _fixed(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether a verb is in a phrase that takes no ``not``: ``had better``, ``might as well``, ``have got to``."""
    low, after = lower(words[group.first]), [lower(word) for word in words[group.first + 1 : group.first + 4]]
    if low == "let" or "got" in after[:2] or words[group.last].lemma in SAID_BY_THE_WAY:
        return True
    return low in MODALS | HAVE and (
        bool({"better", "rather", "sooner", "ever"} & set(after)) or after[:2] == ["as", "well"]
    )


def _disagrees(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether a bare form has a singular subject, or one that no ``not`` goes with: ``anyone``, ``everyone``."""
    at = group.first - 1
    while at >= 0 and words[at].tag.startswith("RB"):
        at -= 1
    if at < 0:
        return (
            group.first + 1 < len(words)
            and words[0].tag == "VB"
            and lower(words[group.first + 1]) in SUBJECTS - {"it", "you"}
        )
    low = lower(words[at])
    if low in ALL or (low in PLAIN_SUBJECTS and words[group.first].tag == "VBZ" and lower(words[group.first]) != "'s"):
        return True
    joined = any(word.tag == "CC" for word in words[max(0, at - 4) : at])
    singular = words[at].tag in ("NN", "NNP") or low in ("this", "that", "he", "she", "it")
    bare = lower(words[group.first]) not in BE | HAVE | DO | MODALS and support(words, group.first) == "do"
    return singular and not joined and bare
