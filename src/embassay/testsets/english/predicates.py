"""Finding the word of a sentence whose antonym means the same as the negation of the sentence.

Sentences that Vahtola et al. (2022, section 3) removed by hand are rejected here, each with a reason: degree words
(*not very good*), quantifiers (*all … not*), conditionals, several adjectives, idioms (*not bad*), modals (*cannot be
true*). Module ``opposites`` decides which antonyms are opposites, and which words may follow them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from embassay.testsets.english.negators import (
    AFTER_NOT,
    FOCUS,
    POLAR,
    first_negation,
    negations,
)
from embassay.testsets.english.opposites import (
    Judged,
    judged,
    unfit_after_adjective,
    unfit_after_adverb,
    unfit_after_verb,
)
from embassay.testsets.english.syntax import (
    SUBJECT_RELATIONS,
    VerbGroup,
    VerbGroups,
    dependents,
    groups,
    main_group,
    phrase,
    subject_of,
)
from embassay.testsets.english.word_classes import ADVERBS_OF_DEGREE, HAVE, MODALS, STOPS, SUBJECTS, wordset
from embassay.testsets.english.wordnet import WordNet
from embassay.testsets.english.words import Tagged, Words

PATTERNS = ("not", "n't", "never", "no longer")
"""Negations that are removed."""
SHORTEST, LONGEST = 4, 30
"""The minimum and maximum number of words and marks of a sentence; the minimum is that of Vahtola et al. (2022)."""
NOTHING = "no adjective, verb or adverb with an antonym"
SELF_DUAL = wordset("will would should 'll wo")
"""Modals whose negation means the same as the negation of their verb: ``will not agree``."""
QUANTIFIERS = wordset(
    "all every everyone everybody everything everywhere each both most many some someone somebody something somewhere "
    "few fewer several half only least less one nobody nothing anyone anything either neither"
)
UNFIT = {
    r"\?": "a question",
    r"\b(?:always|sometimes|all the time)\b": "a frequency",
    r"(?:\b(?:am|is|are|was|were)|['’](?:m|s|re)) so\b": "so … that",
    r"\bhow \w+ly\b": "a degree or focus word at the negation",
    r"\b(?:dis)?like[sd]?\b.* to \w": "like with an infinitive, which dislike does not take",
    r"\b(?:if|unless|whether|wish(?:ed|es)?|as|though|lest|suppose|supposing|imagine)\b|\beither\b.*\bor\b": (
        "a condition or a wish"
    ),
    r"^(?:yes|no|yeah|yep|nope|nah)\b": "an answer",
}
"""Expressions that rule a sentence out, and why."""
NEARLY = wordset("almost nearly practically virtually sort kind of pretty simply always")
"""Words before a verb group whose meaning changes if the group is negated."""
FREQUENCY = wordset("often usually frequently generally")
COPULAS = wordset("be seem look feel sound appear taste smell")
BARRED = (POLAR | ADVERBS_OF_DEGREE | FOCUS | (AFTER_NOT - FREQUENCY)) - {"that"}
"""Words at a verb group that change what its negation denies."""
OPINIONS = wordset("think believe suppose")
"""Verbs whose negation means the negation of the clause after them: ``I don't think it is fair``."""
OF_PERSONS = wordset("safe dangerous open closed shut clear unclear good hard easy expensive cheap simple dead")
"""Adjectives with another meaning if they describe a person."""
ATTRIBUTIVE = wordset(
    "true false right wrong dead open closed certain regular normal common perfect complete active able present "
    "absent legal illegal clear natural usual likely married single awake asleep alive stable due hard"
)
"""Adjectives with another meaning before a noun."""
NO_NOUNS = wordset("camper deal bit way while chance amount time many thing luck laugh lot few sport boy girl guy")
"""Nouns that form an idiom with an adjective: ``a good deal``."""
PEOPLE = wordset("man men woman women kid kids child children people guy guys boy boys girl girls friend friends")


@dataclass(frozen=True)
class Candidate:
    """A word with an antonym, and the verb group to negate.

    Attributes
    ----------
    index
        The index of the word.
    part
        Its part of speech, a letter of WordNet: ``a``, ``v`` or ``r``.
    group
        The verb group that is negated, or will be.
    opposite
        The antonym.
    """

    index: int
    part: str
    group: VerbGroup
    opposite: Judged


