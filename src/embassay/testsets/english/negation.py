"""Negating an English sentence, or one word of it.

HEROS (Chiang et al. 2023, section 2.2.6) negates the main verb and the replaced word. In doubtful cases the functions
return None. Module ``negation_removal`` removes negations.
"""

from __future__ import annotations

import re

from embassay.testsets.english.clauses import VerbGroup, before_adverbs, group_at
from embassay.testsets.english.negation_removal import unnegated
from embassay.testsets.english.negators import AFTER_NOT, DEGREES, QUANTIFIED, SENTENCE_ADVERBS, negations
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.word_classes import AUXILIARIES, BE, DO, HAVE, MODALS, STOPS, SUBJECTS, wordset
from embassay.testsets.english.words import Splice, Tagged, Words, spliced, substituted, word_at
from embassay.testsets.options import Auxiliary

# --- Negating a verb group ---

SAID_BY_THE_WAY = wordset("guess figure presume suppose reckon bet")
"""Verbs of asides such as ``I guess``, which are not negated."""
IN_SET_PHRASES = wordset("got better rather as")
"""Words after an auxiliary that is not negated: ``have got to``, ``had better``, ``might as well``."""
ALL = wordset("everyone everybody everything all each both either anyone anybody anything any")
"""Subjects after which ``not`` would deny the metric instead of the verb."""
CONTRACTED_AUXILIARIES = {"'ll": "will", "'ve": "have"}
"""Contracted auxiliaries and the words that they stand for; ``'d`` may be ``had`` or ``would``."""
IRREGULAR = {"can": "ca", "will": "wo"}
"""What auxiliaries become before ``n't``."""
CONTRACTED = wordset("is are was were do does did have has had could should would must can will")
"""Auxiliaries that ``n't`` is added to."""


def negated(tagged: Tagged, group: VerbGroup, *, contracted: bool = False) -> str | None:
    """Negate a verb group of a sentence.

    Parameters
    ----------
    contracted
        Write ``n't`` instead of ``not`` if the auxiliary allows it.

    Returns
    -------
    The negated sentence; None if it is already negated, or in doubtful cases.
    """
    if group.negator is not None or any(pattern in QUANTIFIED for pattern, _ in negations(tagged)):
        return None
    words = tagged.words
    first = words[group.first].lowercase
    if first == "let" and word_at(words, group.first + 1).lowercase == "'s":
        end = words[group.first + 1].end
        return spliced(tagged.text, [(end, end, " not")])
    if _cannot_be_negated(words, group):
        return None
    if first in CONTRACTED_AUXILIARIES or first == "'d":
        splices = [_negated_contraction(words, group.first, contracted)]
    elif first in MODALS | BE or (first in HAVE | DO and _is_auxiliary(words, group)):
        splices = [_not_after_auxiliary(words, group.first, contracted)]
    else:
        splices = _with_do(words, group.first, contracted)
    return spliced(tagged.text, splices)


def _is_auxiliary(words: Words, group: VerbGroup) -> bool:
    """Return whether ``have`` or ``do`` is negated by ``not`` alone: ``I have seen it``, ``yes, I do``."""
    after = word_at(words, group.last + 1).text
    return group.last > group.first or after in STOPS | {",", ""}


def _cannot_be_negated(words: Words, group: VerbGroup) -> bool:
    """Return whether a verb group is a question or a set phrase, or has a subject that does not allow ``not``."""
    first = words[group.first].lowercase
    if first in AUXILIARIES and _has_subject_after(words, group.first):
        return True
    if first == "let" or words[group.last].lemma in SAID_BY_THE_WAY:
        return True
    if first in MODALS | HAVE:
        next_words = {word.lowercase for word in words[group.first + 1 : group.first + 3]}
        if not next_words.isdisjoint(IN_SET_PHRASES):
            return True
    subject = word_at(words, before_adverbs(words, group.first))
    if subject.lowercase in ALL:
        return True
    # A base form after a singular noun does not belong to it: "to make the room look good".
    is_singular = subject.tag in ("NN", "NNP") or subject.lowercase in ("he", "she", "it")
    return is_singular and first not in AUXILIARIES and _do_for(words, group.first) == "do"


