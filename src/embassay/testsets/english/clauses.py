"""Which words are finite verbs, which verb groups a sentence has, and which of them is that of the main clause.

Rules over tagged words, no parser. What a negation does to a verb group is decided in ``negation``.
"""

from __future__ import annotations

from dataclasses import dataclass

from embassay.testsets.english.word_classes import (
    ADVERBIAL,
    AUXILIARIES,
    BE,
    DO,
    HAVE,
    MODALS,
    MOMENTS,
    NEGATORS,
    NO_VERBS,
    PERCEIVING,
    PLAIN_SUBJECTS,
    PREPOSITIONS_TOO,
    SAYING,
    STOPS,
    SUBJECTS,
    SUBORDINATORS,
    TIMES,
)
from embassay.testsets.english.words import Tagged, Word, word_at

# --- Finite verbs ---


def is_adverb(word: Word) -> bool:
    """Return whether a word may stand inside a verb group without being a verb."""
    return word.tag.startswith("RB") or word.lowercase in NEGATORS or word.lowercase == "longer"


def before_adverbs(words: tuple[Word, ...], index: int) -> int:
    """Return the index of the last word before this one that is no adverb; -1 for none."""
    index -= 1
    while index >= 0 and is_adverb(words[index]):
        index -= 1
    return index


def is_finite(words: tuple[Word, ...], index: int) -> bool:
    """Return whether a word is a finite verb."""
    word, low = words[index], words[index].lowercase
    before = word_at(words, index - 1)
    if low in NO_VERBS or _bars_verb(words, index):
        return False
    if low == "'s":
        return word.tag != "POS" and before.lowercase != "let"
    if low in MODALS:
        # "May", "will", "might" and "can" are nouns and names as well.
        return low not in ("may", "will", "might", "can") or word.tag in ("MD", "VB", "VBP")
    if low in AUXILIARIES:
        return True
    if word.tag == "VBP" and _is_bare_infinitive(words, index):
        return False
    if word.tag in ("VBZ", "VBP", "VBD"):
        return True
    if word.tag == "VB":
        return starts_clause(words, index) or _has_plain_subject(words, index)
    return word.tag == "VBN" and is_after_subject(words, index)


def _bars_verb(words: tuple[Word, ...], index: int) -> bool:
    """Return whether what stands before a word keeps it from being a finite verb: ``to``, an article, a possessive."""
    before = word_at(words, before_adverbs(words, index))
    if before.tag in ("TO", "PRP$", "POS", "JJ"):
        return before.tag != "JJ" or words[index].lowercase not in AUXILIARIES
    return before.lowercase in ("a", "an", "the", "every", "my", "your", "our", "their", "its", "no")


def _is_bare_infinitive(words: tuple[Word, ...], index: int) -> bool:
    """Return whether a verb belongs to ``make``, ``let`` or ``see`` before it: ``makes the room look good``."""
    return any(word.lowercase in PERCEIVING for word in words[max(0, index - 5) : index])


def is_after_subject(words: tuple[Word, ...], index: int) -> bool:
    """Return whether a subject pronoun stands right before a word, adverbs aside."""
    return word_at(words, before_adverbs(words, index)).lowercase in SUBJECTS


def _has_plain_subject(words: tuple[Word, ...], index: int) -> bool:
    """Return whether a bare form has a subject that takes it: ``I love``, ``dogs bark``, not ``let you go``."""
    subject = before_adverbs(words, index)
    if word_at(words, subject).lowercase in PLAIN_SUBJECTS:
        return word_at(words, subject - 1).lowercase not in PERCEIVING | AUXILIARIES
    if word_at(words, subject).tag != "NNS":
        return False
    return not any(word.lowercase in PERCEIVING | MODALS | DO for word in words[:subject])


def starts_clause(words: tuple[Word, ...], index: int) -> bool:
    """Return whether a word opens its clause, as an imperative does; ``please`` and adverbs may go before."""
    index -= 1
    while index >= 0 and (is_adverb(words[index]) or words[index].lowercase in ("please", "and", "but", "so")):
        index -= 1
    return index < 0 or words[index].text in STOPS or words[index].text == ","


# --- Finite verb groups, and which of them is the main one ---


@dataclass(frozen=True)
class Group:
    """A finite verb group.

    Attributes
    ----------
    first, last
        Indices of its finite word and of its last verb, which may be the same.
    negator
        Index of ``not``, ``n't``, ``never`` … in, right before or right after it; None where it is not negated.
    """

    first: int
    last: int
    negator: int | None


def groups(tagged: Tagged) -> tuple[Group, ...]:
    """Return the finite verb groups of a sentence, from left to right."""
    found: list[Group] = []
    index = 0
    while index < len(tagged.words):
        if is_finite(tagged.words, index):
            group = _group(tagged.words, index)
            found.append(group)
            index = group.last
        index += 1
    return tuple(found)


def group_at(tagged: Tagged, index: int) -> Group | None:
    """Return the verb group that the word at ``index`` belongs to, if any."""
    for group in groups(tagged):
        if group.first <= index <= group.last:
            return group
    return None


def _group(words: tuple[Word, ...], first: int) -> Group:
    """Return the verb group that a finite verb opens."""
    last, negator = first, None
    for index in range(first + 1, len(words)):
        if is_negator(words, index):
            if words[last].lowercase not in AUXILIARIES | {"be", "been", "being"}:
                break
            if negator is None:
                negator = index
        elif _continues(words[last].lowercase, words[index]):
            last = index
        elif not is_adverb(words[index]):
            break
    # "They never came": the negator stands before the verb.
    index = first - 1
    while negator is None and index >= 0 and is_adverb(words[index]):
        if is_negator(words, index):
            negator = index
        # "No" of "no longer" is no adverb.
        elif is_negator(words, index - 1):
            negator = index - 1
        index -= 1
    return Group(first, last, negator)


