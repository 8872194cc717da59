"""Negating the replaced word of a minimal pair (Chiang et al. 2023, section 2.2.6)."""

from __future__ import annotations

import re

from embassay.builders._negation import negated, unnegated
from embassay.builders._words import Tagged, substituted

_ELSEWHERE = re.compile(
    r"(?i)(?:not|n['’]t) (?:just|only|simply|merely|even|pretty|super|gotta)\b|\bha(?:ve|s|d) not to\b|"
    r"\brather (?:do|does|did) not\b|\b(?:super|so|very|really|pretty|more|most|too|feel) not\b|"
    r"\b(?:already|finally|once|almost|nearly|ever|barely) (?:do|does|did|am|is|are|was|were) not\b|"
    r"\b(?:already|nearly|ever) not\b|\bnow (?:do|does|did) not\b|"
    r"not (?:already|almost|finally|still|rather|once|ever|long|much rather|very \w+ly|(?:be )?some)\b|"
    r"(?:not|n['’]t)\b[^,.;!]*,? too(?=[,.;!]|$)"
)
"""Negations that fall on another word than the verb, or are no English."""
_BARS_NOT = frozenset({"not", "n't", "such", "no", "what", "so", "how", "too", "been", "being", "never", "as", "why"})
"""Words that a "not" before an adjective does not stand well after."""


def word_negated(tagged: Tagged, index: int) -> str | None:
    """Negate a word, or remove its negation; an adjective before its noun gets ``not`` before it, as in HEROS.

    Returns
    -------
    The sentence; None where the rules do not decide, or the ``not`` would be read with another word.
    """
    words = tagged.words
    if words[index].tag == "JJ" and index + 1 < len(words) and words[index + 1].tag.startswith("NN"):
        return _put(tagged, index)
    without = unnegated(tagged, index)
    return negated(tagged, index) if without is None else without


def falls_elsewhere(tagged: Tagged, text: str) -> bool:
    """Say whether a new negation falls on another word ("not just"), or is no English ("has not to")."""
    return len(_ELSEWHERE.findall(text)) > len(_ELSEWHERE.findall(tagged.text))


def _put(tagged: Tagged, index: int) -> str | None:
    """Return the sentence with "not" before an adjective, and before the adverbs that belong to it.

    None where the "not" would be read with something else: at the start, after "and", "have", "no", "such a".
    """
    first, words = index, tagged.words
    while first and words[first - 1].tag == "RB":
        first -= 1
    before = words[first - 1] if first else None
    if before is None or before.tag in {"CC", ",", ":", "."} or before.text.lower() in _BARS_NOT | {"be"}:
        return None
    if before.lemma in {"have", "do"} or {word.text.lower() for word in words[max(0, first - 2) : index]} & _BARS_NOT:
        return None
    word = words[first]
    text = word.text if word.text[1:2].isupper() or word.tag == "NNP" else word.text[0].lower() + word.text[1:]
    return substituted(tagged, {first: f"not {text}"})
