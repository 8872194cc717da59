"""Negating an English sentence, and taking its negation out: do-support, auxiliaries, modals, copulas, inflection.

HEROS (Chiang et al. 2023, section 2.2.6) negates the main verb and the replaced word; SemAntoNeg (Vahtola et al. 2022,
section 3) deletes the negator. Unlike in HEROS, a deleted ``not`` takes the ``do`` that it needed with it: ``does not
know`` becomes ``knows``. Where the rules do not decide, the answer is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from embassay.testsets.english.clauses import (
    BE,
    DO,
    HAVE,
    MODALS,
    NEGATORS,
    PLAIN_SUBJECTS,
    STOPS,
    SUBJECTS,
    Group,
    group_at,
    groups,
    lower,
    main_group,
    wordset,
)
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.words import Tagged, Word, inflected, substituted

# --- Negations of a sentence, and the words that do not stand beside a negation, or not without one ---

QUANTIFIED = wordset("no nobody nothing none neither nor nowhere no-one few little without")
"""Words that negate without a negator; a sentence with one of them is not negated once more."""
POLAR = wordset(
    "any anyone anything anybody anymore anywhere ever yet either until much many bother whatsoever slightest remotely "
    "alone budge"
)
"""Words that stand somewhere after a negation and hardly without one."""
FOCUS = wordset("only just even so that all exactly as quite enough necessarily entirely too simply merely")
"""Words that right after a negation take its place: *not that good*, *not only*."""
AFTER_NOT = wordset(
    "always only even just necessarily quite exactly ever all often rarely seldom usually frequently "
    "generally fully totally "
    "completely entirely wholly strongly greatly heartily highly deeply slowly quickly steadily firmly openly easily "
    "widely heavily severely substantially significantly gradually rapidly sharply dramatically quietly carefully "
    "successfully strictly directly closely fiercely warmly gladly happily sincerely thoroughly"
)
"""Adverbs that a ``do not`` is put before."""
SENTENCE_ADVERBS = wordset(
    "probably definitely certainly surely apparently obviously clearly still also honestly actually literally simply "
    "perhaps maybe possibly currently undoubtedly evidently sadly unfortunately"
)
"""Adverbs that a ``not`` follows."""
DEGREES = wordset("very so too really quite rather pretty extremely totally absolutely completely fairly more most")


def negations(tagged: Tagged) -> tuple[tuple[str, int], ...]:
    """Return (pattern, index) of every negation of a sentence, from left to right."""
    words = tagged.words
    found: list[tuple[str, int]] = []
    for index, word in enumerate(words):
        low = lower(word)
        if low in ("no", "any") and index + 1 < len(words) and lower(words[index + 1]) in ("longer", "more"):
            found += [(f"no {lower(words[index + 1])}", index)] if low == "no" else []
        elif low in NEGATORS | QUANTIFIED and not (low in ("no", "few", "little") and _no_negation(words, index)):
            found.append((low, index))
    return tuple(found)


def _no_negation(words: tuple[Word, ...], index: int) -> bool:
    """Say whether ``no``, ``few`` or ``little`` negates nothing: an answer, ``a few``, ``no doubt``."""
    after = lower(words[index + 1]) if index + 1 < len(words) else ""
    before = lower(words[index - 1]) if index else ""
    return (
        before in ("a", "the", "every")
        or after in ("", ",", "!", ".", "doubt", "matter")
        or lower(words[index]) != "no"
    )


# --- Exchanging spans of a text ---

Splice = tuple[int, int, str]
"""Characters from start to end are replaced by a text."""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Replace spans of a text, which do not overlap; a capital at its start stays one, spaces are not doubled."""
    capital = next((character for character in text if character.isalnum()), "").isupper()
    for start, end, new in sorted(splices, reverse=True):
        if not new and (start == 0 or text[start - 1] == " "):
            end += len(text[end:]) - len(text[end:].lstrip(" "))
        text = text[:start] + new + text[end:]
    first = next((at for at, character in enumerate(text) if character.isalnum()), None)
    if not capital or first is None:
        return text
    return text[:first] + text[first].upper() + text[first + 1 :]


