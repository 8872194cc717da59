"""Negating an English sentence, or one word of it: do-support, auxiliaries, modals, copulas, inflection.

HEROS (Chiang et al. 2023, section 2.2.6) negates the main verb and the replaced word. Where the rules do not decide,
the answer is None. Taking a negation out is in ``negation_removal``.
"""

from __future__ import annotations

import re

from embassay.testsets.english.clauses import Group, before_adverbs, group_at, main_group
from embassay.testsets.english.negation_removal import ends_clause, unnegated
from embassay.testsets.english.negators import AFTER_NOT, DEGREES, QUANTIFIED, SENTENCE_ADVERBS, negations
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.word_classes import AUXILIARIES, BE, DO, HAVE, MODALS, SUBJECTS, wordset
from embassay.testsets.english.words import Splice, Tagged, Word, spliced, substituted, word_at

# --- Negating a verb group ---

SAID_BY_THE_WAY = wordset("guess figure presume suppose reckon bet")
"""Verbs of a mere aside: ``I guess``."""
IN_SET_PHRASES = wordset("got better rather as")
"""Words after an auxiliary that takes no ``not``: ``have got to``, ``had better``, ``might as well``."""
ALL = wordset("everyone everybody everything all each both either anyone anybody anything any")
"""Subjects with which a ``not`` denies something else than the verb."""
CONTRACTED_AUXILIARIES = {"'ll": "will", "'ve": "have"}
CONTRACTED = wordset("is are was were do does did have has had could should would must")
"""Auxiliaries that take ``n't`` without a change."""


def main_verb(tagged: Tagged) -> int | None:
    """Return the index of the lexical verb of the main clause; None for a question, a fragment or a doubtful case."""
    group = main_group(tagged)
    return None if group is None else group.last


def negated(tagged: Tagged, index: int | None = None, *, contracted: bool = False) -> str | None:
    """Negate a sentence at its main verb, or at the verb at an index.

    Parameters
    ----------
    contracted
        Write ``n't`` for ``not`` where the auxiliary takes it.

    Returns
    -------
    The sentence; None where it has such a negation already or the rules do not decide.
    """
    group = main_group(tagged) if index is None else group_at(tagged, index)
    return None if group is None else _group_negated(tagged, group, contracted)


def _group_negated(tagged: Tagged, group: Group, contracted: bool = False) -> str | None:
    """Negate a sentence at a verb group."""
    if group.negator is not None or any(pattern in QUANTIFIED for pattern, _ in negations(tagged)):
        return None
    words, first = tagged.words, tagged.words[group.first].lowercase
    if first == "let" and word_at(words, group.first + 1).lowercase == "'s":
        end = words[group.first + 1].end
        return spliced(tagged.text, [(end, end, " not")])
    if _takes_no_not(words, group):
        return None
    if first in CONTRACTED_AUXILIARIES or first == "'d":
        splices = [_spelled(words, group, contracted)]
    elif (
        first in MODALS | BE
        or (first in HAVE | DO and group.last > group.first)
        or (first in HAVE | DO and ends_clause(words, group.last + 1))
    ):
        splices = [_after_auxiliary(words, group.first, contracted)]
    else:
        splices = _with_do(words, group.first, contracted)
    return spliced(tagged.text, splices)


def _takes_no_not(words: tuple[Word, ...], group: Group) -> bool:
    """Return whether a verb group is a question, in a set phrase, or has a subject that no ``not`` goes with."""
    first, after = words[group.first].lowercase, words[group.first + 1 : group.first + 3]
    if first in AUXILIARIES and after and after[0].lowercase in SUBJECTS:
        # The subject follows: a question or a wish. But "it" and "you" may be objects, as in "I have it", unless a verb
        # of their own follows: "the thing is it rains".
        has_verb = len(after) > 1 and after[1].tag in ("VBZ", "VBP", "VBD", "MD")
        if first in MODALS or has_verb or after[0].lowercase not in ("it", "you"):
            return True
    if first == "let" or words[group.last].lemma in SAID_BY_THE_WAY:
        return True
    if first in MODALS | HAVE and any(word.lowercase in IN_SET_PHRASES for word in after):
        return True
    subject = word_at(words, before_adverbs(words, group.first))
    if subject.lowercase in ALL:
        return True
    # A bare form after a singular noun is not its verb: "to make the room look good".
    is_singular = subject.tag in ("NN", "NNP") or subject.lowercase in ("he", "she", "it")
    return is_singular and first not in AUXILIARIES and _do_for(words, group.first) == "do"


