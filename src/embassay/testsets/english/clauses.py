"""Finite verbs and verb groups of a sentence, and the verb group of its main clause.

The rules use tagged words; there is no parser. Module ``negation`` decides how a verb group is negated.
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
from embassay.testsets.english.words import Tagged, Word, Words, word_at

# --- Finite verbs ---


def is_adverb(word: Word) -> bool:
    """Return whether a word may stand inside a verb group without being a verb."""
    return word.tag.startswith("RB") or word.lowercase in NEGATORS or word.lowercase == "longer"


def before_adverbs(words: Words, index: int) -> int:
    """Return the index of the last word before ``index`` that is not an adverb; -1 if there is none."""
    index -= 1
    while index >= 0 and is_adverb(words[index]):
        index -= 1
    return index


def is_finite(words: Words, index: int) -> bool:
    """Return whether a word is a finite verb."""
    word, low = words[index], words[index].lowercase
    before = word_at(words, index - 1)
    if low in NO_VERBS or _is_after_verb_barrier(words, index):
        return False
    if low == "'s":
        return word.tag != "POS" and before.lowercase != "let"
    if low in MODALS:
        # "May", "will", "might" and "can" are also nouns or names.
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


def _is_after_verb_barrier(words: Words, index: int) -> bool:
    """Return whether no finite verb can follow the word before: ``to``, an article, a possessive, an adjective."""
    before = word_at(words, before_adverbs(words, index))
    if before.tag == "JJ":
        # "What is important is …": an auxiliary may follow an adjective.
        return words[index].lowercase not in AUXILIARIES
    if before.tag in ("TO", "PRP$", "POS"):
        return True
    return before.lowercase in ("a", "an", "the", "every", "my", "your", "our", "their", "its", "no")


def _is_bare_infinitive(words: Words, index: int) -> bool:
    """Return whether ``make``, ``let``, ``see`` or a similar verb stands before: ``makes the room look good``."""
    return any(word.lowercase in PERCEIVING for word in words[max(0, index - 5) : index])


def is_after_subject(words: Words, index: int) -> bool:
    """Return whether a subject pronoun precedes a word, with nothing but adverbs between them."""
    return word_at(words, before_adverbs(words, index)).lowercase in SUBJECTS


def _has_plain_subject(words: Words, index: int) -> bool:
    """Return whether a base form agrees with a subject before it: ``I love``, ``dogs bark``, not ``let you go``."""
    place = before_adverbs(words, index)
    subject = word_at(words, place)
    if subject.lowercase in PLAIN_SUBJECTS:
        return word_at(words, place - 1).lowercase not in PERCEIVING | AUXILIARIES
    if subject.tag != "NNS":
        return False
    # "I saw dogs bark", "do dogs bark": the verb depends on an earlier word.
    return not any(word.lowercase in PERCEIVING | MODALS | DO for word in words[:place])


def starts_clause(words: Words, index: int) -> bool:
    """Return whether a word is the first of its clause; ``please``, conjunctions and adverbs before it do not count."""
    index -= 1
    while index >= 0 and (is_adverb(words[index]) or words[index].lowercase in ("please", "and", "but", "so")):
        index -= 1
    return index < 0 or words[index].text in STOPS or words[index].text == ","


# --- Finite verb groups, and which of them is the main one ---


@dataclass(frozen=True)
class VerbGroup:
    """A finite verb group.

    Attributes
    ----------
    first, last
        Indices of its finite verb and of its last verb, which may be the same.
    negator
        Index of the ``not``, ``n't``, ``never`` … inside, right before or right after it; None if it is not negated.
    """

    first: int
    last: int
    negator: int | None


VerbGroups = tuple[VerbGroup, ...]


def groups(tagged: Tagged) -> VerbGroups:
    """Return the finite verb groups of a sentence, from left to right."""
    verb_groups: list[VerbGroup] = []
    index = 0
    while index < len(tagged.words):
        if is_finite(tagged.words, index):
            group = _group(tagged.words, index)
            verb_groups.append(group)
            index = group.last
        index += 1
    return tuple(verb_groups)


def group_at(tagged: Tagged, index: int) -> VerbGroup | None:
    """Return the verb group that contains the word at ``index``; None if no group does."""
    for group in groups(tagged):
        if group.first <= index <= group.last:
            return group
    return None


def _group(words: Words, first: int) -> VerbGroup:
    """Return the verb group that starts with the finite verb at ``first``."""
    last, negator = first, None
    for index in range(first + 1, len(words)):
        if is_negator(words, index):
            # After a full verb, a "not" or "never" belongs to what follows: "promised never to return".
            if words[last].lowercase not in AUXILIARIES | {"be", "been", "being"}:
                break
            if negator is None:
                negator = index
        elif _continues(words[last].lowercase, words[index]):
            last = index
        elif not is_adverb(words[index]):
            break
    if negator is None:
        negator = _negator_before(words, first)
    return VerbGroup(first, last, negator)


def _negator_before(words: Words, first: int) -> int | None:
    """Return the index of a negator among the adverbs before a verb (``they never came``), or None."""
    index = first - 1
    while index >= 0 and is_adverb(words[index]):
        if is_negator(words, index):
            return index
        # In "no longer" the negator starts at "no", which is not an adverb.
        if is_negator(words, index - 1):
            return index - 1
        index -= 1
    return None


def is_negator(words: Words, index: int) -> bool:
    """Return whether a negation of a verb starts at a word: ``not``, ``never``, ``no longer`` …"""
    word = word_at(words, index)
    return word.lowercase in NEGATORS or (word.lowercase == "no" and word_at(words, index + 1).lowercase == "longer")


def _continues(last: str, word: Word) -> bool:
    """Return whether a verb continues a group that ends in ``last`` so far: ``has`` + ``been`` + ``seen``."""
    if last in ("'d", "'s"):
        return word.tag.startswith("VB")
    if last in MODALS | DO:
        return word.tag in ("VB", "VBP", "VBD")
    if last in HAVE:
        return word.tag in ("VBN", "VBD")
    return last in BE | {"be", "been", "being"} and word.tag in ("VBG", "VBN", "VBD")


def main_group(tagged: Tagged) -> VerbGroup | None:
    """Return the verb group of the main clause of a statement; None for a fragment or a doubtful case.

    A text of several sentences has the main group of the first sentence that has one. After a word that starts a
    subordinate clause, the next verb group belongs to that clause. A subordinate clause at the start ends at a comma.
    """
    all_groups = groups(tagged)
    group = _outside_subordinate_clauses(tagged.words, all_groups)
    if group is None or not _is_surely_main(tagged.words, group, all_groups):
        return None
    return group


def _outside_subordinate_clauses(words: Words, all_groups: VerbGroups) -> VerbGroup | None:
    """Return the first verb group that does not belong to a subordinate clause; None if there is none."""
    group_from = {group.first: group for group in all_groups}
    # The number of subordinate clauses that have started but have no verb yet.
    open_clauses = 0
    # How many of them may be prepositional phrases instead ("after the war").
    perhaps_phrases = 0
    # Whether a subordinate clause comes first, so that the main clause starts after the next comma.
    before_comma = False
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
        elif index in group_from:
            if open_clauses == 0 and not before_comma:
                return group_from[index]
            open_clauses, perhaps_phrases = max(open_clauses - 1, 0), 0
        elif _opens_clause(words, index):
            open_clauses += 1
            if word.lowercase in PREPOSITIONS_TOO:
                perhaps_phrases += 1
            if (word.lowercase in ADVERBIAL or _names_time(words, index)) and starts_clause(words, index):
                before_comma = True
    return None


def _is_surely_main(words: Words, group: VerbGroup, all_groups: VerbGroups) -> bool:
    """Return whether a group is certainly the main one: no question, reduced relative clause or second verb."""
    first = words[group.first]
    if _asks(words):
        return False
    later = [other for other in all_groups if other.first > group.first]
    if not later:
        return True
    between = words[group.last + 1 : later[0].first]
    if not between or (len(between) == 1 and is_adverb(between[0])):
        return False
    for word in between:
        if word.tag in ("CC", ",", "PRP", "WDT", "WP", "WRB", ":", ".") or word.lowercase == "that":
            return True
    if first.tag == "VB" and starts_clause(words, group.first):
        return False  # not an imperative but a noun: "mention of it was made", "close talks between them can help"
    # A participle after a noun may start a relative clause without "which": "a mill called the old mill was built".
    is_participle = group.first > 0 and first.tag in ("VBD", "VBN") and first.lowercase.endswith(("ed", "en"))
    return not is_participle or words[group.first - 1].lowercase in SUBJECTS or first.lemma in SAYING


def _asks(words: Words) -> bool:
    """Return whether the first word starts a question: ``is it late``, ``do you know``; ``do it now`` is a command."""
    first = words[0].lowercase
    if first in DO:
        return word_at(words, 1).lowercase in SUBJECTS and word_at(words, 2).tag.startswith("VB")
    return first in AUXILIARIES


def _opens_clause(words: Words, index: int) -> bool:
    """Return whether a subordinate clause with a finite verb starts at a word."""
    low, before = words[index].lowercase, word_at(words, index - 1)
    if _names_time(words, index):
        return True
    if low in SUBORDINATORS:
        # "Because of", "as for", "as well", "as usual" and "as such" start no clause.
        return word_at(words, index + 1).lowercase not in ("of", "for", "well", "usual", "such")
    if low == "that":
        return before.tag.startswith(("NN", "VB"))
    if _names_time(words, index - 2):
        return False
    # "The book I read": a relative clause without "that". But in "yesterday I read" the noun is a time.
    is_after_noun = before.tag in ("NN", "NNS", "NNP") and before.lowercase not in TIMES
    return low in SUBJECTS and is_after_noun and index > 1


def _names_time(words: Words, index: int) -> bool:
    """Return whether a clause of time starts at a word, as in ``every time the bell rings``."""
    first, noun, subject = (word_at(words, index + place) for place in range(3))
    if first.lowercase not in ("every", "each", "any", "next", "first", "last", "the"):
        return False
    if noun.lowercase not in MOMENTS:
        return False
    return subject.tag in ("PRP", "NNP", "PRP$", "NNS") or subject.lowercase in ("a", "the", "this")