def _has_subject_after(words: Words, auxiliary: int) -> bool:
    """Return whether the subject follows an auxiliary, as in a question or a wish."""
    subject, verb = word_at(words, auxiliary + 1), word_at(words, auxiliary + 2)
    if subject.lowercase not in SUBJECTS:
        return False
    # "It" and "you" may be objects, as in "I have it", unless they have a verb: "the thing is it rains".
    may_be_object = subject.lowercase in ("it", "you") and verb.tag not in ("VBZ", "VBP", "VBD", "MD")
    return words[auxiliary].lowercase in MODALS or not may_be_object


def _negated_contraction(words: Words, auxiliary: int, contracted: bool) -> Splice:
    """Return the change that negates ``'ll``, ``'ve`` or ``'d``, which are written in full: ``I will not``."""
    word = words[auxiliary]
    if word.lowercase in CONTRACTED_AUXILIARIES:
        full = CONTRACTED_AUXILIARIES[word.lowercase]
    else:
        # "I'd go" is "I would go", "I'd gone" is "I had gone".
        verb = auxiliary + 1
        while word_at(words, verb).tag.startswith("RB"):
            verb += 1
        full = "would" if "VB" in possible(word_at(words, verb).lowercase) else "had"
    negation = f"{IRREGULAR.get(full, full)}n't" if contracted else f"{full} not"
    return word.start, word.end, f" {negation}"


def _not_after_auxiliary(words: Words, auxiliary: int, contracted: bool) -> Splice:
    """Return the change that inserts ``not`` after an auxiliary and any sentence adverbs that follow it."""
    word, last_adverb = words[auxiliary], auxiliary
    while word_at(words, last_adverb + 1).lowercase in SENTENCE_ADVERBS:
        last_adverb += 1
    if last_adverb > auxiliary:
        end = words[last_adverb].end
        return end, end, " not"
    if contracted and word.lowercase in CONTRACTED:
        return word.start, word.end, IRREGULAR.get(word.lowercase, word.text) + "n't"
    # "Cannot" is one word.
    if word.lowercase == "can":
        return word.end, word.end, "not"
    return word.end, word.end, " not"


def _with_do(words: Words, verb: int, contracted: bool) -> list[Splice]:
    """Return the changes that insert ``do``, ``does`` or ``did`` with ``not`` and make the verb a base form."""
    word, auxiliary = words[verb], _do_for(words, verb)
    negated_auxiliary = f"{auxiliary}n't" if contracted else f"{auxiliary} not"
    # Some adverbs stay between the negation and the verb: "they really like" becomes "they don't really like".
    first = verb
    while word_at(words, first - 1).lowercase in AFTER_NOT:
        first -= 1
    if first == verb:
        return [(word.start, word.end, f"{negated_auxiliary} {word.lemma}")]
    start = words[first].start
    return [(start, start, f"{negated_auxiliary} "), (word.start, word.end, word.lemma)]


def _do_for(words: Words, verb: int) -> str:
    """Return the form of ``do`` that negates a lexical verb: ``do``, ``does`` or ``did``."""
    word = words[verb]
    if word.tag == "VBZ":
        return "does"
    if word.lowercase != word.lemma:
        return "did"
    # "He put it down": a past tense may look like the base form.
    may_be_past = word.tag in ("VBD", "VBN") or word_at(words, verb - 1).lowercase in ("he", "she", "it")
    is_past = may_be_past and verb > 0 and "VBD" in possible(word.lowercase)
    if is_past:
        return "did"
    return "do"


# --- Negating the replaced word of a minimal pair (Chiang et al. 2023, section 2.2.6) ---

GOVERNORS = wordset("need have want go gon plan intend expect seem appear tend hope ought")
"""Verbs that are negated instead of their infinitive: ``do not need to go``, not ``need not to go``."""
BEFORE_NOT_TO = wordset(
    "try decide choose prefer promise learn pretend agree important better best crucial wise tell ask advise warn "
    "order beg urge"
)
"""Words after which ``not to`` with an infinitive is good English."""
COPULAS = wordset("be look seem feel sound become stay remain")
_ELSEWHERE = re.compile(
    r"(?i)(?:not|n['’]t) (?:just|only|simply|merely|even|pretty|super|gotta)\b|\bha(?:ve|s|d) not to\b|"
    r"\brather (?:do|does|did) not\b|\b(?:super|so|very|really|pretty|more|most|too|feel) not\b|"
    r"\b(?:already|finally|once|almost|nearly|ever|barely) (?:do|does|did|am|is|are|was|were) not\b|"
    r"\b(?:already|nearly|ever) not\b|\bnow (?:do|does|did) not\b|"
    r"not (?:already|almost|finally|still|rather|once|ever|long|much rather|very \w+ly|(?:be )?some)\b|"
    r"(?:not|n['’]t)\b[^,.;!]*,? too(?=[,.;!]|$)"
)
"""Negations that deny another word than the verb, or are not correct English."""
_BARS_NOT = wordset("not n't such no what so how too been being never as why")
"""Words after which "not" does not fit before an adjective."""