def find(tagged: Tagged, lexicon: WordNet) -> Candidate | str:
    """Return the word of a sentence that can be replaced by its antonym, or the reason why there is none."""
    reason = _unfit_sentence(tagged)
    if reason:
        return reason
    all_groups, pattern = groups(tagged), first_negation(tagged) or ""
    eligible = _eligible(tagged, all_groups)
    if isinstance(eligible, str):
        return eligible
    first_reason = NOTHING
    for group in eligible:
        candidate = _of_group(tagged.words, group, all_groups, lexicon, pattern)
        if isinstance(candidate, Candidate):
            word = tagged.words[candidate.index]
            occurrences = sum(other.lemma == word.lemma for other in tagged.words)
            if occurrences == 1 and not word.text.isupper():
                return candidate
            candidate = "the word occurs twice, or is in capitals"
        # A specific reason says more than that a group has no antonym.
        if first_reason == NOTHING:
            first_reason = candidate
    return first_reason


def _eligible(tagged: Tagged, all_groups: VerbGroups) -> list[VerbGroup] | str:
    """Return the verb groups in which a word may be replaced, or the reason why there are none.

    They are the negated group; in a sentence without negation, the group of the main clause and those after it.
    """
    sentence_negations = negations(tagged)
    if len(sentence_negations) > 1:
        return "several negations"
    if not sentence_negations:
        main = main_group(tagged)
        if main is None:
            return "no main verb found"
        return [group for group in all_groups if group.first >= main.first]
    pattern, negator = sentence_negations[0]
    if pattern not in PATTERNS:
        return f"negated by a word that is not removed: {pattern}"
    return [group for group in all_groups if group.negator == negator] or "the negation is not of a verb"


# --- Reasons why the negation of a sentence, or of a clause, is not its opposite ---


def _unfit_sentence(tagged: Tagged) -> str:
    """Return why a sentence cannot be used, whichever word is replaced; empty if it can."""
    words = tagged.words
    if not SHORTEST <= len(words) <= LONGEST:
        return f"not {SHORTEST} to {LONGEST} words and marks"
    if any(word.text in STOPS for word in words[:-1]) and "?" not in tagged.text:
        return "several sentences"
    for pattern, reason in UNFIT.items():
        if re.search(pattern, tagged.text, re.IGNORECASE):
            return reason
    return "there is, there are" if any(word.tag == "EX" for word in words) else ""


def _unfit_group(words: Words, group: VerbGroup, pattern: str) -> str:
    """Return why the negation of a verb group does not mean the opposite of its clause; empty if it does."""
    verb = words[group.last]
    if verb.relation == "conj" and not dependents(words, group.last, SUBJECT_RELATIONS):
        return "several adjectives or clauses"
    subject = subject_of(words, group.last)
    if subject is None:
        return "a command"
    # The subject, and the conjunctions and adverbs before the verb.
    places = [*phrase(words, subject), *dependents(words, group.last)]
    before = [words[place] for place in places if place < group.first]
    lows = {word.lowercase for word in before}
    if QUANTIFIERS & lows or any(word.tag == "CD" for word in before):
        return "a quantified subject"
    verbs = {word.lowercase for word in words[group.first : group.last + 1]}
    if verbs & ((MODALS | {"need", "dare"}) - SELF_DUAL):
        return "a modal verb"
    near = words[max(0, group.first - 1) : group.last + 2]
    has_degree = any(word.tag[:2] in ("RB", "IN", "DT", "JJ") and word.lowercase in BARRED for word in near)
    if has_degree or NEARLY & lows:
        return "a degree or focus word at the negation"
    if pattern == "never" and words[group.first].lowercase in HAVE | MODALS:
        return "never with a perfect or a modal verb"
    return ""


# --- The word to replace ---


