"""Where a sentence says one thing of one subject, so that its negation is its opposite.

What Vahtola et al. (2022, section 3) read out by hand is refused here by name: degree words (*not very good*),
quantifiers (*all … not*), conditionals, several adjectives, idioms (*not bad*), a modal (*cannot be true*).
"""

from __future__ import annotations

from dataclasses import dataclass

from embassay.builders._clauses import Group, groups, main_group
from embassay.builders._fitness import QUANTIFIERS, unfit, unfit_group
from embassay.builders._opposites import Judged, judged
from embassay.builders._polarity import DEGREES, POLAR, QUANTIFIED, negations
from embassay.builders._tails import follows
from embassay.builders._verbs import MODALS, SUBJECTS, lower, wordset
from embassay.builders._wordnet import Lexicon
from embassay.builders._words import Tagged, Word

PATTERNS = ("not", "n't", "never", "no longer")
COPULAS = frozenset({"be", "seem", "look", "feel", "sound", "appear", "taste", "smell"})
OPINIONS = frozenset({"think", "believe", "suppose"})
"""Verbs whose negation is understood as that of their clause: ``I don't think it is fair``."""
SENSES: dict[str, frozenset[str]] = {
    "persons": wordset("safe dangerous open closed shut clear unclear good hard easy expensive cheap simple dead"),
    "attributive": wordset(
        "true false right wrong dead open closed certain regular normal common perfect complete active able present "
        "absent legal illegal clear natural usual likely married single awake asleep alive stable due hard"
    ),
}
"""Adjectives that mean something else of a person, and before a noun."""
NO_NOUNS = wordset("camper deal bit way while chance amount time many thing luck laugh lot few sport boy girl guy")
"""Nouns that make an idiom with an adjective: ``a good deal``."""


@dataclass(frozen=True)
class Candidate:
    """A word with an antonym, and the verb group whose negation makes it the contrary.

    Attributes
    ----------
    index
        The word.
    part
        A letter of WordNet: ``a``, ``v`` or ``r``.
    at
        A word of the verb group that is negated, or is to be.
    """

    index: int
    part: str
    at: int
    opposite: Judged


def find(tagged: Tagged, lexicon: Lexicon) -> Candidate | str:
    """Return the word of a sentence that can be exchanged, or the reason why there is none."""
    if reason := unfit(tagged):
        return reason
    found = negations(tagged)
    if len(found) > 1:
        return "several negations"
    if found and found[0][0] not in PATTERNS:
        return f"negated by a word that is not taken out: {found[0][0]}"
    every = groups(tagged)
    if not found:
        main = main_group(tagged)
        tried = () if main is None else tuple(group for group in every if group.first >= main.first)
        if not tried:
            return "no main verb found"
    else:
        tried = tuple(group for group in every if group.negator == found[0][1])[:1]
        if not tried:
            return "the negation is not of a verb"
    return _first(tagged, tried, every, lexicon, found[0][0] if found else "")


def _first(
    tagged: Tagged, tried: tuple[Group, ...], every: tuple[Group, ...], lexicon: Lexicon, pattern: str
) -> Candidate | str:
    """Return the first group's candidate, or the reason that came nearest to one."""
    reasons = []
    for group in tried:
        found = _of_group(tagged, group, every, lexicon, pattern)
        if isinstance(found, Candidate):
            chosen = tagged.words[found.index]
            if sum(word.lemma == chosen.lemma for word in tagged.words) == 1 and not chosen.text.isupper():
                return found
            found = "the word stands twice, or in capitals"
        reasons.append(found)
    return next((reason for reason in reasons if reason != NOTHING), NOTHING)


NOTHING = "no adjective, verb or adverb with an antonym"


def _of_group(
    tagged: Tagged, group: Group, every: tuple[Group, ...], lexicon: Lexicon, pattern: str
) -> Candidate | str:
    words = tagged.words
    if reason := unfit_group(words, group, pattern):
        return reason
    lemma = words[group.last].lemma.lower()
    if lemma in OPINIONS and pattern in ("not", "n't"):
        later = next((g for g in every if g.first > group.last), None)
        if later is None or later.first - group.last > 4:
            return NOTHING
        return unfit_group(words, later, "") or _adjective(words, later, lexicon, group.last)
    if lemma in COPULAS and words[group.last].tag != "VBG":
        return _adjective(words, group, lexicon, group.last)
    if pattern in ("never", "no longer"):
        return NOTHING
    verb = _verb(words, group, lexicon, pattern)
    return verb if isinstance(verb, Candidate) or verb != NOTHING else _adverb(words, group, every, lexicon)


def _adjective(words: tuple[Word, ...], group: Group, lexicon: Lexicon, at: int) -> Candidate | str:
    """Return the predicate adjective after a copula, or the one before its noun: ``is fair``, ``is a fair price``."""
    place = _after(words, group.last + 1)
    article = place < len(words) and lower(words[place]) in ("a", "an")
    place += article
    if place >= len(words):
        return NOTHING
    word = words[place]
    if lower(word) in PREDICATIVE and (opposite := judged(lexicon, lower(word), "a")) is not None:
        return _unfit_adjective(words, group, place, article) or Candidate(place, "a", at, opposite)
    if lower(word) in DEGREES | POLAR | {"that", "all", "not"} or word.tag.startswith("RB"):
        return "an adverb before the adjective"
    if word.tag in ("JJR", "JJS"):
        return "a comparative or superlative"
    if word.tag != "JJ" or (opposite := judged(lexicon, lower(word), "a")) is None:
        return NOTHING
    if reason := _unfit_adjective(words, group, place, article):
        return reason
    return Candidate(place, "a", at, opposite)


