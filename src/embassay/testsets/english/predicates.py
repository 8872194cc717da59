"""Where a sentence says one thing of one subject, so that its negation is its opposite.

What Vahtola et al. (2022, section 3) read out by hand is refused here by name: degree words (*not very good*),
quantifiers (*all … not*), conditionals, several adjectives, idioms (*not bad*), a modal (*cannot be true*).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from embassay.testsets.english.clauses import (
    BE,
    DO,
    HAVE,
    MODALS,
    STOPS,
    SUBJECTS,
    Group,
    groups,
    is_after_subject,
    lower,
    main_group,
    wordset,
)
from embassay.testsets.english.negation import AFTER_NOT, DEGREES, FOCUS, POLAR, QUANTIFIED, SENTENCE_ADVERBS, negations
from embassay.testsets.english.opposites import Judged, follows, judged
from embassay.testsets.english.wordnet import Lexicon
from embassay.testsets.english.words import Tagged, Word

# --- Why a sentence, or a clause of it, is no place for a negated antonym: each reason by its name ---

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


# --- Where a sentence says one thing of one subject, so that its negation is its opposite ---

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
