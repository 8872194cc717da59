"""Removing the negation of an English sentence, with the ``do`` that it needed.

SemAntoNeg (Vahtola et al. 2022, section 3) deletes only the negator. Here ``does not know`` becomes ``knows``. In
doubtful cases the functions return None.
"""

from __future__ import annotations

from itertools import pairwise

from embassay.testsets.english.clauses import group_at, groups
from embassay.testsets.english.negators import FOCUS, POLAR, QUANTIFIED, negations
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.word_classes import AUXILIARIES, DO, STOPS, wordset
from embassay.testsets.english.words import Splice, Tagged, Word, inflected, spliced, word_at

IDIOMS = wordset("help stand wait care imagine afford seem dare need bear bothered agree")
"""Verbs with a special meaning after ``can't`` or ``couldn't`` (``can't wait``)."""
FULL = {"ca": "can", "wo": "will", "sha": "shall"}
"""The first part of a contraction with ``n't``, and the word that it stands for."""
KEEP_NOT = wordset("ai need dare")
"""Auxiliaries that are not used without ``not``: ``ain't``, ``need not``."""


def unnegated(tagged: Tagged, index: int | None = None) -> str | None:
    """Remove the negation of a sentence, or that of the verb at an index.

    Returns
    -------
    The sentence without it. None if there is no negation or several, if the negation is a quantifier (``nobody``), or
    if the sentence would not be correct English without it (``at all``, ``yet``, ``can't wait``).
    """
    candidates = negations(tagged)
    if index is not None:
        group = group_at(tagged, index)
        if group is None:
            return None
        candidates = tuple(negation for negation in candidates if negation[1] == group.negator)
    if len(candidates) != 1:
        return None
    pattern, negator = candidates[0]
    if pattern in QUANTIFIED or pattern == "no more":
        return None
    if pattern == "no longer":
        return spliced(tagged.text, [(tagged.words[negator].start, tagged.words[negator + 1].end, "")])
    if _needs_negation(tagged.words, negator):
        return None
    splices = _removal(tagged, pattern, negator)
    if splices is None:
        return None
    return spliced(tagged.text, splices)


def _needs_negation(words: tuple[Word, ...], negator: int) -> bool:
    """Return whether the words after a negation are wrong, or mean something else, without the negation."""
    after = [word.lowercase for word in words[negator + 1 :]]
    if not after:
        return False
    # In "Never have I seen it" the negation puts the verb before the subject.
    if after[0] in FOCUS or (negator == 0 and after[0] in AUXILIARIES):
        return True
    return not POLAR.isdisjoint(after) or ("at", "all") in pairwise(after)


def _removal(tagged: Tagged, pattern: str, negator: int) -> list[Splice] | None:
    """Return the changes that remove a negator, and the ``do`` that it needed; None in doubtful cases."""
    words = tagged.words
    deletion = (words[negator].start, words[negator].end, "")
    group = next((group for group in groups(tagged) if group.negator == negator), None)
    if group is None:
        if pattern in ("not", "never"):
            return [deletion]
        return None
    auxiliary = words[group.first]
    if auxiliary.lowercase in KEEP_NOT:
        return None
    if auxiliary.lowercase in ("ca", "can", "could"):
        after = {word.lowercase for word in words[negator + 1 : negator + 3]}
        if after & IDIOMS:
            return None
    if auxiliary.lowercase in FULL:
        full = _with_capital(FULL[auxiliary.lowercase], auxiliary)
        return [(auxiliary.start, auxiliary.end, full), deletion]
    if auxiliary.lowercase not in DO or pattern not in ("not", "n't"):
        return [deletion]
    return _without_do(words, group.first, negator)


def _without_do(words: tuple[Word, ...], auxiliary: int, negator: int) -> list[Splice] | None:
    """Return the changes that remove ``do`` and ``not`` and inflect the verb like ``do``; None if it has no such form.

    Parameters
    ----------
    auxiliary, negator
        The indices of ``do`` and of ``not``.
    """
    place = negator + 1
    while word_at(words, place).tag.startswith("RB"):
        place += 1
    # In "I do not." the "do" is the verb.
    if ends_clause(words, place):
        return [(words[negator].start, words[negator].end, "")]
    verb = words[place]
    if "VB" not in possible(verb.lowercase):
        return None
    tag = {"does": "VBZ", "did": "VBD"}.get(words[auxiliary].lowercase, "VB")
    form = inflected(verb.lowercase, tag)
    if form is None:
        return None
    return [(words[auxiliary].start, words[negator].end, ""), (verb.start, verb.end, form)]


def ends_clause(words: tuple[Word, ...], index: int) -> bool:
    """Return whether a clause ends before an index: at a full stop, a comma or the end of the text."""
    return index >= len(words) or words[index].text in STOPS | {","}


def _with_capital(text: str, word: Word) -> str:
    """Return a text, with a capital if the word that it replaces has one."""
    if word.text[0].isupper():
        return text.capitalize()
    return text
