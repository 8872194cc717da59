"""Finite verb groups of a tagged sentence, and which of them is the main one; rules, no parser.

A group is what one finite verb draws together: ``has not been seen``. The main group is the first that is not
owed to a subordinator (``because``, ``who``, ``when`` …) or to a relative clause without a pronoun (``the book I
read``). Where the rules do not decide, there is no main group.
"""

from __future__ import annotations

from dataclasses import dataclass

from embassay.builders._verbs import (
    ADVERBIAL,
    BE,
    DO,
    HAVE,
    MODALS,
    NEGATORS,
    PREPOSITIONS_TOO,
    STOPS,
    SUBJECTS,
    SUBORDINATORS,
    TIMES,
    is_adverb,
    is_finite,
    lower,
    starts_clause,
    wordset,
)
from embassay.builders._words import Tagged, Word

SAYING = wordset(
    "think say know believe hope feel guess suppose realize claim wish mean swear bet hear see tell show prove find "
    "admit notice decide figure learn understand agree imagine assume"
)
"""Verbs that a clause without ``that`` may follow: ``said the bridge was closed``."""


@dataclass(frozen=True)
class Group:
    """A finite verb group.

    Attributes
    ----------
    first, last
        Indices of its finite word and of its last verb, which may be the same.
    negator
        Index of ``not``, ``n't``, ``never`` … in or right after it; None where it is not negated.
    """

    first: int
    last: int
    negator: int | None


def groups(tagged: Tagged) -> tuple[Group, ...]:
    """Return the finite verb groups of a sentence, from left to right."""
    found: list[Group] = []
    index = 0
    while index < len(tagged.words):
        if is_finite(tagged.words, index):
            group = _group(tagged.words, index)
            found.append(group)
            index = group.last
        index += 1
    return tuple(found)


def group_at(tagged: Tagged, index: int) -> Group | None:
    """Return the verb group that the word at ``index`` belongs to, if any."""
    return next((group for group in groups(tagged) if group.first <= index <= group.last), None)


def main_group(tagged: Tagged) -> Group | None:
    """Return the verb group of the main clause; None for a question, a fragment, or where the rules do not decide.

    Of several sentences, the first that has one counts.
    """
    words = tagged.words
    if not words or words[-1].text == "?" or tagged.text.rstrip(" \"'”’)").endswith("?"):
        return None
    at = {group.first: group for group in groups(tagged)}
    owed, maybe, waiting = 0, 0, False
    for index, word in enumerate(words):
        if word.text in STOPS:
            owed, maybe, waiting = 0, 0, False
        elif word.text == ",":
            owed, maybe, waiting = (0 if waiting else owed - maybe), 0, waiting and owed > maybe > 0
        elif index in at and owed == 0 and not waiting:
            return at[index] if _decided(words, at[index], tuple(at.values())) else None
        elif index in at:
            owed, maybe = max(owed - 1, 0), 0
        elif _opens_clause(words, index):
            owed, maybe = owed + 1, maybe + (lower(word) in PREPOSITIONS_TOO)
            waiting = waiting or (
                (lower(word) in ADVERBIAL or _names_time(words, index)) and starts_clause(words, index)
            )
    return None


def _decided(words: tuple[Word, ...], group: Group, every: tuple[Group, ...]) -> bool:
    """Say whether a group is surely the main one: no question, no reduced relative clause, no second verb beside it."""
    first = lower(words[group.first])
    if group.first == 0 and (first in MODALS | BE | HAVE or _asks(words, first)):
        return False
    later = next((other for other in every if other.first > group.first), None)
    if later is None:
        return True
    between = words[group.last + 1 : later.first]
    if not between or (len(between) == 1 and is_adverb(between[0])):
        return False
    commands = words[group.first].tag == "VB" and starts_clause(words, group.first)
    shared = words[group.first].tag in ("VBD", "VBN") and first.endswith(("ed", "en")) and group.first > 0
    parts = any(w.tag in ("CC", ",", "PRP", "WDT", "WP", "WRB", ":", ".") or lower(w) == "that" for w in between)
    if commands:
        return parts  # no command: "mention of it was made", "close talks between them can help"
    return parts or not shared or lower(words[group.first - 1]) in SUBJECTS or words[group.first].lemma in SAYING


def _asks(words: tuple[Word, ...], first: str) -> bool:
    """Say whether ``do`` at the start asks (``do it work``) rather than commands (``do it now``)."""
    return first in DO and len(words) > 2 and lower(words[1]) in SUBJECTS and words[2].tag.startswith("VB")


def _opens_clause(words: tuple[Word, ...], index: int) -> bool:
    """Say whether a subordinate clause with its own finite verb begins at a word."""
    low, before = lower(words[index]), words[index - 1] if index else None
    if _names_time(words, index):
        return True
    if low in SUBORDINATORS:
        return not (index + 1 < len(words) and lower(words[index + 1]) in ("of", "for", "well", "usual", "such"))
    if low == "that":
        return before is not None and before.tag.startswith(("NN", "VB"))
    if index > 1 and _names_time(words, index - 2):
        return False
    if low in SUBJECTS and before is not None and before.tag in ("NN", "NNS", "NNP") and index > 1:
        return lower(before) not in TIMES or lower(words[index - 2]) in ("every", "the", "first")
    return False


def _names_time(words: tuple[Word, ...], index: int) -> bool:
    """Say whether a time opens a clause at a word, before its subject: ``every time the bell rings``."""
    if index + 2 >= len(words) or lower(words[index + 1]) not in ("time", "moment", "minute", "second", "instant"):
        return False
    after = words[index + 2]
    return lower(words[index]) in ("every", "each", "any", "next", "first", "last", "the") and (
        after.tag in ("PRP", "NNP", "PRP$", "NNS") or lower(after) in ("a", "the", "this", "someone", "somebody")
    )


def _group(words: tuple[Word, ...], first: int) -> Group:
    last, negator = first, None
    for at in range(first + 1, len(words)):
        if lower(words[at]) in NEGATORS or is_no_longer(words, at):
            if lower(words[last]) not in BE | HAVE | DO | MODALS | {"be", "been", "being"}:
                break
            negator = at if negator is None else negator
        elif _continues(words, last, at):
            last = at
        elif not is_adverb(words[at]):
            break
    before = first - 1
    while before >= 0 and (is_adverb(words[before]) or is_no_longer(words, before)):
        negates = lower(words[before]) in NEGATORS or is_no_longer(words, before)
        negator = before if negator is None and negates else negator
        before -= 1
    return Group(first, last, negator)


def is_no_longer(words: tuple[Word, ...], at: int) -> bool:
    """Say whether ``no longer`` begins at a word."""
    return lower(words[at]) == "no" and at + 1 < len(words) and lower(words[at + 1]) == "longer"


def _continues(words: tuple[Word, ...], last: int, at: int) -> bool:
    """Say whether the verb at ``at`` belongs to the group of the verb at ``last``: ``has`` + ``been`` + ``seen``."""
    head, tag, low = lower(words[last]), words[at].tag, lower(words[at])
    if head in ("'d", "'s"):
        return tag.startswith("VB") or (head == "'d" and low in ("be", "have"))
    if head in MODALS | DO:
        return tag in ("VB", "VBP", "VBD") or low in ("be", "have", "do")
    if head in HAVE or head == "having":
        return tag in ("VBN", "VBD")
    if head in BE or head in ("be", "been", "being"):
        return tag in ("VBG", "VBN", "VBD")
    return False