def word_negated(tagged: Tagged, index: int, auxiliary: Auxiliary) -> str | None:
    """Negate an adjective or a verb, or remove its negation. Before an adjective and its noun, ``not`` is inserted.

    Parameters
    ----------
    auxiliary
        Whether the auxiliary of a removed negation is kept.

    Returns
    -------
    The sentence; None in doubtful cases, or if the ``not`` would be read with another word.
    """
    word = tagged.words[index]
    if word.tag == "JJ" and word_at(tagged.words, index + 1).tag.startswith("NN"):
        return _not_before(tagged, index)
    group = group_at(tagged, index)
    if word.tag.startswith("JJ"):
        copula = before_adverbs(tagged.words, index)
        group = group_at(tagged, copula)
    if group is not None:
        return unnegated(tagged, group, auxiliary) or negated(tagged, group)
    return _outside_group(tagged, index)


def falls_elsewhere(tagged: Tagged, text: str) -> bool:
    """Return whether a new negation denies another word ("not just"), or is not correct English ("has not to").

    Parameters
    ----------
    tagged, text
        The sentence without and with the negation.
    """
    return len(_ELSEWHERE.findall(text)) > len(_ELSEWHERE.findall(tagged.text))


def _outside_group(tagged: Tagged, index: int) -> str | None:
    """Negate a verb or an adjective that does not belong to a finite verb group; None in doubtful cases."""
    words = tagged.words
    if words[index].tag == "VB":
        return _infinitive_negated(tagged, index - 1)
    if words[index].tag.startswith("VB"):
        return None
    first = index
    while word_at(words, first - 1).lowercase in DEGREES:
        first -= 1
    before = word_at(words, first - 1)
    # "To be happy" is negated like an infinitive.
    if before.lowercase in COPULAS:
        return _infinitive_negated(tagged, first - 2)
    if before.tag in ("PRP", "NN", "NNS", "NNP"):
        return None  # "makes him happy"
    return _not_before(tagged, index)


def _infinitive_negated(tagged: Tagged, to: int) -> str | None:
    """Negate an infinitive whose ``to`` is at an index: with ``not to``, or at the verb that it depends on."""
    words = tagged.words
    if word_at(words, to).lowercase not in ("to", "na"):
        return None
    governor = word_at(words, to - 1)
    if governor.lemma in GOVERNORS or governor.lowercase == "used":
        group = group_at(tagged, to - 1)
        if group is None:
            return None
        return negated(tagged, group)
    if governor.lemma in BEFORE_NOT_TO:
        return spliced(tagged.text, [(words[to].start, words[to].start, "not ")])
    return None


def _not_before(tagged: Tagged, index: int) -> str | None:
    """Insert ``not`` before an adjective and the adverbs that belong to it.

    None if the ``not`` would be read with another word: at the start, after "and", "have", "no", "such a".
    """
    words, first = tagged.words, index
    while word_at(words, first - 1).tag == "RB":
        first -= 1
    before = word_at(words, first - 1)
    # "It is (or was) illegal": the copula is the last word in the parentheses.
    is_after_copula = before.text == ")" and word_at(words, first - 2).lowercase in BE
    starts_clause = before.tag in {"", "CC", ",", ":", "."} and not is_after_copula
    is_after_auxiliary = before.lemma in {"have", "do"} or before.text == "be"
    if starts_clause or is_after_auxiliary:
        return None
    nearby = words[max(0, first - 2) : index]
    if any(word.lowercase in _BARS_NOT for word in nearby):
        return None
    return substituted(tagged, {first: f"not {words[first].text}"})