def _of_group(
    words: Words, group: VerbGroup, all_groups: VerbGroups, lexicon: WordNet, pattern: str
) -> Candidate | str:
    """Return the word that can be replaced if a verb group is negated, or the reason why there is none.

    Parameters
    ----------
    pattern
        The negation of the group; empty if it is not negated.
    """
    reason = _unfit_group(words, group, pattern)
    if reason:
        return reason
    verb = words[group.last]
    if verb.lemma in OPINIONS and pattern in ("not", "n't"):
        # "I don't think it is fair": the adjective of the clause is replaced.
        later = [other for other in all_groups if other.first > group.last]
        if not later or later[0].first - group.last > 4:
            return NOTHING
        clause = later[0]
        return _unfit_group(words, clause, "") or _adjective(words, clause, lexicon, group)
    if verb.lemma in COPULAS and verb.tag != "VBG":
        return _adjective(words, group, lexicon, group)
    if pattern in ("never", "no longer"):
        return NOTHING
    candidate = _verb(words, group, lexicon)
    if candidate != NOTHING:
        return candidate
    return _adverb(words, group, lexicon)


def _adjective(words: Words, group: VerbGroup, lexicon: WordNet, negated: VerbGroup) -> Candidate | str:
    """Return the adjective after a copula, with or without a noun (``is fair``, ``is a fair price``), or a reason.

    Parameters
    ----------
    negated
        The verb group to negate.
    """
    complements = [place for place in dependents(words, group.last, ("acomp", "attr")) if place > group.last]
    if not complements:
        return NOTHING
    place = end = complements[0]
    has_noun = words[end].tag in ("NN", "NNS")
    if has_noun:
        place = end - 1
    word, before = words[place], words[place - 1]
    if any(other < place for other in dependents(words, place)):
        return "an adverb before the adjective"
    if word.tag in ("JJR", "JJS"):
        return "a comparative or superlative"
    opposite = judged(lexicon, word.lowercase, "a") if word.tag == "JJ" else None
    if opposite is None:
        return NOTHING
    is_last_before_noun = words[end].tag == "NNS" or before.lowercase in ("a", "an")
    if has_noun and (word.lowercase in ATTRIBUTIVE or words[end].lowercase in NO_NOUNS or not is_last_before_noun):
        return "an adjective with another meaning before a noun"
    reason = "" if has_noun else _idiom(words, group, word.lowercase)
    return reason or unfit_after_adjective(words[end + 1 :], word.lowercase) or Candidate(place, "a", negated, opposite)


def _idiom(words: Words, group: VerbGroup, adjective: str) -> str:
    """Return the idiom that an adjective after a copula forms, or why it has another meaning there; else empty."""
    if adjective in ("bad", "sure") and group.negator is not None:
        return "an idiom: not bad, not sure"
    if adjective in ("good", "bad") and words[group.last].lemma == "feel":
        return "an idiom: feel good, feel bad"
    subject = words[subject_of(words, group.last) or 0]
    may_be_person = subject.lowercase in PEOPLE | SUBJECTS - {"it"} or subject.tag.startswith("NNP")
    if adjective in OF_PERSONS and may_be_person:
        return "an adjective with another meaning for a person"
    return ""


def _verb(words: Words, group: VerbGroup, lexicon: WordNet) -> Candidate | str:
    """Return the verb of a group if it has an opposite (``agrees``, ``does not agree``), or a reason."""
    verb = words[group.last]
    opposite = judged(lexicon, verb.lemma, "v")
    # "Disliking" is not used like "liking" in "I'm liking it".
    if opposite is None or (verb.tag == "VBG" and verb.lemma == "like"):
        return NOTHING
    reason = unfit_after_verb(words[group.last + 1 :], verb.lemma) if opposite.verdict == "sure" else ""
    return reason or Candidate(group.last, "v", group, opposite)


def _adverb(words: Words, group: VerbGroup, lexicon: WordNet) -> Candidate | str:
    """Return ``often`` before the verb, or an adverb of manner after it; or a reason."""
    for place in dependents(words, group.last, ("advmod",)):
        word = words[place]
        if place < group.last and word.lowercase != "often":
            continue
        opposite = judged(lexicon, word.lowercase, "r") if word.tag == "RB" else None
        # "Badly" may be an adverb of degree.
        if opposite is None or word.lowercase == "badly":
            continue
        if dependents(words, place):
            return "an adverb before the adverb"
        reason = unfit_after_adverb(words[place + 1 :]) if place > group.last else ""
        return reason or Candidate(place, "r", group, opposite)
    return NOTHING