def _spelled(words: tuple[Word, ...], group: Group, contracted: bool) -> Splice:
    """Negate after ``'ll``, ``'ve`` and ``'d``, which are written out."""
    word = words[group.first]
    if word.lowercase in CONTRACTED_AUXILIARIES:
        full = CONTRACTED_AUXILIARIES[word.lowercase]
    else:
        at = group.first + 1
        while word_at(words, at).tag.startswith("RB"):
            at += 1
        full = "would" if "VB" in possible(word_at(words, at).lowercase) else "had"
    if contracted:
        return word.start, word.end, " won't" if full == "will" else f" {full}n't"
    return word.start, word.end, f" {full} not"


def _after_auxiliary(words: tuple[Word, ...], auxiliary: int, contracted: bool) -> Splice:
    """Put ``not`` after an auxiliary and the adverbs of the sentence that follow it."""
    word, at = words[auxiliary], auxiliary
    while word_at(words, at + 1).lowercase in SENTENCE_ADVERBS:
        at += 1
    if at > auxiliary:
        return words[at].end, words[at].end, " not"
    if contracted and word.lowercase in CONTRACTED:
        return word.end, word.end, "n't"
    if contracted and word.lowercase in ("can", "will"):
        return word.start, word.end, "can't" if word.lowercase == "can" else "won't"
    return word.end, word.end, "not" if word.lowercase == "can" else " not"


def _with_do(words: tuple[Word, ...], verb: int, contracted: bool) -> list[Splice]:
    """Negate a lexical verb with ``do``, ``does`` or ``did`` and its base form."""
    word = words[verb]
    auxiliary = f"{_do_for(words, verb)}n't" if contracted else f"{_do_for(words, verb)} not"
    first = verb
    while word_at(words, first - 1).lowercase in AFTER_NOT:
        first -= 1
    if first == verb:
        return [(word.start, word.end, f"{auxiliary} {word.lemma}")]
    return [(words[first].start, words[first].start, f"{auxiliary} "), (word.start, word.end, word.lemma)]


def _do_for(words: tuple[Word, ...], verb: int) -> str:
    """Return ``do``, ``does`` or ``did``, whichever a lexical verb is negated with."""
    word = words[verb]
    if word.tag == "VBZ":
        return "does"
    if word.lowercase != word.lemma:
        return "did"
    # "He put it down": the past tense may have the form of the base.
    past = word.tag in ("VBD", "VBN") or word_at(words, verb - 1).lowercase in ("he", "she", "it")
    return "did" if past and verb > 0 and "VBD" in possible(word.lowercase) else "do"


# --- Negating the replaced word of a minimal pair (Chiang et al. 2023, section 2.2.6) ---

