"""Where a sentence says one thing of one subject, so that its negation is its opposite.

What Vahtola et al. (2022, section 3) sorted out by hand is refused here by name: degree words (*not very good*),
quantifiers (*all … not*), conditionals, several adjectives, idioms (*not bad*), a modal (*cannot be true*). Which
antonyms are opposites, and what may follow them, is decided in ``opposites``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from embassay.testsets.english.clauses import Group, before_adverbs, groups, is_after_subject, main_group
from embassay.testsets.english.negators import (
    AFTER_NOT,
    DEGREES,
    FOCUS,
    POLAR,
    QUANTIFIED,
    SENTENCE_ADVERBS,
    is_negated,
    negations,
)
from embassay.testsets.english.opposites import (
    Judged,
    judged,
    unfit_after_adjective,
    unfit_after_adverb,
    unfit_after_verb,
)
from embassay.testsets.english.word_classes import AUXILIARIES, BE, HAVE, MODALS, STOPS, SUBJECTS, wordset
from embassay.testsets.english.wordnet import Lexicon
from embassay.testsets.english.words import Tagged, Word, word_at

PATTERNS = ("not", "n't", "never", "no longer")
"""Negations that are taken out."""
SHORTEST, LONGEST = 4, 30
"""Words and marks of a sentence: Vahtola et al. (2022) took four at least."""
NOTHING = "no adjective, verb or adverb with an antonym"
SELF_DUAL = wordset("will would should 'll wo")
"""Modals that may change places with a negation."""
QUANTIFIERS = wordset(
    "all every everyone everybody everything everywhere each both most many some someone somebody something somewhere "
    "few fewer several half only least less one nobody nothing anyone anything either neither"
)
HYPOTHETICAL = wordset("if unless whether wish wished wishes as though lest suppose supposing imagine")
COMPARING = wordset("than before until till")
NAMING = wordset("what whatever whichever whoever")
NEARLY = wordset("almost nearly practically virtually sort kind of pretty simply always")
"""Words before a verb group that its negation does not leave as they were."""
FREQUENCY = wordset("often usually frequently generally")
COPULAS = wordset("be seem look feel sound appear taste smell")
OPINIONS = wordset("think believe suppose")
"""Verbs whose negation is understood as that of their clause: ``I don't think it is fair``."""
OF_PERSONS = wordset("safe dangerous open closed shut clear unclear good hard easy expensive cheap simple dead")
"""Adjectives that mean something else of a person."""
ATTRIBUTIVE = wordset(
    "true false right wrong dead open closed certain regular normal common perfect complete active able present "
    "absent legal illegal clear natural usual likely married single awake asleep alive stable due hard"
)
"""Adjectives that mean something else before a noun."""
NO_NOUNS = wordset("camper deal bit way while chance amount time many thing luck laugh lot few sport boy girl guy")
"""Nouns that make an idiom with an adjective: ``a good deal``."""
PREDICATIVE = wordset("asleep awake alive")
"""Adjectives that are tagged as adverbs at times."""
PEOPLE = wordset("man men woman women kid kids child children people guy guys boy boys girl girls friend friends")


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
    opposite
        The antonym.
    """

    index: int
    part: str
    at: int
    opposite: Judged


def find(tagged: Tagged, lexicon: Lexicon) -> Candidate | str:
    """Return the word of a sentence that can be exchanged, or the reason why there is none."""
    if reason := _unfit_sentence(tagged):
        return reason
    every, pattern = groups(tagged), is_negated(tagged) or ""
    eligible = _eligible(tagged, every)
    if isinstance(eligible, str):
        return eligible
    first_reason = NOTHING
    for group in eligible:
        candidate = _of_group(tagged.words, group, every, lexicon, pattern)
        if isinstance(candidate, Candidate):
            word = tagged.words[candidate.index]
            if sum(other.lemma == word.lemma for other in tagged.words) == 1 and not word.text.isupper():
                return candidate
            candidate = "the word stands twice, or in capitals"
        if first_reason == NOTHING:
            first_reason = candidate
    return first_reason


def _eligible(tagged: Tagged, every: tuple[Group, ...]) -> list[Group] | str:
    """Return the negated verb group of a sentence, without a negation the main one and those after it; or a reason."""
    negated = negations(tagged)
    if len(negated) > 1:
        return "several negations"
    if not negated:
        main = main_group(tagged)
        return "no main verb found" if main is None else [group for group in every if group.first >= main.first]
    pattern, negator = negated[0]
    if pattern not in PATTERNS:
        return f"negated by a word that is not taken out: {pattern}"
    return [group for group in every if group.negator == negator] or "the negation is not of a verb"


# --- Why a sentence, or a clause of it, is no place for a negated antonym ---


def _unfit_sentence(tagged: Tagged) -> str:
    """Return why a sentence as a whole cannot be used; empty if it can."""
    words = tagged.words
    if not SHORTEST <= len(words) <= LONGEST:
        return f"not {SHORTEST} to {LONGEST} words and marks"
    if "?" in tagged.text:
        return "a question"
    if any(word.text in STOPS for word in words[:-1]):
        return "several sentences"
    lows = {word.lowercase for word in words}
    if lows & {"always", "sometimes"} or "all the time" in tagged.text.lower():
        return "a frequency"
    if reason := _unfit_words(words):
        return reason
    if lows & HYPOTHETICAL or {"either", "or"} <= lows:
        return "a condition or a wish"
    if words[0].tag in ("WRB", "WP") and words[1].lowercase in AUXILIARIES:
        return "a question"
    if words[0].lowercase.rstrip(".") in ("yes", "no", "yeah", "yep", "nope", "nah"):
        return "an answer"
    return "there is, there are" if any(word.tag == "EX" for word in words) else ""


def _unfit_words(words: tuple[Word, ...]) -> str:
    """Return why a word, with those after it, rules a sentence out; empty if none does."""
    for word, after in pairwise(words):
        if word.lowercase in BE and after.lowercase == "so":
            return "so … that"
        if word.lowercase == "how" and after.tag == "RB":
            return "a degree or focus word at the negation"
    for index, word in enumerate(words):
        if word.lemma in ("like", "dislike") and word.tag.startswith("VB") and _has_infinitive(words[index + 1 :]):
            return "like with an infinitive, which dislike does not take"
    return ""


def _has_infinitive(words: tuple[Word, ...]) -> bool:
    return any(word.lowercase == "to" and after.tag == "VB" for word, after in pairwise(words))


def _unfit_group(words: tuple[Word, ...], group: Group, pattern: str) -> str:
    """Return why the negation of a verb group is not the contrary of its clause; empty if it is."""
    start = group.first
    while start and words[start - 1].text not in STOPS | {","} and words[start - 1].tag != "CC":
        start -= 1
    if word_at(words, start - 1).tag == "CC" and word_at(words, start - 2).tag.startswith(("VB", "MD")):
        return "several adjectives or clauses"
    if reason := _unfit_subject(words[start : group.first]):
        return reason
    verbs = {word.lowercase for word in words[group.first : group.last + 1]}
    if verbs & ((MODALS | {"need", "dare"}) - SELF_DUAL):
        return "a modal verb"
    for word in words[max(0, group.first - 1) : group.last + 2]:
        is_modifier = word.tag[:2] in ("RB", "IN", "DT", "JJ") and word.lowercase != "that"
        if is_modifier and word.lowercase in POLAR | DEGREES | FOCUS | (AFTER_NOT - FREQUENCY):
            return "a degree or focus word at the negation"
    if _commands(words, group):
        return "a command"
    if pattern == "never" and words[group.first].lowercase in HAVE | MODALS:
        return "never with a perfect or a modal verb"
    return ""


def _unfit_subject(before: tuple[Word, ...]) -> str:
    """Return why what stands before a verb group in its clause does not let its negation be the contrary."""
    lows = [word.lowercase for word in before]
    if COMPARING & set(lows):
        return "a comparison, or a clause of time that a negation empties"
    if NAMING & set(lows):
        return "a clause that names its subject or object"
    if QUANTIFIERS & set(lows) or any(word.tag == "CD" for word in before):
        return "a quantified subject"
    last = before[-1:]
    if NEARLY & set(lows[-3:]) or (last and last[0].tag == "RB" and _is_of_manner(last[0].lowercase)):
        return "a degree or focus word at the negation"
    return ""


def _is_of_manner(adverb: str) -> bool:
    return adverb.endswith("ly") and adverb not in SENTENCE_ADVERBS


def _commands(words: tuple[Word, ...], group: Group) -> bool:
    """Return whether a group is an imperative: a bare verb, or ``do``, without a subject."""
    first = words[group.first]
    if first.tag == "VB":
        return not is_after_subject(words, group.first)
    return first.lowercase == "do" and before_adverbs(words, group.first) < 0


# --- The word of a verb group that can be exchanged ---


def _of_group(
    words: tuple[Word, ...], group: Group, every: tuple[Group, ...], lexicon: Lexicon, pattern: str
) -> Candidate | str:
    """Return the word that can be exchanged where a verb group is negated, or why there is none."""
    if reason := _unfit_group(words, group, pattern):
        return reason
    verb = words[group.last]
    if verb.lemma in OPINIONS and pattern in ("not", "n't"):
        later = [other for other in every if other.first > group.last]
        if not later or later[0].first - group.last > 4:
            return NOTHING
        return _unfit_group(words, later[0], "") or _adjective(words, later[0], lexicon, group.last)
    if verb.lemma in COPULAS and verb.tag != "VBG":
        return _adjective(words, group, lexicon, group.last)
    if pattern in ("never", "no longer"):
        return NOTHING
    candidate = _verb(words, group, lexicon, pattern)
    return _adverb(words, group, every, lexicon) if candidate == NOTHING else candidate


def _adjective(words: tuple[Word, ...], group: Group, lexicon: Lexicon, negated_at: int) -> Candidate | str:
    """Return the predicate adjective after a copula, or the one before its noun: ``is fair``, ``is a fair price``."""
    place = group.last + 1
    while word_at(words, place).lowercase in ("not", "n't", "never", "no", "longer"):
        place += 1
    has_article = word_at(words, place).lowercase in ("a", "an")
    place += has_article
    word = word_at(words, place)
    if word.lowercase not in PREDICATIVE:
        if word.lowercase in DEGREES | POLAR | {"that", "all", "not"} or word.tag.startswith("RB"):
            return "an adverb before the adjective"
        if word.tag in ("JJR", "JJS"):
            return "a comparative or superlative"
        if word.tag != "JJ":
            return NOTHING
    opposite = judged(lexicon, word.lowercase, "a")
    if opposite is None:
        return NOTHING
    noun = word_at(words, place + 1)
    if has_article or noun.tag in ("NN", "NNS"):
        reason = _unfit_before_noun(words, place, has_article)
    else:
        reason = _unfit_predicate(words, group, place)
    return reason or Candidate(place, "a", negated_at, opposite)


def _unfit_before_noun(words: tuple[Word, ...], place: int, has_article: bool) -> str:
    """Return why an adjective before its noun cannot be exchanged."""
    noun = word_at(words, place + 1)
    if noun.tag != "NNS" and not (has_article and noun.tag == "NN"):
        return "an adjective before other words than a noun"
    if words[place].lowercase in ATTRIBUTIVE or noun.lowercase in NO_NOUNS:
        return "an adjective that means something else before a noun"
    return unfit_after_adjective(words[place + 2 :], words[place].lowercase)


def _unfit_predicate(words: tuple[Word, ...], group: Group, place: int) -> str:
    """Return why an adjective after a copula cannot be exchanged."""
    low = words[place].lowercase
    if low in ("bad", "sure") and group.negator is not None:
        return "an idiom: not bad, not sure"
    if low in ("good", "bad") and words[group.last].lemma == "feel":
        return "an idiom: feel good, feel bad"
    subject = word_at(words, before_adverbs(words, group.first))
    may_be_person = subject.lowercase in PEOPLE | SUBJECTS - {"it"} or subject.tag in ("NNP", "NNPS")
    if low in OF_PERSONS and may_be_person:
        return "an adjective that means something else of a person"
    return unfit_after_adjective(words[place + 1 :], low)


def _verb(words: tuple[Word, ...], group: Group, lexicon: Lexicon, pattern: str) -> Candidate | str:
    """Return the verb of a group, where it has an opposite: ``agrees``, ``does not agree``."""
    word = words[group.last]
    opposite = judged(lexicon, word.lemma, "v")
    # "I'm liking it": "disliking" is not said. "They get rejected": no verb group of its own.
    if opposite is None or (word.tag == "VBG" and word.lemma == "like"):
        return NOTHING
    if group.first == group.last and word_at(words, group.first - 1).lemma == "get":
        return NOTHING
    if words[group.first].lowercase in MODALS - {"will", "'ll", "wo"} and group.first < group.last:
        return "a modal verb"
    if opposite.verdict == "sure" and (reason := unfit_after_verb(words[group.last + 1 :], word.lemma)):
        return reason
    if word.lemma in ("remember", "forget") and word.tag != "VBD" and not (pattern and words[group.first].tag == "VBD"):
        return "remember or forget, not in the past"
    if word.lemma == "like" and not _has_subject(words, group):
        return "like that may be no verb"
    return Candidate(group.last, "v", group.last, opposite)


def _has_subject(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether ``like`` is a verb for sure: negated, inflected, or after a pronoun; ``remember it like`` is not."""
    if group.negator is not None or words[group.last].tag in ("VBD", "VBZ"):
        return True
    subject = before_adverbs(words, group.first)
    if word_at(words, subject).lowercase in SUBJECTS - {"you", "it"}:
        return True
    return subject >= 0 and not any(word.tag.startswith(("VB", "MD", "IN")) for word in words[:subject])