def is_negator(words: tuple[Word, ...], index: int) -> bool:
    """Return whether a negation of a verb begins at a word: ``not``, ``never``, ``no longer`` …"""
    word = word_at(words, index)
    return word.lowercase in NEGATORS or (word.lowercase == "no" and word_at(words, index + 1).lowercase == "longer")


def _continues(last: str, word: Word) -> bool:
    """Return whether a verb belongs to the group whose last verb so far is ``last``: ``has`` + ``been`` + ``seen``."""
    if last in ("'d", "'s"):
        return word.tag.startswith("VB")
    if last in MODALS | DO:
        return word.tag in ("VB", "VBP", "VBD")
    if last in HAVE:
        return word.tag in ("VBN", "VBD")
    return last in BE | {"be", "been", "being"} and word.tag in ("VBG", "VBN", "VBD")


def main_group(tagged: Tagged) -> Group | None:
    """Return the verb group of the main clause; None for a question, a fragment, or where the rules do not decide.

    Of several sentences, the first that has one counts. A word that opens a subordinate clause makes the next verb
    group that clause's. A clause that comes first ends at a comma.
    """
    if tagged.text.rstrip(" \"'”’)").endswith("?"):
        return None
    every = groups(tagged)
    group = _outside_subordinate_clauses(tagged.words, every)
    return group if group and _is_surely_main(tagged.words, group, every) else None


def _outside_subordinate_clauses(words: tuple[Word, ...], every: tuple[Group, ...]) -> Group | None:
    """Return the first verb group that belongs to no subordinate clause."""
    at = {group.first: group for group in every}
    # Subordinate clauses that have begun and still lack their verb; how many of those may be mere phrases with a
    # preposition; whether the main clause only begins after the next comma.
    open_clauses, perhaps_phrases, before_comma = 0, 0, False
    for index, word in enumerate(words):
        if word.text in STOPS:
            open_clauses, perhaps_phrases, before_comma = 0, 0, False
        elif word.text == ",":
            if before_comma:
                before_comma = open_clauses > perhaps_phrases > 0
                open_clauses = 0
            else:
                open_clauses -= perhaps_phrases
            perhaps_phrases = 0
        elif index in at:
            if open_clauses == 0 and not before_comma:
                return at[index]
            open_clauses, perhaps_phrases = max(open_clauses - 1, 0), 0
        elif _opens_clause(words, index):
            open_clauses += 1
            if word.lowercase in PREPOSITIONS_TOO:
                perhaps_phrases += 1
            if (word.lowercase in ADVERBIAL or _names_time(words, index)) and starts_clause(words, index):
                before_comma = True
    return None


def _is_surely_main(words: tuple[Word, ...], group: Group, every: tuple[Group, ...]) -> bool:
    """Say whether a group is surely the main one: no question, no reduced relative clause, no second verb beside it."""
    first = words[group.first]
    if group.first == 0 and _asks(words):
        return False
    later = [other for other in every if other.first > group.first]
    if not later:
        return True
    between = words[group.last + 1 : later[0].first]
    if not between or (len(between) == 1 and is_adverb(between[0])):
        return False
    for word in between:
        if word.tag in ("CC", ",", "PRP", "WDT", "WP", "WRB", ":", ".") or word.lowercase == "that":
            return True
    if first.tag == "VB" and starts_clause(words, group.first):
        return False  # no command: "mention of it was made", "close talks between them can help"
    # A participle after a noun may be a relative clause without its "which": "a mill called the old mill was built".
    is_participle = group.first > 0 and first.tag in ("VBD", "VBN") and first.lowercase.endswith(("ed", "en"))
    return not is_participle or words[group.first - 1].lowercase in SUBJECTS or first.lemma in SAYING


def _asks(words: tuple[Word, ...]) -> bool:
    """Return whether the first verb asks: ``is it late``, ``do you know``; ``do it now`` is a command."""
    first = words[0].lowercase
    if first in DO:
        return word_at(words, 1).lowercase in SUBJECTS and word_at(words, 2).tag.startswith("VB")
    return first in AUXILIARIES


def _opens_clause(words: tuple[Word, ...], index: int) -> bool:
    """Return whether a subordinate clause with its own finite verb begins at a word."""
    low, before = words[index].lowercase, word_at(words, index - 1)
    if _names_time(words, index):
        return True
    if low in SUBORDINATORS:
        # "Because of", "as for", "as well", "as usual", "such as such".
        return word_at(words, index + 1).lowercase not in ("of", "for", "well", "usual", "such")
    if low == "that":
        return before.tag.startswith(("NN", "VB"))
    if _names_time(words, index - 2):
        return False
    # "The book I read": a relative clause without its "that".
    return low in SUBJECTS and before.tag in ("NN", "NNS", "NNP") and index > 1 and before.lowercase not in TIMES


def _names_time(words: tuple[Word, ...], index: int) -> bool:
    """Return whether a time opens a clause at a word, before its subject: ``every time the bell rings``."""
    first, noun, subject = (word_at(words, index + place).lowercase for place in range(3))
    if first not in ("every", "each", "any", "next", "first", "last", "the") or noun not in MOMENTS:
        return False
    return word_at(words, index + 2).tag in ("PRP", "NNP", "PRP$", "NNS") or subject in ("a", "the", "this")
