"""Negating an English sentence, and taking its negation out: do-support, auxiliaries, modals, copulas, inflection.

HEROS (Chiang et al. 2023, section 2.2.6) negates the main verb and the replaced word; SemAntoNeg (Vahtola et al. 2022,
section 3) deletes the negator. Unlike in HEROS, a deleted ``not`` takes the ``do`` that it needed with it: ``does not
know`` becomes ``knows``. Where the rules do not decide, the answer is None.
"""

from __future__ import annotations

from embassay.builders._barred import support, takes_no_not
from embassay.builders._clauses import Group, group_at, main_group
from embassay.builders._polarity import AFTER_NOT, DEGREES, QUANTIFIED, SENTENCE_ADVERBS, negations
from embassay.builders._removal import ends_clause, removal
from embassay.builders._splices import Splice, spliced
from embassay.builders._tagger import possible
from embassay.builders._verbs import BE, DO, HAVE, MODALS, NEGATORS, lower, wordset
from embassay.builders._words import Tagged, Word, inflected

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
