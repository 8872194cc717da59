"""Fusions of two sentences about one thing: an apposition, two verbs of one subject, a relative clause.

Each rule returns the fused sentence, or nothing where it is not certain that both speak of one thing.
"""

from __future__ import annotations

from embassay.builders._clauses import Group, groups
from embassay.builders._tagger import possible
from embassay.builders._verbs import BE, DO, HAVE, MODALS, SUBORDINATORS, is_adverb, is_finite, lower, wordset
from embassay.builders._words import Tagged, Word

PERSONS = frozenset({"he", "she"})
LONGEST_SUBJECT = 6
"""Words of a subject that an apposition follows, at most."""
LONGEST_SIMPLE = 12
"""Words of a sentence that "and" without a comma follows, at most."""
_KINSHIP = wordset(
    "king queen wife husband father mother son daughter brother sister friend assistant president uncle aunt cousin "
    "child boy girl heir rival colleague client guest pope saint bishop judge priest monk general chief boss guide "
    "prince princess duke spouse student pupil nephew niece mate nurse patient person people baby captain"
)
_PERSON_ENDINGS = ("er", "or", "ist", "ian", "man", "woman", "ant", "ee", "eer", "ess")
_OPENERS = ("DT", "NN", "NNS", "NNP", "NNPS", "PRP", "PRP$", "JJ", "CD")
"""Tags that a subject begins with."""
_PLACES = wordset("in at from to near on of into through across")


def apposed(a: Tagged, b: Tagged) -> str | None:
    """Return "X, a Y, did B." for "X is a Y." and "X (or it, he, she, they) did B."."""
    simple = _simple(a)
    if simple is None or any(mark in a.text for mark in ",()"):
        return None
    words, copula = a.words, simple.first
    subject, plural = words[:copula], lower(words[copula]) in {"are", "were"}
    if lower(words[copula]) not in {"is", "was", "are", "were"} or simple.last != copula or simple.negator is not None:
        return None
    if not 1 <= len(subject) <= LONGEST_SUBJECT or subject[0].tag.startswith("PRP") or _points(subject[0]):
        return None
    if not _is_noun_phrase(words[copula + 1 :], plural):
        return None
    start = _predicate(a, b, subject, plural, complement=True)
    if start is None:
        return None
    past = lower(words[copula]) in {"was", "were"}
    if past and b.words[_finite_from(b, start)].tag != "VBD" and lower(b.words[start]) not in {"was", "were", "had"}:
        return None
    name = a.text[: subject[-1].end]
    return f"{name}, {_body(a)[words[copula + 1].start :]}, {b.text[b.words[start].start :]}"


def joined_verbs(a: Tagged, b: Tagged) -> str | None:
    """Return "X did A and did B." for "X did A." and "X (or the pronoun that stands for it) did B."."""
    simple = _simple(a)
    if simple is None or any(lower(word) in SUBORDINATORS | {"that", ";"} for word in a.words):
        return None
    subject = a.words[: simple.first]
    while subject and is_adverb(subject[-1]):
        subject = subject[:-1]
    if not subject or subject[0].tag not in _OPENERS or any(w.text == "," for w in subject) or _points(subject[0]):
        return None
    start = _predicate(a, b, subject, _is_plural(subject), complement=False)
    if start is None or _reads_on(a, simple, b.words[_finite_from(b, start)]):
        return None
    long = len(a.words) > LONGEST_SIMPLE or any(lower(word) in {"and", "or", ","} for word in a.words)
    return f"{_body(a)}{',' if long else ''} and {b.text[b.words[start].start :]}"


def relative(a: Tagged, b: Tagged) -> str | None:
    """Return "A, which did B." for "A." and "This did B.", where "this" is what the whole sentence says."""
    words = b.words
    if len(words) < 3 or lower(words[0]) != "this" or not (is_finite(words, 1) or _is_past(words, 1)):
        return None
    if lower(words[1]) in BE and words[2].tag in {"DT", "NN", "PRP$", "NNP", "CD", "JJ"}:
        return None
    if any(lower(word) in SUBORDINATORS | {"that", ";"} for word in a.words) or words[1].text[0] == "'":
        return None
    return f"{_body(a)}, which {b.text[words[1].start :]}"


def _is_past(words: tuple[Word, ...], place: int) -> bool:
    """Say whether a word that may be a past tense has what an object begins with after it: "led to", "broke the"."""
    return "VBD" in possible(lower(words[place])) and words[place + 1].tag in {"DT", "TO", "IN", "PRP$", "PRP"}


def _body(tagged: Tagged) -> str:
    """Return the text without its full stop."""
    return tagged.text.rstrip().removesuffix(".")


