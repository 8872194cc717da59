"""What stands around an adjective or a verb: the frame that decides whether a replacement fits there.

A frame is a short name. Of adjectives: ``at`` (before its noun) or, after a copula, what follows: ``end`` (of the
clause), ``inf``, ``to``, ``that``, ``cl`` (a clause without "that"), or a preposition. Of verbs: ``np`` (an object),
``npe`` (an object that ends the clause), ``npto`` (an object and an infinitive), ``ger``, ``inf``, ``that``, ``cl``,
``wh``, ``end``, ``pas`` (passive), or a preposition. ``at_`` is the preposition "at".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from embassay.testsets.english.tagger import possible
from embassay.testsets.english.words import Tagged, Word, word_at

# --- Noun phrases of a tagged sentence, the end of a clause, and what kind of subject a word is ---

PERSONS = frozenset(
    "man woman person people guy girl boy kid child friend mom dad mother father brother sister son daughter wife "
    "husband parent doctor teacher student player coach boss lady everyone everybody someone somebody anyone nobody "
    "family team neighbor men women children guys girls boys kids friends parents fans fan driver customer".split()
)
_SUBORDINATORS = frozenset("because if when while though although since unless until but before after".split())
_ENDS = frozenset({".", ",", ":", "CC"})
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
OBJECTS = frozenset("me you him her it them us".split())
SELVES = frozenset("myself yourself himself herself itself ourselves yourselves themselves".split())


def noun_phrase(words: Sequence[Word], start: int) -> tuple[int, int] | None:
    """Return (index of the head, index after the end) of the plain noun phrase that starts here; None for none.

    A plain one is a pronoun, a name, or determiner, adjectives and nouns, without what follows a noun.
    """
    if start >= len(words):
        return None
    first = word_at(words, start).lowercase
    if (first in OBJECTS and not (first == "her" and _is_modifier(words, start + 1))) or first in SELVES:
        return start, start + 1
    at = start
    while at < len(words) and words[at].tag in {"DT", "PRP$", "CD", "JJ", "JJR", "JJS", "PDT"}:
        at += 1
    head = at
    while head < len(words) and words[head].tag in NOUNS:
        head += 1
    if head > at:
        if head < len(words) and words[head].tag == "POS":
            owned = noun_phrase(words, head + 1)
            return owned if owned and words[owned[0]].tag in NOUNS else None
        return head - 1, head
    if first in {"this", "that", "these", "those"} and at == start + 1 and ends(words, at):
        return start, start + 1
    return None


def subject_marks(words: Sequence[Word], place: int) -> set[str]:
    """Return what kind of subject a word is."""
    name, start = word_at(words, place).lowercase, place
    while start >= 0 and words[start].tag in {*NOUNS, "JJ", "CD", "DT", "PRP$", "POS"}:
        start -= 1
    if place > start >= 0 and words[start].tag in {"IN", "TO"}:
        return set()  # a noun after a preposition: the subject stands before
    if name in {"i", "you", "we", "who"}:
        return {"prs"}
    if name in {"he", "she"} or (place >= 0 and words[place].tag == "NNP") or name in PERSONS:
        return {"prs", "prs3"}
    if name == "they":
        return {"prs", "prs3", "they"}
    if name in {"it", "that", "this", "which", "what", "something"}:
        return {"it", name}
    return {"it", "they"} if place >= 0 and words[place].tag in {"NN", "NNS"} else set()


def ends(words: Sequence[Word], place: int) -> bool:
    """Say whether a clause ends before this place."""
    return place >= len(words) or words[place].tag in _ENDS or word_at(words, place).lowercase in _SUBORDINATORS


def is_noun(words: Sequence[Word], place: int) -> bool:
    """Say whether a noun or a pronoun stands at a place."""
    return place >= 0 and words[place].tag in {*NOUNS, "PRP"}


def _is_modifier(words: Sequence[Word], place: int) -> bool:
    return place < len(words) and words[place].tag in {*NOUNS, "JJ", "JJR", "JJS", "CD"}


# --- What stands around an adjective or a verb: the frame that decides whether a replacement fits there ---

COPULAS = frozenset({"be", "seem", "look", "feel", "sound", "become", "stay", "remain"})
DEGREES = frozenset("very so too as how more most less least that this".split())
COMPARING = frozenset("as more most less least".split())
_PREPOSITIONS = frozenset("on in at to of for with about by from into over".split())
PARTICLES = frozenset("up out off down away back over around along apart together through".split())
_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})
_LATER = frozenset("now today here there anyway though then again yesterday tonight tomorrow right too either".split())
_TIMES = frozenset("night week month year day morning evening afternoon time times summer winter spring fall".split())
_WHEN = frozenset("last next this that every each all some one any the".split())


@dataclass(frozen=True)
class Around:
    """What stands around a word.

    Attributes
    ----------
    frames
        The names of the frames that hold.
    near
        The words that the list's ``only`` and ``never`` are compared with: before, after, head of the object or noun.
    head
        The noun or pronoun that it belongs to, in lower case; empty for none.
    marks
        What else a word may ask for: ``be`` or ``make`` (its copula), ``deg`` or ``nodeg``, ``prs``, ``prs3``, ``it``,
        ``they`` (its subject), ``progressive``, ``imperative``.
    """

    frames: frozenset[str]
    near: frozenset[str]
    head: str = ""
    marks: frozenset[str] = frozenset()


def around_adjective(words: Sequence[Word], place: int) -> Around | None:
    """Return the surroundings of an adjective; None where the rules do not decide."""
    before, after = word_at(words, place - 1).lowercase, word_at(words, place + 1).lowercase
    if before in COMPARING or after in {"-", "enough", "as"}:
        return None
    degree = {"deg"} if before in DEGREES else {"nodeg"}
    if place + 1 < len(words) and words[place + 1].tag in {"NN", "NNS"} and not is_noun(words, place - 1):
        last = place + 1
        while last + 1 < len(words) and words[last + 1].tag in {"NN", "NNS"}:
            last += 1
        head = word_at(words, last).lowercase
        return Around(frozenset({"at"}), frozenset({before, after, head}), head, frozenset(degree))
    copula = _copula(words, place)
    if copula is None:
        return None
    at, marks = copula
    near = {
        before,
        after,
        *({"tobe"} if word_at(words, at).lowercase == "be" and word_at(words, at - 1).lowercase == "to" else ()),
    }
    return Around(frozenset(_after_adjective(words, place + 1)), frozenset(near), "", frozenset(degree | marks))


def around_verb(words: Sequence[Word], place: int) -> Around | None:
    """Return the surroundings of a verb in a finite group or an infinitive; None where the rules do not decide."""
    tag, after, auxiliaries = words[place].tag, word_at(words, place + 1).lowercase, _auxiliaries(words, place)
    lemmas = {word.lemma for word in auxiliaries}
    if tag == "VBN" and "be" in lemmas:
        return _around_passive(words, place, auxiliaries)
    if (tag == "VBN" and "have" not in lemmas) or (tag == "VBG" and "be" not in lemmas):
        return None
    bare = all(word.tag == "RB" for word in auxiliaries)
    if bare and tag in {"VBD", "VBP", "VBZ"} and not _follows_subject(words, place - len(auxiliaries)):
        return None
    if after in PARTICLES | {"-"} or (place + 1 < len(words) and words[place + 1].tag == "RP"):
        return None
    frames, head, end = _after_verb(words, place + 1)
    subject = subject_marks(words, place - len(auxiliaries) - 1)
    if tag == "VBG" and ("JJ" in possible(words[place].lowercase) or "prs" not in subject):
        frames -= {"end"}  # "it is relaxing": an adjective
    if not frames or word_at(words, end).lowercase in PARTICLES:
        return None
    marks = {"progressive"} if tag == "VBG" else set()
    if bare and tag == "VB" and place and words[place - 1].tag in {"CD", "DT", "JJ", "PRP$", "IN", "POS"}:
        return None
    alone = (bare or lemmas <= {"do", "not"}) and not is_noun(words, place - len(auxiliaries) - 1)
    marks |= {"imperative"} if tag == "VB" and alone else set()
    if words[end - 1].tag == "NNP" and frames & {"np", "npe"}:
        marks.add("proper")
    near = {
        word_at(words, place - 1).lowercase,
        after,
        head,
        word_at(words, end).lowercase,
        *(word.lemma for word in auxiliaries),
        *marks,
    }
    return Around(frozenset(frames), frozenset(near), head, frozenset(marks | subject))


def _around_passive(words: Sequence[Word], place: int, auxiliaries: Sequence[Word]) -> Around | None:
    """Return the surroundings of a passive verb, whose head is its subject; None where it may be an adjective."""
    at, after = place - len(auxiliaries) - 1, word_at(words, place + 1).lowercase
    degree = any(word.tag == "RB" and word.lowercase in DEGREES for word in auxiliaries)
    closed = ends(words, place + 1) or words[place + 1].tag in {"IN", "RB", "CD"}
    if degree or not closed or after in PARTICLES or not is_noun(words, at):
        return None
    head = word_at(words, at).lowercase
    near = frozenset({*(word.lowercase for word in auxiliaries), after, head})
    return Around(frozenset({"pas"}), near, head, frozenset(subject_marks(words, at)))


def has_subject(tagged: Tagged, place: int | None) -> bool:
    """Say whether the group of a verb plainly has its subject before it, or is an imperative; False for no verb.

    Plainly is: from the last comma on there is nothing but adverbs, phrases with a preposition, and the subject.
    """
    if place is None:
        return False
    words = tagged.words
    end = place - len(_auxiliaries(words, place))
    start = next((at + 1 for at in range(end - 1, -1, -1) if words[at].tag in {",", ":", "."}), 0)
    while start < end and words[start].tag in {"RB", "CC", "UH"}:
        start += 1
    if start == end:
        return (words[end].tag == "VB" or word_at(words, end).lowercase in {"do", "let"}) and word_at(
            words, place + 1
        ).lowercase != ","
    while start < end and words[start].tag == "IN" and (phrase := noun_phrase(words, start + 1)):
        start = phrase[1]
    while start < end and words[start].tag in {"RB", "CC", "UH"}:
        start += 1
    if start >= end:
        return False
    if words[start].tag in {"PRP", "EX"} or word_at(words, start).lowercase in {
        "this",
        "that",
        "these",
        "those",
        "who",
        "what",
    }:
        after = start + 1
        if after == end:
            return True
    subject = noun_phrase(words, start)
    after = subject[1] if subject else end + 1
    while after < end and words[after].tag == "IN" and (phrase := noun_phrase(words, after + 1)):
        after = phrase[1]
    return after == end


def _after_adjective(words: Sequence[Word], place: int) -> set[str]:
    """Return the frames that what follows a predicative adjective makes."""
    if ends(words, place) or (word_at(words, place).lowercase in _LATER and ends(words, place + 1)):
        return {"end"}
    word, tag = word_at(words, place).lowercase, words[place].tag
    if word == "to":
        return {"inf"} if place + 1 < len(words) and words[place + 1].tag == "VB" else {"to"}
    if word == "that":
        return {"that"} if _is_clause(words, place + 1) else set()
    if tag in {"WRB", "WP"}:
        return {word, "wh"}
    if tag == "IN" or word in {"whether", "online"}:
        return {"at_" if word == "at" else word}
    return {"cl"} if _is_clause(words, place) else set()


def _after_verb(words: Sequence[Word], place: int) -> tuple[set[str], str, int]:
    """Return the frames that what follows a verb makes, the head of its object, and the index after the object."""
    if ends(words, place) or (
        words[place].tag == "RB"
        and word_at(words, place).lowercase not in PARTICLES | _PREPOSITIONS
        and ends(words, place + 1)
    ):
        return {"end"}, "", place
    word, tag = word_at(words, place).lowercase, words[place].tag
    if word == "to":
        return ({"inf"} if place + 1 < len(words) and words[place + 1].tag == "VB" else set()), "", place
    if word == "that" and _is_clause(words, place + 1):
        return {"that"}, "", place
    if _is_clause(words, place):
        return {"cl"}, "", place
    if tag == "VBG" or (word.endswith("ing") and "VBG" in possible(word)):
        return {"ger"}, "", place
    if tag in {"WRB", "WP"}:
        return {"wh"}, "", place
    if phrase := noun_phrase(words, place):
        return _after_object(words, *phrase)
    return ({"at_" if word == "at" else word} if tag == "IN" else set()), "", place


def _after_object(words: Sequence[Word], head: int, end: int) -> tuple[set[str], str, int]:
    """Return the frames of an object, by what follows it."""
    name, tag = word_at(words, head).lowercase, words[end].tag if end < len(words) else "."
    if name == "lot" and word_at(words, end + 1).lowercase in _TIMES:
        return set(), name, end
    if word_at(words, end).lowercase == "ago" or (name in _TIMES and word_at(words, head - 1).lowercase in _WHEN):
        return set(), name, end  # "slept last night": no object
    if ends(words, end) or (word_at(words, end).lowercase in _LATER and ends(words, end + 1)):
        return {"np", "npe"}, name, end
    if tag == "TO" and end + 1 < len(words) and words[end + 1].tag == "VB":
        return {"npto"}, name, end
    if tag in {"IN", "WDT", "WP", "WRB"} or (tag in {"RB", "RBR"} and word_at(words, end).lowercase not in PARTICLES):
        return {"np"}, name, end
    relative = tag == "PRP" and words[head].tag in NOUNS and _is_clause(words, end)
    return ({"np"} if relative else set()), name, end


def _is_clause(words: Sequence[Word], place: int) -> bool:
    """Say whether a clause starts here: a subject, adverbs, and a finite verb."""
    if place >= len(words):
        return False
    subject = words[place]
    phrase = noun_phrase(words, place)
    end = place + 1 if subject.tag in {"PRP", "EX", "DT"} and not phrase else phrase[1] if phrase else 0
    if end and subject.lowercase in {"me", "him", "them", "us", *SELVES}:
        return False
    while end and end < len(words) and words[end].tag in {"RB", "RBR"}:
        end += 1
    return bool(end) and end < len(words) and words[end].tag in _FINITE


def _copula(words: Sequence[Word], place: int) -> tuple[int, set[str]] | None:
    """Return the index of the copula of a predicative adjective and what it and its subject are."""
    at = place - 1
    while at >= 0 and (words[at].tag == "RB" or word_at(words, at).lowercase in {"that", "this"}):
        at -= 1
    if at < 0:
        return None
    if words[at].lemma in COPULAS and words[at].tag in {"VB", "VBP", "VBZ", "VBD", "VBN"}:
        verbs = _auxiliaries(words, at)
        marks = {"be"} if words[at].lemma == "be" else {"looks"}
        return at, marks | subject_marks(words, at - len(verbs) - 1)
    if word_at(words, at).lowercase in OBJECTS and at and words[at - 1].lemma == "make":
        return at - 1, {"make", *({"it"} if word_at(words, at).lowercase == "it" else {"prs", "prs3"})}
    return None


def _auxiliaries(words: Sequence[Word], place: int) -> list[Word]:
    """Return the words right before a verb that belong to its group: auxiliaries, negations, adverbs, "to"."""
    at = place
    while at and (
        words[at - 1].tag in {"MD", "RB", "TO"}
        or (words[at - 1].lemma in {"be", "have", "do"} and words[at - 1].tag.startswith("VB"))
    ):
        at -= 1
    return list(words[at:place])


def _follows_subject(words: Sequence[Word], place: int) -> bool:
    """Say whether what stands before a finite verb can be its subject, or joins it to another verb."""
    before = words[place - 1].tag if place else ""
    if word_at(words, place - 1).lowercase in {"me", "him", "them", "us", *SELVES}:
        return False
    if word_at(words, place - 1).lowercase == "that" and place > 1 and words[place - 2].tag == "PRP":
        return False  # "makes you that worried"
    return before in {*NOUNS, "PRP", "WP", "WDT", "CC", "EX"} or word_at(words, place - 1).lowercase in {
        "this",
        "that",
        "these",
        "those",
    }