# --- Verb groups that no ``not`` goes into, and the ``do`` that the others need ---

SAID_BY_THE_WAY = wordset("guess figure presume suppose reckon bet")
"""Verbs of a mere aside: ``I guess``."""
ALL = wordset("everyone everybody everything all each both either anyone anybody anything any")
"""Subjects with which a ``not`` denies something else than the verb."""


def takes_no_not(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether a verb group is a question, in a set phrase, or has a subject that no ``not`` goes with."""
    return _inverted(words, group) or _fixed(words, group) or _disagrees(words, group)


def support(words: tuple[Word, ...], at: int) -> str:
    """Return ``do``, ``does`` or ``did``, whichever a lexical verb is negated with."""
    word, low = words[at], lower(words[at])
    third = at > 0 and lower(words[at - 1]) in ("he", "she", "it")
    if word.tag == "VBZ":
        return "does"
    if low != word.lemma:
        return "did"
    if "VB" in (can := possible(low)) and not can & {"VBD", "VBZ"}:
        return "do"
    if (word.tag in ("VBD", "VBN") and (at or "VB" not in can)) or (third and "VBD" in can):
        return "did"
    return "do"


def _inverted(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether a subject follows the auxiliary: a question, a wish."""
    after = group.first + 1
    low = lower(words[group.first])
    if after >= len(words) or low not in MODALS | BE | HAVE | DO or lower(words[after]) not in SUBJECTS:
        return False
    clause = low in BE and after + 1 < len(words) and words[after + 1].tag in ("VBZ", "VBP", "VBD", "MD")
    return clause or low in MODALS or lower(words[after]) not in ("it", "you")


def _fixed(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether a verb is in a phrase that takes no ``not``: ``had better``, ``might as well``, ``have got to``."""
    low, after = lower(words[group.first]), [lower(word) for word in words[group.first + 1 : group.first + 4]]
    if low == "let" or "got" in after[:2] or words[group.last].lemma in SAID_BY_THE_WAY:
        return True
    return low in MODALS | HAVE and (
        bool({"better", "rather", "sooner", "ever"} & set(after)) or after[:2] == ["as", "well"]
    )


def _disagrees(words: tuple[Word, ...], group: Group) -> bool:
    """Say whether a bare form has a singular subject, or one that no ``not`` goes with: ``anyone``, ``everyone``."""
    at = group.first - 1
    while at >= 0 and words[at].tag.startswith("RB"):
        at -= 1
    if at < 0:
        return (
            group.first + 1 < len(words)
            and words[0].tag == "VB"
            and lower(words[group.first + 1]) in SUBJECTS - {"it", "you"}
        )
    low = lower(words[at])
    if low in ALL or (low in PLAIN_SUBJECTS and words[group.first].tag == "VBZ" and lower(words[group.first]) != "'s"):
        return True
    joined = any(word.tag == "CC" for word in words[max(0, at - 4) : at])
    singular = words[at].tag in ("NN", "NNP") or low in ("this", "that", "he", "she", "it")
    bare = lower(words[group.first]) not in BE | HAVE | DO | MODALS and support(words, group.first) == "do"
    return singular and not joined and bare


# --- What takes a negation out of a sentence, with the ``do`` that it needed ---

IDIOMS = frozenset(
    {"help", "stand", "wait", "care", "imagine", "afford", "seem", "dare", "need", "bear", "bothered", "agree"}
)
"""Verbs that after ``can't`` or ``couldn't`` mean something else than without (``can't wait``)."""
FULL = {"ca": "can", "wo": "will", "sha": "shall"}


def removal(tagged: Tagged, pattern: str, at: int) -> list[Splice] | None:
    """Return what takes a negation out."""
    words = tagged.words
    rest = [lower(word) for word in words[at + 1 :]]
    if pattern in ("no longer", "no more"):
        deleted: list[Splice] = [(words[at].start, words[at + 1].end, "")]
        return deleted if pattern == "no longer" and at else None
    if (
        set(rest[:1]) & FOCUS
        or "mind" in rest[:2]
        or ("at", "all") in pairwise(rest)
        or any(low in POLAR and rest[place - 1] != "how" for place, low in enumerate(rest))
    ):
        return None
    if not at and pattern == "never" and rest[:1] and rest[0] in BE | HAVE | DO:
        return None
    group = next((group for group in groups(tagged) if group.negator == at), None)
    deletion = (words[at].start, words[at].end, "")
    if group is None:
        return [deletion] if pattern in ("not", "never") else None
    return _removed(words, group, at, deletion)


def _removed(words: tuple[Word, ...], group: Group, at: int, deletion: Splice) -> list[Splice] | None:
    """Take ``not`` or ``n't`` out of a verb group, with the ``do`` that it needed."""
    word, low = words[group.first], lower(words[group.first])
    if lower(words[at + 1]) == "worry" if at + 1 < len(words) and group.first == 0 else False:
        return None
    if low == "ai" or (low in ("need", "dare") and lower(words[at]) in ("not", "n't")):
        return None
    if low in ("ca", "can", "could") and any(lower(w) in IDIOMS for w in words[at + 1 : at + 3]):
        return None
    if low in FULL:
        full = FULL[low].capitalize() if word.text[0].isupper() else FULL[low]
        return [(word.start, word.end, full), deletion]
    if low not in DO or lower(words[at]) not in ("not", "n't"):
        return [deletion]
    return _without_support(words, group, at, deletion)


def _without_support(words: tuple[Word, ...], group: Group, at: int, deletion: Splice) -> list[Splice] | None:
    """Take ``do`` + ``not`` out and put its inflection on the verb."""
    verb = at + 1
    while verb < len(words) and words[verb].tag.startswith("RB"):
        verb += 1
    if ends_clause(words, verb):
        return [deletion]
    if lower(words[verb]) in SUBJECTS | {"and", "or", "but"} or group.first + 1 != at:
        return None
    support = lower(words[group.first])
    tag = {"does": "VBZ", "did": "VBD"}.get(support, "VB")
    form = inflected(lower(words[verb]), tag)
    if form is None or (lower(words[verb]) == "be" and tag != "VB"):
        return None
    opening = words[group.first].start
    gap = (opening, words[at].end, "")
    return [gap, (words[verb].start, words[verb].end, form)]


def ends_clause(words: tuple[Word, ...], at: int) -> bool:
    """Say whether nothing follows in the clause: ``I do.``."""
    return at >= len(words) or words[at].text in STOPS | {","}


# --- Negating a sentence, and taking its negation out ---

GOVERNORS = wordset("need have want go gon plan intend expect seem appear tend hope use ought")
"""Verbs that are negated in place of their infinitive: ``do not need to go`` for ``need not to go``."""
BEFORE_NOT_TO = wordset(
    "try decide choose prefer promise learn pretend agree important better best crucial wise tell ask advise warn "
    "order beg urge"
)
"""Words that an infinitive with ``not to`` follows well."""
TOLD = wordset("tell ask advise warn order beg urge want need expect")
"""Verbs that may have an object before an infinitive."""
COPULAS = wordset("be look seem feel sound become stay remain")
SPELLED = {"'ll": "will", "'ve": "have"}
CONTRACTED = wordset("is are was were do does did have has had could should would must")


def main_verb(tagged: Tagged) -> int | None:
    """Return the index of the lexical verb of the main clause; None for a question, a fragment or a doubtful case."""
    group = main_group(tagged)
    return None if group is None else group.last


def is_negated(tagged: Tagged) -> str | None:
    """Return the pattern of the first negation: ``not``, ``n't``, ``never``, ``no longer``, ``hardly``, ``no`` …"""
    return next((pattern for pattern, _ in negations(tagged)), None)


def negated(tagged: Tagged, index: int | None = None, *, contracted: bool = False) -> str | None:
    """Negate a sentence at its main verb, or at a word.

    Parameters
    ----------
    index
        A verb is negated in its verb group, an adjective through its copula or else by a ``not`` before it (HEROS).
    contracted
        Write ``n't`` for ``not`` where the auxiliary takes it.

    Returns
    -------
    The sentence; None where it has such a negation already or the rules do not decide.
    """
    group = main_group(tagged) if index is None else _group_of(tagged, index)
    if any(pattern in QUANTIFIED for pattern, _ in negations(tagged)):
        return None
    if group is None:
        return None if index is None else _word_negated(tagged, index, contracted)
    if group.negator is not None:
        return None
    splices = _negation(tagged, group, contracted)
    return None if splices is None else spliced(tagged.text, splices)


def unnegated(tagged: Tagged, index: int | None = None) -> str | None:
    """Take the one negation out of a sentence, or that of the word at ``index``.

    Returns
    -------
    The sentence; None where it has none or several, or would not be English without (``at all``, ``yet``,
    ``can't wait``), or the negation is a quantifier (``nobody``).
    """
    found = negations(tagged)
    if index is not None:
        group = _group_of(tagged, index)
        wanted = index - 1 if group is None else group.negator
        found = tuple(entry for entry in found if entry[1] == wanted)
    if len(found) != 1 or found[0][0] in QUANTIFIED:
        return None
    splices = removal(tagged, *found[0])
    return None if splices is None else spliced(tagged.text, splices)


def _group_of(tagged: Tagged, index: int) -> Group | None:
    """Return the verb group that negates a word: its own, or its copula's."""
    if (group := group_at(tagged, index)) is not None:
        return group
    if not tagged.words[index].tag.startswith("JJ"):
        return None
    at = index - 1
    while at >= 0 and (tagged.words[at].tag.startswith("RB") or lower(tagged.words[at]) in NEGATORS):
        at -= 1
    return group_at(tagged, at) if at >= 0 else None


def _word_negated(tagged: Tagged, index: int, contracted: bool) -> str | None:
    """Negate a word outside finite verb groups: an infinitive, what follows its copula, else by ``not`` before it."""
    words, at = tagged.words, index
    while at and lower(words[at - 1]) in DEGREES:
        at -= 1
    before = words[at - 1] if at else None
    if words[index].tag.startswith("VB"):
        return _infinitive_negated(tagged, at - 1, contracted) if words[index].tag == "VB" else None
    if before is not None and lower(before) in COPULAS:
        return _infinitive_negated(tagged, at - 2, contracted)
    if before is not None and (lower(before) in NEGATORS or before.tag in ("PRP", "NN", "NNS", "NNP")):
        return None  # "makes him happy"
    return spliced(tagged.text, _not_before(words, at))


def _not_before(words: tuple[Word, ...], at: int) -> list[Splice]:
    """Return what puts ``not`` before a word; ``an`` before it becomes ``a``."""
    if at == 0 and words[0].text[:1].isupper() and words[0].text != "I":
        return [(words[0].start, words[0].end, "not " + words[0].text.lower())]
    splices = [(words[at].start, words[at].start, "not ")]
    if at and lower(words[at - 1]) == "an":
        splices.append((words[at - 1].start, words[at - 1].end, words[at - 1].text[0]))
    return splices


def _infinitive_negated(tagged: Tagged, to: int, contracted: bool) -> str | None:
    """Negate an infinitive whose ``to`` is at an index: by ``not to``, or at the verb that it depends on."""
    words, at = tagged.words, to - 1
    if to < 1 or lower(words[to]) not in ("to", "na"):
        return None
    if at > 0 and words[at].tag in ("PRP", "NNP") and words[at - 1].lemma in TOLD:
        at -= 1
    if at < 0 or (at and lower(words[at - 1]) in NEGATORS):
        return None
    if words[at].lemma in GOVERNORS and (words[at].lemma != "use" or lower(words[at]) == "used"):
        group = group_at(tagged, at)
        if group is None or group.negator is not None or group.last != at:
            return None
        splices = _negation(tagged, group, contracted)
        return None if splices is None else spliced(tagged.text, splices)
    if words[at].lemma in BEFORE_NOT_TO and lower(words[to]) == "to":
        return spliced(tagged.text, [(words[to].start, words[to].start, "not ")])
    return None


def _negation(tagged: Tagged, group: Group, contracted: bool) -> list[Splice] | None:
    """Return what negates a verb group."""
    words = tagged.words
    low = lower(words[group.first])
    if group.first + 1 < len(words) and lower(words[group.first + 1]) == "'s" and low == "let":
        return [(words[group.first + 1].end,) * 2 + (" not",)]
    if takes_no_not(words, group):
        return None
    if low in SPELLED or low == "'d":
        return _spelled(words, group, contracted)
    if low in MODALS | BE or (low in HAVE | DO and group.last > group.first):
        return _after_auxiliary(words, group, contracted)
    if low in DO | HAVE and ends_clause(words, group.last + 1):
        return _after_auxiliary(words, group, contracted)
    return _supported(words, group, contracted)


def _spelled(words: tuple[Word, ...], group: Group, contracted: bool) -> list[Splice] | None:
    """Negate after ``'ll``, ``'ve`` and ``'d``, which are written out."""
    word, low = words[group.first], lower(words[group.first])
    follower = next((other for other in words[group.first + 1 :] if not other.tag.startswith("RB")), word)
    if low == "'d":
        full = "would" if "VB" in possible(lower(follower)) or lower(follower) in ("be", "have") else "had"
        if not full or any(lower(w) in ("better", "rather") for w in words[group.first : group.last + 1]):
            return None
    else:
        full = SPELLED[low]
    if group.last == group.first:
        return None
    if contracted:
        return [(word.start, word.end, f" {'wo' if full == 'will' else full}n't")]
    return [(word.start, word.end, f" {full} not")]


def _after_auxiliary(words: tuple[Word, ...], group: Group, contracted: bool) -> list[Splice] | None:
    word, low, at = words[group.first], lower(words[group.first]), group.first
    while at + 1 < len(words) and lower(words[at + 1]) in SENTENCE_ADVERBS:
        at += 1
    if contracted and low in CONTRACTED | {"can", "will"} and at == group.first:
        joined = {"can": "can't", "will": "won't"}.get(low, f"{low}n't")
        return [(word.start, word.end, joined)]
    if at == group.first and low == "can":
        return [(word.end, word.end, "not")]
    return [(words[at].end, words[at].end, " not")]


def _supported(words: tuple[Word, ...], group: Group, contracted: bool) -> list[Splice] | None:
    """Negate a lexical verb with ``do``, ``does`` or ``did`` and its base form."""
    word = words[group.first]
    auxiliary, base = support(words, group.first), base_of(word)
    if base is None:
        return None
    first = group.first
    while first and lower(words[first - 1]) in AFTER_NOT:
        first -= 1
    joined = f"{auxiliary}n't" if contracted else f"{auxiliary} not"
    if first == group.first:
        return [(word.start, word.end, f"{joined} {base}")]
    return [(words[first].start, words[first].start, f"{joined} "), (word.start, word.end, base)]


def base_of(word: Word) -> str | None:
    """Return the base form of a verb; None for what is no verb."""
    return inflected(word.lemma.lower(), "VB")


# --- Negating the replaced word of a minimal pair (Chiang et al. 2023, section 2.2.6) ---

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
