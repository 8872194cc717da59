"""Taking the negation out of an English sentence, with the ``do`` that it needed.

SemAntoNeg (Vahtola et al. 2022, section 3) deletes the negator alone. Here ``does not know`` becomes ``knows``. Where
the rules do not decide, the answer is None.
"""

from __future__ import annotations

from itertools import pairwise

from embassay.testsets.english.clauses import group_at, groups
from embassay.testsets.english.negators import FOCUS, POLAR, QUANTIFIED, negations
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.word_classes import AUXILIARIES, DO, STOPS, wordset
from embassay.testsets.english.words import Splice, Tagged, Word, inflected, spliced, word_at

IDIOMS = wordset("help stand wait care imagine afford seem dare need bear bothered agree")
"""Verbs that after ``can't`` or ``couldn't`` mean something else than without (``can't wait``)."""
FULL = {"ca": "can", "wo": "will", "sha": "shall"}
"""What is left of a contraction without its ``n't``, and the word that it stands for."""
KEEP_NOT = wordset("ai need dare")
"""Auxiliaries that do not stand without their ``not``: ``ain't``, ``need not``."""


def unnegated(tagged: Tagged, index: int | None = None) -> str | None:
    """Take the one negation out of a sentence, or that of the verb at an index.

    Returns
    -------
    The sentence; None where it has no negation or several, or would not be English without it (``at all``, ``yet``,
    ``can't wait``), or the negation is a quantifier (``nobody``).
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
    return None if splices is None else spliced(tagged.text, splices)


def _needs_negation(words: tuple[Word, ...], negator: int) -> bool:
    """Return whether what follows a negation is no English, or says something else, without it."""
    after = [word.lowercase for word in words[negator + 1 :]]
    if not after:
        return False
    # "Never have I seen it" has its verb before its subject because of the negation.
    if after[0] in FOCUS or (negator == 0 and after[0] in AUXILIARIES):
        return True
    return not POLAR.isdisjoint(after) or ("at", "all") in pairwise(after)


def _removal(tagged: Tagged, pattern: str, negator: int) -> list[Splice] | None:
    """Return what takes a negator out, with the ``do`` that it needed."""
    words = tagged.words
    deletion = (words[negator].start, words[negator].end, "")
    group = next((group for group in groups(tagged) if group.negator == negator), None)
    if group is None:
        return [deletion] if pattern in ("not", "never") else None
    word = words[group.first]
    if word.lowercase in KEEP_NOT:
        return None
    if word.lowercase in ("ca", "can", "could"):
        after = {other.lowercase for other in words[negator + 1 : negator + 3]}
        if after & IDIOMS:
            return None
    if word.lowercase in FULL:
        return [(word.start, word.end, _with_capital(FULL[word.lowercase], word)), deletion]
    if word.lowercase not in DO or pattern not in ("not", "n't"):
        return [deletion]
    return _without_do(words, group.first, negator)


def _without_do(words: tuple[Word, ...], auxiliary: int, negator: int) -> list[Splice] | None:
    """Take ``do`` and ``not`` out and put the inflection of ``do`` on the verb."""
    verb = negator + 1
    while word_at(words, verb).tag.startswith("RB"):
        verb += 1
    if ends_clause(words, verb):
        return [(words[negator].start, words[negator].end, "")]
    if "VB" not in possible(words[verb].lowercase):
        return None
    tag = {"does": "VBZ", "did": "VBD"}.get(words[auxiliary].lowercase, "VB")
    form = inflected(words[verb].lowercase, tag)
    if form is None:
        return None
    return [(words[auxiliary].start, words[negator].end, ""), (words[verb].start, words[verb].end, form)]


def ends_clause(words: tuple[Word, ...], index: int) -> bool:
    """Return whether nothing follows in the clause: ``I do.``."""
    return index >= len(words) or words[index].text in STOPS | {","}


def _with_capital(text: str, word: Word) -> str:
    """Return a text with a capital where the word that it replaces has one."""
    return text.capitalize() if word.text[0].isupper() else text
