"""Finding the word of a sentence whose antonym means the same as the negation of the sentence.

Sentences that Vahtola et al. (2022, section 3) removed by hand are rejected here, each with a reason: degree words
(*not very good*), quantifiers (*all … not*), conditionals, several adjectives, idioms (*not bad*), modals (*cannot be
true*). Module ``opposites`` decides which antonyms are opposites, and which words may follow them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from embassay.testsets.english.negators import AFTER_NOT, FOCUS, POLAR, is_manner, negations
from embassay.testsets.english.opposites import fits_adjective, fits_verb, opposite_of, without_end
from embassay.testsets.english.syntax import (
    SUBJECT_RELATIONS,
    VerbGroup,
    dependents,
    groups,
    main_group,
    phrase,
    subject_of,
)
from embassay.testsets.english.word_classes import ADVERBS_OF_DEGREE, AUXILIARIES, MODALS, STOPS, SUBJECTS, wordset
from embassay.testsets.english.words import Tagged, Words

PATTERNS = ("not", "n't")
"""Negations that are removed."""
SHORTEST, LONGEST = 4, 30
"""The minimum and maximum number of words and marks of a sentence; the minimum is that of Vahtola et al. (2022)."""
NOTHING = "no adjective or verb with an antonym"
OTHER_WORDS = "other words after it than its opposite certainly takes"
OTHER_MODALS = (MODALS | wordset("need dare")) - wordset("will would should 'll wo")
"""Modals whose negation does not mean the negation of their verb, as that of ``will`` does: ``will not agree``."""
QUANTIFIERS = wordset(
    "all every everyone everybody everything everywhere each both most many some someone somebody something somewhere "
    "few fewer several half only least less one nobody nothing any anyone anything either neither"
)
UNFIT = {
    r"\?": "a question",
    r"\b(?:always|sometimes|all the time)\b": "a frequency",
    r"(?:\b(?:am|is|are|was|were)|['’](?:m|s|re)) so\b": "so … that",
    r"\b(?:how (?:\w+ly|much|many)|(?:kind|sort) of|such an?)\b": "a degree or focus word at the negation",
    r"\b(?:dis)?like[sd]?\b.* to \w": "like with an infinitive, which dislike does not take",
    r"(?:\bwould|['’]d) (?:\w+ )?like\b": "like that means want",
    r"\b(?:if|unless|whether|wish(?:ed|es)?|as|though|lest|suppose|supposing|imagine)\b": "a condition or a wish",
    r"\bthan\b|\beither\b.*\bor\b|\(or\b": "a comparison or alternatives",
    r"\bwh(?:at(?:so)?|ich|o)ever\b": "a clause that names its subject or object",
    r"^(?:yes|no|yep|nope|nah)\b": "an answer",
}
"""Expressions that rule a sentence out, and why."""
COPULAS = wordset("be seem look feel sound appear taste smell")
COMPLEMENTS = ("acomp", "attr", "oprd")
"""Relations of what a copula says of its subject."""
BARRED = (POLAR | ADVERBS_OF_DEGREE | FOCUS | AFTER_NOT) - {"that"}
"""Words at a verb group that change what its negation denies."""
OPINIONS = wordset("think believe suppose")
"""Verbs whose negation means the negation of the clause after them: ``I don't think it is fair``."""
OF_PERSONS = wordset("safe dangerous open closed shut clear unclear good hard easy expensive cheap simple dead")
"""Adjectives with another meaning if they describe a person."""
ATTRIBUTIVE = wordset(
    "true false right wrong dead open closed certain regular normal common perfect complete active able present "
    "absent legal illegal clear natural usual likely married single awake asleep alive stable due hard offensive"
)
"""Adjectives with another meaning before a noun."""
NO_NOUNS = wordset(
    "camper deal bit way while chance amount time many thing luck laugh lot few sport boy girl guy thanks friend "
    "friends"
)
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
        Its part of speech, a letter of WordNet: ``a`` or ``v``.
    group
        The verb group that is negated, or will be.
    opposite, is_sure
        The antonym, and whether it is certainly an opposite.
    """

    index: int
    part: str
    group: VerbGroup
    opposite: str
    is_sure: bool


def find(tagged: Tagged) -> Candidate | str:
    """Return the word of a sentence that can be replaced by its antonym, or the reason why there is none."""
    reason = _unfit_sentence(tagged)
    if reason:
        return reason
    eligible = _eligible(tagged)
    if isinstance(eligible, str):
        return eligible
    first_reason = NOTHING
    for group in eligible:
        candidate = _of_group(tagged, group)
        if isinstance(candidate, Candidate):
            return candidate
        # A specific reason says more than that a group has no antonym.
        if first_reason == NOTHING:
            first_reason = candidate
    return first_reason


def _eligible(tagged: Tagged) -> list[VerbGroup] | str:
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
        return [group for group in groups(tagged) if group.first >= main.first]
    pattern, negator = sentence_negations[0]
    if pattern not in PATTERNS:
        return f"negated by a word that is not removed: {pattern}"
    denied = [group for group in groups(tagged) if group.negator == negator >= group.first - 1]
    return denied or "the negation is not of a verb"


# --- Reasons why the negation of a sentence, or of a clause, is not its opposite ---


def _unfit_sentence(tagged: Tagged) -> str:
    """Return why a sentence cannot be used, whichever word is replaced; empty if it can."""
    words = tagged.words
    if not SHORTEST <= len(words) <= LONGEST:
        return f"not {SHORTEST} to {LONGEST} words and marks"
    for pattern, reason in UNFIT.items():
        if re.search(pattern, tagged.text, re.IGNORECASE):
            return reason
    if any(word.text in STOPS for word in without_end(words)):
        return "several sentences"
    return "there is, there are" if any(word.tag == "EX" for word in words) else ""


def _unfit_group(words: Words, group: VerbGroup) -> str:
    """Return why the negation of a verb group does not mean the opposite of its clause; empty if it does."""
    if words[group.last].relation == "conj" and not dependents(words, group.last, SUBJECT_RELATIONS):
        return "several adjectives or clauses"
    subject = subject_of(words, group.last)
    # "You be honest with her" is a command that has a subject.
    if subject is None or words[group.first].lowercase == "be":
        return "a command"
    if subject > group.first:
        return "a question"
    # The subject, and the conjunctions and adverbs before the verb.
    places = [*phrase(words, subject), *dependents(words, group.last)]
    before = [words[place] for place in places if place < group.first]
    lows = {word.lowercase for word in before}
    if QUANTIFIERS & lows or any(word.tag == "CD" for word in before):
        return "a quantified subject"
    if any(word.lowercase in OTHER_MODALS for word in words[group.first : group.last + 1]):
        return "a modal verb"
    near = words[max(0, group.first - 1) : group.last + 3]
    has_degree = any(word.tag[:2] in ("RB", "IN", "DT", "JJ") and word.lowercase in BARRED for word in near)
    has_manner = any(is_manner(words[place]) for place in dependents(words, group.last, ("advmod",)))
    if has_degree or has_manner:
        return "a degree or focus word at the negation"
    return ""


# --- The word to replace ---


def _of_group(tagged: Tagged, group: VerbGroup) -> Candidate | str:
    """Return the word that can be replaced if a verb group is negated, or the reason why there is none."""
    words, verb = tagged.words, tagged.words[group.last]
    reason = _unfit_group(words, group)
    if reason:
        return reason
    if verb.lemma in OPINIONS and group.negator is not None:
        # "I don't think it is fair": the adjective of the clause is replaced.
        clauses = [other for other in groups(tagged) if group.last < other.first <= group.last + 4]
        if not clauses:
            return NOTHING
        return _unfit_group(words, clauses[0]) or _adjective(words, clauses[0], group)
    if verb.lemma in COPULAS and verb.tag != "VBG":
        return _adjective(words, group, group)
    return _verb(words, group)


def _adjective(words: Words, group: VerbGroup, negated: VerbGroup) -> Candidate | str:
    """Return the adjective after a copula, with or without a noun (``is fair``, ``is a fair price``), or a reason.

    Parameters
    ----------
    negated
        The verb group to negate.
    """
    complements = [place for place in dependents(words, group.last, COMPLEMENTS) if place > group.last]
    if not complements:
        return NOTHING
    place = end = complements[0]
    has_noun = words[end].tag in ("NN", "NNS")
    if has_noun:
        place = end - 1
    word, before = words[place], words[place - 1]
    if any(other < place for other in dependents(words, place)):
        return "an adverb before the adjective"
    if has_noun:
        is_last_before_noun = before.lowercase in ("a", "an") or (
            words[end].tag == "NNS" and before.tag[:2] in ("VB", "RB")
        )
        is_idiom = word.lowercase in ATTRIBUTIVE or words[end].lowercase in NO_NOUNS or not is_last_before_noun
    else:
        is_idiom = _is_idiom(words, group, word.lowercase)
    if is_idiom:
        return "an idiom, or an adjective with another meaning"
    if word.tag != "JJ" or not fits_adjective(_rest(words, group.last, end), word.lowercase):
        return OTHER_WORDS
    return _candidate(words, place, "a", negated)


def _is_idiom(words: Words, group: VerbGroup, adjective: str) -> bool:
    """Return whether an adjective after a copula forms an idiom, or has another meaning there."""
    if adjective in ("bad", "sure") and group.negator is not None:
        return True
    if adjective in ("good", "bad", "guilty", "right") and words[group.last].lemma == "feel":
        return True
    subject = words[subject_of(words, group.last) or 0]
    may_be_person = subject.lowercase in PEOPLE | SUBJECTS - {"it"} or subject.tag.startswith("NNP")
    return adjective in OF_PERSONS and may_be_person


def _verb(words: Words, group: VerbGroup) -> Candidate | str:
    """Return the verb of a group if it has an opposite (``agrees``, ``does not agree``), or a reason."""
    verb = words[group.last]
    # "Disliking" is not used like "liking" in "I'm liking it".
    if verb.tag == "VBG" and verb.lemma == "like":
        return NOTHING
    candidate = _candidate(words, group.last, "v", group)
    rest = _rest(words, group.last, group.last)
    # "It was disagreed" is not English, and what was lost was perhaps never won.
    is_passive = bool(dependents(words, group.last, ("auxpass",)))
    # "His films include a comedy" names one of them; films exclude nothing.
    subject = words[subject_of(words, group.last) or 0]
    names_member = verb.lemma == "include" and subject.tag == "NNS"
    fits = fits_verb(rest, verb.lemma) and not is_passive and not names_member
    if isinstance(candidate, Candidate) and candidate.is_sure and not fits:
        return OTHER_WORDS
    return candidate


def _rest(words: Words, verb: int, place: int) -> Words:
    """Return the words after a word up to the end of its clause, or to a clause with its own subject that is joined."""
    end = phrase(words, verb)[-1] + 1
    for clause in dependents(words, verb, ("conj",)):
        # "It is not right, but now it is": the second clause takes its adjective from the first.
        is_whole = words[clause].lowercase not in AUXILIARIES or dependents(words, clause, COMPLEMENTS)
        if clause > place and is_whole and dependents(words, clause, SUBJECT_RELATIONS):
            end = min(end, phrase(words, clause)[0])
    return words[place + 1 : end]


def _candidate(words: Words, index: int, part: str, group: VerbGroup) -> Candidate | str:
    """Return a word as a candidate if it has an antonym and occurs once; or a reason."""
    word = words[index]
    opposite = opposite_of(word.lowercase if part == "a" else word.lemma, part)
    if opposite is None:
        return NOTHING
    if word.text.isupper() or sum(other.lemma in (word.lemma, opposite.lemma) for other in words) > 1:
        return "the word or its antonym occurs elsewhere, or it is in capitals"
    return Candidate(index, part, group, opposite.lemma, opposite.is_sure)