def _simple(tagged: Tagged) -> Group | None:
    """Return the verb group of a sentence that has only one, and begins with its subject."""
    found = groups(tagged)
    return found[0] if len(found) == 1 and found[0].first > 0 else None


def _points(word: Word) -> bool:
    """Say whether a subject is no name of a thing: "there", "this" …"""
    return lower(word) in {"there", "this", "that", "these", "those", "here", "what", "one", "some", "many", "both"}


def _is_noun_phrase(words: tuple[Word, ...], plural: bool) -> bool:
    """Say whether what follows a copula names a thing: "a river in Spain", "animals that …"."""
    if len(words) < 3:
        return False
    if lower(words[0]) in {"a", "an", "the"} or (lower(words[0]) == "one" and lower(words[1]) == "of"):
        return lower(words[1]) not in {"same", "case", "result", "reason", "lot", "few", "most"} - {"most"}
    return plural and words[0].tag == "NNS"


def _is_plural(subject: tuple[Word, ...]) -> bool:
    """Say whether a subject is more than one: its last noun before a preposition, or several joined by "and"."""
    head = next((place for place, word in enumerate(subject) if word.tag == "IN"), len(subject))
    if any(lower(word) == "and" for word in subject) or lower(subject[0]) in {"they", "we"}:
        return True
    return head > 0 and subject[head - 1].tag in {"NNS", "NNPS"}


def _predicate(a: Tagged, b: Tagged, subject: tuple[Word, ...], plural: bool, complement: bool) -> int | None:
    """Return where the predicate of b begins, if its subject is that of a; None where it is not certain.

    Parameters
    ----------
    complement
        Whether a says what its subject is, so that a pronoun can hardly mean another thing.
    """
    words = b.words
    same = [lower(word) for word in words[: len(subject)]] == [lower(word) for word in subject]
    if same and (len(subject) > 1 or lower(words[0]) != "it" or not (_expletive(a) or _expletive(b))):
        start = len(subject)
    elif _stands_for(lower(words[0]), a, subject, plural, complement) and not _expletive(b):
        start = 1
    else:
        return None
    if _finite_from(b, start) < 0 or words[start].text[0] == "'":
        return None
    return start


def _finite_from(tagged: Tagged, start: int) -> int:
    """Return the place of the finite verb that a predicate opens with, adverbs passed over; -1 for none."""
    place = start
    while place < len(tagged.words) and is_adverb(tagged.words[place]):
        place += 1
    return place if place < len(tagged.words) and is_finite(tagged.words, place) else -1


def _stands_for(pronoun: str, a: Tagged, subject: tuple[Word, ...], plural: bool, complement: bool) -> bool:
    """Say whether a pronoun surely means the subject of a."""
    named = all(word.tag == "NNP" for word in subject)
    if pronoun in PERSONS:
        return named and (complement or not _other_person(a, len(subject)))
    if pronoun == "they":
        return plural and complement
    return pronoun == "it" and not plural and complement


def _other_person(a: Tagged, after: int) -> bool:
    """Say whether a sentence names a person, perhaps, after its subject."""
    for place in range(after, len(a.words)):
        word, before = a.words[place], a.words[place - 1]
        if word.tag.startswith("NNP") and lower(before) not in _PLACES and before.tag != "NNP":
            return True
        if word.tag == "NN" and (lower(word) in _KINSHIP or lower(word).endswith(_PERSON_ENDINGS)):
            return True
        if lower(word) in {"he", "she", "him", "someone", "who"}:
            return True
    return False


def _expletive(tagged: Tagged) -> bool:
    """Say whether "it" at the start may mean nothing: "It is known that …", "It is hard to …", "It rained"."""
    words = tagged.words
    if lower(words[0]) != "it":
        return False
    if any(
        lower(word) in {"rained", "rains", "snowed", "snows", "seems", "seemed", "appears", "appeared"}
        for word in words[1:3]
    ):
        return True
    return any(lower(word) in {"that", "to", "whether", "who", "for"} for word in words[2:7]) and lower(
        words[1]
    ) in BE | {
        *MODALS,
        *HAVE,
        *DO,
    }


def _reads_on(a: Tagged, group: Group, verb: Word) -> bool:
    """Say whether a verb after "and" would be drawn under an auxiliary, a modal or an infinitive of the first."""
    if lower(verb) in BE | HAVE | MODALS | {"does", "did"} or verb.tag == "VBZ":
        return False
    infinitive = any(word.tag in {"TO", "MD"} for word in a.words)
    return group.first != group.last or (infinitive and verb.tag in {"VBP", "VB"})