def _unfit_adjective(words: tuple[Word, ...], group: Group, place: int, article: bool) -> str:
    low, after = lower(words[place]), words[place + 1] if place + 1 < len(words) else None
    noun = after is not None and after.tag in ("NN", "NNS")
    if article or noun:
        if not noun or (not article and after is not None and after.tag != "NNS"):
            return "an adjective before other words than a noun"
        if low in SENSES["attributive"] or (after is not None and lower(after) in NO_NOUNS):
            return "an adjective that means something else before a noun"
        return follows(words, place + 1, low)
    if low in ("bad", "sure") and group.negator is not None:
        return "an idiom: not bad, not sure"
    if low in ("good", "bad") and words[group.last].lemma == "feel":
        return "an idiom: feel good, feel bad"
    if low in SENSES["persons"] and _person(words, group):
        return "an adjective that means something else of a person"
    return follows(words, place, low)


def _person(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether the subject may be a person: all but ``it``, ``this``, ``that`` and ``which``, and plain nouns."""
    at = group.first - 1
    while at >= 0 and words[at].tag.startswith("RB"):
        at -= 1
    low = lower(words[at]) if at >= 0 else ""
    return (low in SUBJECTS - {"it"}) or low == "who" or (at >= 0 and words[at].tag in ("NNP", "NNPS")) or low in PEOPLE


PREDICATIVE = frozenset({"asleep", "awake", "alive"})
"""Adjectives that are tagged as adverbs at times."""
PEOPLE = wordset("man men woman women kid kids child children people guy guys boy boys girl girls friend friends")


def _after(words: tuple[Word, ...], place: int) -> int:
    """Return the first index from ``place`` that is no negator."""
    while place < len(words) and lower(words[place]) in ("not", "n't", "never", "no", "longer"):
        place += 1
    return place


def _verb(words: tuple[Word, ...], group: Group, lexicon: Lexicon, pattern: str) -> Candidate | str:
    """Return the verb of a group, where it has an opposite: ``agrees``, ``does not agree``."""
    word = words[group.last]
    opposite = judged(lexicon, word.lemma.lower(), "v")
    if opposite is None or (word.tag == "VBG" and (group.first == group.last or word.lemma == "like")):
        return NOTHING
    if group.first == group.last and group.first and words[group.first - 1].lemma == "get":
        return NOTHING  # "get accepted"
    if any(lower(w) in MODALS - {"will", "'ll", "wo"} for w in words[group.first : group.last]):
        return "a modal verb"
    if opposite.verdict == "sure" and (reason := follows(words, group.last, word.lemma.lower(), verb=True)):
        return reason
    past = word.tag == "VBD" or (pattern and words[group.first].tag == "VBD")
    if word.lemma in ("remember", "forget") and not past:
        return "remember or forget, not in the past"
    if word.lemma == "like" and not _with_subject(words, group):
        return "like that may be no verb"
    return Candidate(group.last, "v", group.last, opposite)


def _with_subject(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether a clear subject stands right before a verb: ``remember it like`` has none for ``like``."""
    at = group.first - 1
    while at >= 0 and words[at].tag.startswith("RB"):
        at -= 1
    clear = at >= 0 and (lower(words[at]) in ("i", "he", "she", "we", "they", "who") or words[at].tag == "CC")
    verbs = any(word.tag.startswith(("VB", "MD", "IN")) for word in words[:at])
    return clear or (at >= 0 and not verbs) or group.negator is not None or words[group.last].tag in ("VBD", "VBZ")


def _adverb(words: tuple[Word, ...], group: Group, every: tuple[Group, ...], lexicon: Lexicon) -> Candidate | str:
    """Return the adverb of manner at the end of a clause, or ``often`` before the verb."""
    for place in range(max(0, group.first - 1), group.last):
        if lower(words[place]) == "often" and (opposite := judged(lexicon, "often", "r")) is not None:
            return Candidate(place, "r", group.last, opposite)
    stop = next((other.first for other in every if other.first > group.last), len(words))
    for place in range(group.last + 1, min(group.last + 6, stop)):
        word = words[place]
        if lower(word) == "badly" or (lower(word) == "well" and lower(words[place - 1]) in ("as", "very", "too")):
            return NOTHING
        if word.tag in ("IN", "CC", "WRB", "TO", ",") or lower(word) in QUANTIFIERS | QUANTIFIED:
            return NOTHING
        if word.tag.startswith(("VB", "MD")) or lower(word) in SUBJECTS - {"it", "you"}:
            return NOTHING
        if word.tag == "RB" and (opposite := judged(lexicon, lower(word), "r")) is not None:
            if words[place - 1].tag == "RB" and lower(words[place - 1]) not in ("not", "n't"):
                return "an adverb before the adverb"
            return follows(words, place, lower(word), adverb=True) or Candidate(place, "r", group.last, opposite)
    return NOTHING