GOVERNORS = wordset("need have want go gon plan intend expect seem appear tend hope ought")
"""Verbs that are negated in place of their infinitive: ``do not need to go`` for ``need not to go``."""
BEFORE_NOT_TO = wordset(
    "try decide choose prefer promise learn pretend agree important better best crucial wise tell ask advise warn "
    "order beg urge"
)
"""Words that an infinitive with ``not to`` follows well."""
COPULAS = wordset("be look seem feel sound become stay remain")
_ELSEWHERE = re.compile(
    r"(?i)(?:not|n['’]t) (?:just|only|simply|merely|even|pretty|super|gotta)\b|\bha(?:ve|s|d) not to\b|"
    r"\brather (?:do|does|did) not\b|\b(?:super|so|very|really|pretty|more|most|too|feel) not\b|"
    r"\b(?:already|finally|once|almost|nearly|ever|barely) (?:do|does|did|am|is|are|was|were) not\b|"
    r"\b(?:already|nearly|ever) not\b|\bnow (?:do|does|did) not\b|"
    r"not (?:already|almost|finally|still|rather|once|ever|long|much rather|very \w+ly|(?:be )?some)\b|"
    r"(?:not|n['’]t)\b[^,.;!]*,? too(?=[,.;!]|$)"
)
"""Negations that fall on another word than the verb, or are no English."""
_BARS_NOT = wordset("not n't such no what so how too been being never as why")
"""Words that a "not" before an adjective does not stand well after."""


def word_negated(tagged: Tagged, index: int) -> str | None:
    """Negate an adjective or a verb, or remove its negation; an adjective before its noun gets ``not`` before it.

    Returns
    -------
    The sentence; None where the rules do not decide, or the ``not`` would be read with another word.
    """
    word = tagged.words[index]
    if word.tag == "JJ" and word_at(tagged.words, index + 1).tag.startswith("NN"):
        return _not_before(tagged, index)
    group = group_at(tagged, index)
    if group is None and word.tag.startswith("JJ"):
        copula = before_adverbs(tagged.words, index)
        group = group_at(tagged, copula)
    if group is not None:
        without = unnegated(tagged, group.first)
        return without if without is not None else _group_negated(tagged, group)
    return _outside_group(tagged, index)


def falls_elsewhere(tagged: Tagged, text: str) -> bool:
    """Return whether a new negation falls on another word ("not just"), or is no English ("has not to")."""
    return len(_ELSEWHERE.findall(text)) > len(_ELSEWHERE.findall(tagged.text))


def _outside_group(tagged: Tagged, index: int) -> str | None:
    """Negate a word outside finite verb groups: an infinitive, what follows its copula, else by ``not`` before it."""
    words = tagged.words
    if words[index].tag.startswith("VB"):
        return _infinitive_negated(tagged, index - 1) if words[index].tag == "VB" else None
    first = index
    while word_at(words, first - 1).lowercase in DEGREES:
        first -= 1
    before = word_at(words, first - 1)
    if before.lowercase in COPULAS:
        return _infinitive_negated(tagged, first - 2)
    if before.tag in ("PRP", "NN", "NNS", "NNP"):
        return None  # "makes him happy"
    return _not_before(tagged, index)


def _infinitive_negated(tagged: Tagged, to: int) -> str | None:
    """Negate an infinitive whose ``to`` is at an index: by ``not to``, or at the verb that it depends on."""
    words = tagged.words
    if word_at(words, to).lowercase not in ("to", "na"):
        return None
    governor = word_at(words, to - 1)
    if governor.lemma in GOVERNORS or governor.lowercase == "used":
        group = group_at(tagged, to - 1)
        return None if group is None else _group_negated(tagged, group)
    if governor.lemma in BEFORE_NOT_TO:
        return spliced(tagged.text, [(words[to].start, words[to].start, "not ")])
    return None


def _not_before(tagged: Tagged, index: int) -> str | None:
    """Put ``not`` before an adjective, and before the adverbs that belong to it.

    None where the ``not`` would be read with something else: at the start, after "and", "have", "no", "such a".
    """
    words, first = tagged.words, index
    while word_at(words, first - 1).tag == "RB":
        first -= 1
    before = word_at(words, first - 1)
    if before.tag in {"", "CC", ",", ":", "."} or before.lemma in {"have", "do"} or before.text == "be":
        return None
    if any(word.lowercase in _BARS_NOT for word in words[max(0, first - 2) : index]):
        return None
    return substituted(tagged, {first: f"not {words[first].text}"})