def _adverb(words: tuple[Word, ...], group: Group, every: tuple[Group, ...], lexicon: Lexicon) -> Candidate | str:
    """Return the adverb of manner at the end of a clause, or ``often`` before the verb."""
    for place in range(max(0, group.first - 1), group.last):
        if words[place].lowercase == "often" and (opposite := judged(lexicon, "often", "r")) is not None:
            return Candidate(place, "r", group.last, opposite)
    later = [other.first for other in every if other.first > group.last]
    for place in range(group.last + 1, min([group.last + 6, len(words), *later])):
        word, before = words[place], words[place - 1]
        if word.lowercase == "badly" or (word.lowercase == "well" and before.lowercase in ("as", "very", "too")):
            return NOTHING
        if word.tag in ("IN", "CC", "WRB", "TO", ",") or word.tag.startswith(("VB", "MD")):
            return NOTHING
        if word.lowercase in QUANTIFIERS | QUANTIFIED | SUBJECTS - {"it", "you"}:
            return NOTHING
        if word.tag == "RB" and (opposite := judged(lexicon, word.lowercase, "r")) is not None:
            if before.tag == "RB" and before.lowercase not in ("not", "n't"):
                return "an adverb before the adverb"
            return unfit_after_adverb(words[place + 1 :]) or Candidate(place, "r", group.last, opposite)
    return NOTHING
