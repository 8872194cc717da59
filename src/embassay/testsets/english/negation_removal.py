"""Removing the negation of an English sentence, with or without the ``do`` that it needed.

HEROS (Chiang et al. 2023, section 2.2.6) and SemAntoNeg (Vahtola et al. 2022, section 3) delete only the negator:
``does not know`` becomes ``does know``. In doubtful cases the functions return None.
"""

from __future__ import annotations

from itertools import pairwise

from embassay.testsets.english.negators import FOCUS, POLAR
from embassay.testsets.english.syntax import VerbGroup
from embassay.testsets.english.word_classes import AUXILIARIES, DO
from embassay.testsets.english.words import Splice, Tagged, Words, inflected, spliced
from embassay.testsets.options import Auxiliary

FULL = {"ca": "can", "wo": "will", "sha": "shall"}
"""The first part of a contraction with ``n't``, and the word that it stands for."""


def unnegated(tagged: Tagged, group: VerbGroup, auxiliary: Auxiliary) -> str | None:
    """Remove the negation of a verb group, and with ``drop`` the ``do`` that it needed.

    Returns
    -------
    The sentence without it. None if the group is not negated, or if the sentence would not be correct English without
    the negation (``at all``, ``yet``).
    """
    if group.negator is None or _needs_negation(tagged.words, group.negator):
        return None
    splices = _removal(tagged.words, group, auxiliary)
    return None if splices is None else spliced(tagged.text, splices)


def _needs_negation(words: Words, negator: int) -> bool:
    """Return whether the words after a negation are wrong, or mean something else, without the negation."""
    after = [word.lowercase for word in words[negator + 1 :]]
    if not after:
        return False
    # In "Never have I seen it" the negation puts the verb before the subject.
    if after[0] in FOCUS or (negator == 0 and after[0] in AUXILIARIES):
        return True
    pairs = list(pairwise(after))
    # "How much" needs no negation, as in the example of HEROS: "You do know how much …".
    polar = {word for before, word in [("", after[0]), *pairs] if before != "how"} & POLAR
    return bool(polar) or ("at", "all") in pairs


def _removal(words: Words, group: VerbGroup, kept: Auxiliary) -> list[Splice] | None:
    """Return the changes that remove the negator of a group, and the ``do`` that it needed; None in doubtful cases."""
    auxiliary, negator = words[group.first], words[group.negator or 0]
    deletion = (negator.start, negator.end, "")
    # "Ain't" is "is not", "are not" or "have not".
    if auxiliary.lowercase == "ai":
        return None
    if auxiliary.lowercase in FULL:
        return [(auxiliary.start, auxiliary.end, FULL[auxiliary.lowercase]), deletion]
    if auxiliary.lowercase not in DO or kept == "keep":
        return [deletion]

    # "Does not know" becomes "knows": the verb is inflected like "do".
    verb = words[group.last]
    form = inflected(verb.lemma, {"does": "VBZ", "did": "VBD"}.get(auxiliary.lowercase, "VB"))
    if form is None or group.last == group.first:
        return None
    return [(auxiliary.start, negator.end, ""), (verb.start, verb.end, form)]
