"""Patterns that fuse two sentences with the same subject: an apposition, two verbs, a relative clause.

A pattern returns None if it does not fit, or if the second sentence may be about something else.
"""

from __future__ import annotations

from embassay.testsets.english.clauses import Group, groups, is_adverb, is_finite
from embassay.testsets.english.word_classes import AUXILIARIES, BE, HAVE, MODALS, SUBORDINATORS, wordset
from embassay.testsets.english.words import Tagged, Word, word_at

LONGEST_SIMPLE = 12
"""The maximum number of words of a sentence before an "and" without a comma."""
_PERSON_ENDINGS = ("er", "or", "ist", "ian", "man", "woman", "ant", "ee", "eer", "ess")
_PLACES = wordset("in at from to near on of into through across")
_POINTERS = wordset("there this that these those here what one some many both")
"""Words that refer to something but do not name it."""
_NO_COMPLEMENTS = wordset("same case result reason lot few")
"""Words after an article that do not name a kind of thing: "is the reason"."""
_CLAUSES = SUBORDINATORS | {"that", ";"}


def apposed(a: Tagged, b: Tagged) -> str | None:
    """Return "X, a Y, did B." for "X is a Y." and "X (or it, he, she, they) did B."."""
    group = _only_group(a)
    if group is None or any(mark in a.text for mark in ",()"):
        return None
    subject, copula = a.words[: group.first], a.words[group.first]
    if _is_pointer(subject[0]) or subject[0].tag == "PRP":
        return None
    if copula.lowercase not in {"is", "was", "are", "were"}:
        return None
    article, noun = word_at(a.words, group.first + 1), word_at(a.words, group.first + 2)
    names_a_kind = article.lowercase in {"a", "an", "the"} and noun.lowercase not in _NO_COMPLEMENTS
    is_one_of = article.lowercase == "one" and noun.lowercase == "of"
    if not names_a_kind and not is_one_of:
        return None
    # After "X is a Y" a pronoun can hardly refer to another thing.
    pronouns = {"it"}
    if copula.lowercase in {"are", "were"}:
        pronouns = {"they"}
    if all(word.tag == "NNP" for word in subject):
        pronouns |= {"he", "she"}
    start = _predicate(a, b, subject, pronouns)
    if start is None:
        return None
    name = a.text[: subject[-1].end]
    return f"{name}, {_body(a)[article.start :]}, {b.text[b.words[start].start :]}"


def joined_verbs(a: Tagged, b: Tagged) -> str | None:
    """Return "X did A and did B." for "X did A." and "X (or he, she) did B."."""
    group = _only_group(a)
    if group is None or any(word.lowercase in _CLAUSES for word in a.words):
        return None
    end = group.first
    while end and is_adverb(a.words[end - 1]):
        end -= 1
    subject = a.words[:end]
    if not subject or _is_pointer(subject[0]):
        return None
    is_clear = all(word.tag == "NNP" for word in subject) and not _names_other_person(a, end)
    pronouns = {"he", "she"} if is_clear else set[str]()
    start = _predicate(a, b, subject, pronouns)
    if start is None:
        return None
    # After an auxiliary, a second verb without its own would be read with that one: "was built and burned".
    first_has_auxiliary = group.first != group.last
    verb = b.words[_finite_from(b, start)]
    second_is_apart = verb.lowercase in BE | HAVE | MODALS | {"does", "did"} or verb.tag == "VBZ"
    if first_has_auxiliary and not second_is_apart:
        return None
    is_long = len(a.words) > LONGEST_SIMPLE or any(word.lowercase in {"and", "or", ","} for word in a.words)
    comma = ""
    if is_long:
        comma = ","
    return f"{_body(a)}{comma} and {b.text[b.words[start].start :]}"


def relative(a: Tagged, b: Tagged) -> str | None:
    """Return "A, which did B." for "A." and "This did B.", if "this" refers to the whole first sentence."""
    words = b.words
    if words[0].lowercase != "this" or len(words) < 3 or not is_finite(words, 1):
        return None
    # The "this" of "This is a river" refers to one word of the first sentence.
    if words[1].lowercase in BE and words[2].tag in {"DT", "NN", "PRP$", "NNP", "CD", "JJ"}:
        return None
    if any(word.lowercase in _CLAUSES for word in a.words):
        return None
    return f"{_body(a)}, which {b.text[words[1].start :]}"


def _body(tagged: Tagged) -> str:
    """Return the text without its full stop."""
    return tagged.text.rstrip().removesuffix(".")


def _only_group(tagged: Tagged) -> Group | None:
    """Return the verb group of a sentence; None if there are several, or no subject before it."""
    verb_groups = groups(tagged)
    if len(verb_groups) != 1 or verb_groups[0].first == 0:
        return None
    return verb_groups[0]


def _is_pointer(word: Word) -> bool:
    return word.lowercase in _POINTERS


def _predicate(a: Tagged, b: Tagged, subject: tuple[Word, ...], pronouns: set[str]) -> int | None:
    """Return the index at which the predicate of b starts, if b has the subject of a or one of the pronouns; else None.

    Parameters
    ----------
    subject
        The subject of a.
    pronouns
        Pronouns that certainly refer to that subject.
    """
    words = b.words
    has_same_subject = [word.lowercase for word in words[: len(subject)]] == [word.lowercase for word in subject]
    if has_same_subject:
        start = len(subject)
        if subject[0].lowercase == "it" and _is_expletive(a):
            return None
    elif words[0].lowercase in pronouns:
        start = 1
    else:
        return None
    if _is_expletive(b) or _finite_from(b, start) < 0 or words[start].text.startswith("'"):
        return None
    return start


def _finite_from(tagged: Tagged, start: int) -> int:
    """Return the index of the finite verb at the start of a predicate, after any adverbs; -1 if there is none."""
    index = start
    while index < len(tagged.words) and is_adverb(tagged.words[index]):
        index += 1
    has_finite_verb = index < len(tagged.words) and is_finite(tagged.words, index)
    if has_finite_verb:
        return index
    return -1


def _names_other_person(a: Tagged, after: int) -> bool:
    """Return whether a sentence may name a person after its subject, which ends before index ``after``."""
    for index in range(after, len(a.words)):
        word, before = a.words[index], a.words[index - 1]
        if word.tag.startswith("NNP") and before.lowercase not in _PLACES and before.tag != "NNP":
            return True
        if word.tag == "NN" and word.lowercase.endswith(_PERSON_ENDINGS):
            return True
    return False


def _is_expletive(tagged: Tagged) -> bool:
    """Return whether "it" at the start may refer to nothing: "It is known that …", "It is hard to …"."""
    words = tagged.words
    if words[0].lowercase != "it" or word_at(words, 1).lowercase not in AUXILIARIES:
        return False
    return any(word.lowercase in {"that", "to", "whether", "who", "for"} for word in words[2:7])
