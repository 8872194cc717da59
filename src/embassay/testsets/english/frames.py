"""What stands around an adjective or a verb: the frame that decides whether a replacement fits there.

A frame is a short name. Of adjectives: ``at`` (before its noun) or, after a copula, what follows: ``end`` (of the
clause), ``inf``, ``to``, ``cl`` (a clause without "that"), ``wh``, or a preposition or ``that``. Of verbs: ``np`` (an
object), ``npe`` (an object that ends the clause), ``npto`` (an object and an infinitive), ``ger``, ``inf``, ``that``,
``cl``, ``wh``, ``end``, ``pas`` (passive), or a preposition. ``at_`` is the preposition "at".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from embassay.testsets.english.noun_phrases import (
    NOUNS,
    OBJECTS,
    SELVES,
    NounPhrase,
    ends_clause,
    is_noun,
    noun_phrase,
    subject_marks,
)
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.word_classes import wordset
from embassay.testsets.english.words import Tagged, Word, word_at

COPULAS = wordset("be seem look feel sound become stay remain")
DEGREES = wordset("very so too as how more most less least that this")
COMPARING = wordset("as more most less least")
PARTICLES = wordset("up out off down away back over around along apart together through")
_LATER = wordset("now today here there anyway though then again yesterday tonight tomorrow right too either")
"""Words after an adjective that belong to the clause."""
_TIMES = wordset("night week month year day morning evening afternoon time times summer winter spring fall")
_WHEN = wordset("last next this that every each all some one any the")
_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})


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
        What else a word may ask for: ``be`` (its copula), ``deg`` or ``nodeg``, ``prs``, ``prs3``, ``it``, ``they``
        (its subject), ``progressive``, ``imperative``.
    """

    frames: frozenset[str]
    near: frozenset[str]
    head: str = ""
    marks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Complement:
    """What follows a verb: the frames it makes, the head of its object (or nothing), the index after the object."""

    frames: frozenset[str]
    head: str
    end: int


def around_adjective(words: Sequence[Word], place: int) -> Around | None:
    """Return the surroundings of an adjective; None where the rules do not decide."""
    before, after = word_at(words, place - 1), word_at(words, place + 1)
    if before.lowercase in COMPARING or after.lowercase in {"-", "enough", "as"}:
        return None
    marks = {"deg" if before.lowercase in DEGREES else "nodeg"}
    near = {before.lowercase, after.lowercase}
    if after.tag in {"NN", "NNS"} and not is_noun(before):
        last = place + 1
        while word_at(words, last + 1).tag in {"NN", "NNS"}:
            last += 1
        head = words[last].lowercase
        return Around(frozenset({"at"}), frozenset({*near, head}), head, frozenset(marks))
    at = place - 1
    while word_at(words, at).tag == "RB":
        at -= 1
    copula = word_at(words, at)
    if copula.lemma not in COPULAS or copula.tag not in {"VB", "VBP", "VBZ", "VBD", "VBN"}:
        return None
    if copula.lemma == "be":
        marks.add("be")
    if copula.lowercase == "be" and word_at(words, at - 1).lowercase == "to":
        near.add("tobe")
    marks |= subject_marks(words, _group_start(words, at) - 1)
    return Around(_after_adjective(words, place + 1), frozenset(near), "", frozenset(marks))


def around_verb(words: Sequence[Word], place: int) -> Around | None:
    """Return the surroundings of a verb in a finite group or an infinitive; None where the rules do not decide."""
    tag, start = words[place].tag, _group_start(words, place)
    auxiliaries = words[start:place]
    lemmas = {word.lemma for word in auxiliaries}
    if tag == "VBN" and "be" in lemmas:
        return _around_passive(words, place, start)
    if _may_be_no_verb(words, place, start):
        return None

    before, after = word_at(words, place - 1), word_at(words, place + 1)
    complement, subject = _after_verb(words, place + 1), subject_marks(words, start - 1)
    frames, following = complement.frames, word_at(words, complement.end)
    if tag == "VBG" and "prs" not in subject:
        frames -= {"end"}  # "it is relaxing": an adjective
    # A verb with a particle is another verb: "turn it down".
    if not frames or after.lowercase in PARTICLES | {"-"} or following.lowercase in PARTICLES:
        return None
    marks = {"progressive"} if tag == "VBG" else set()
    has_subject = is_noun(word_at(words, start - 1))
    if tag == "VB" and not has_subject and all(word.tag == "RB" or word.lemma == "do" for word in auxiliaries):
        marks.add("imperative")
    if words[complement.end - 1].tag == "NNP":
        marks.add("proper")
    near = {before.lowercase, after.lowercase, complement.head, following.lowercase}
    return Around(frames, frozenset(near | lemmas | marks), complement.head, frozenset(marks | subject))


def _may_be_no_verb(words: Sequence[Word], place: int, start: int) -> bool:
    """Return whether a word tagged as a verb may be none: a participle by itself, or a form without its subject."""
    tag, before, auxiliaries = words[place].tag, word_at(words, start - 1), words[start:place]
    lemmas = {word.lemma for word in auxiliaries}
    if (tag == "VBN" and "have" not in lemmas) or (tag == "VBG" and "be" not in lemmas):
        return True
    if before.lowercase == "that" and word_at(words, start - 2).tag == "PRP":
        return True  # "makes you that worried"
    if any(word.tag != "RB" for word in auxiliaries):
        return False
    if tag in {"VBD", "VBP", "VBZ"}:
        return not _may_be_subject(before)
    return tag == "VB" and word_at(words, place - 1).tag in {"CD", "DT", "JJ", "PRP$", "IN", "POS"}


def _around_passive(words: Sequence[Word], place: int, start: int) -> Around | None:
    """Return the surroundings of a passive verb, whose head is its subject; None where it may be an adjective.

    Parameters
    ----------
    start
        The first word of the verb group.
    """
    subject, after = word_at(words, start - 1), word_at(words, place + 1)
    auxiliaries = {word.lowercase for word in words[start:place]}
    is_closed = ends_clause(words, place + 1) or after.tag in {"IN", "RB", "CD"}
    if not is_closed or auxiliaries & DEGREES or not is_noun(subject):
        return None
    near = frozenset({*auxiliaries, after.lowercase, subject.lowercase})
    marks = frozenset(subject_marks(words, start - 1))
    return Around(frames=frozenset({"pas"}), near=near, head=subject.lowercase, marks=marks)


def has_subject(tagged: Tagged, place: int) -> bool:
    """Return whether the group of a verb plainly has its subject before it, or is an imperative.

    Plainly is: from the last comma on there is nothing but adverbs, phrases with a preposition, and the subject.
    """
    words = tagged.words
    end = _group_start(words, place)
    start = end
    while start and words[start - 1].tag not in {",", ":", "."}:
        start -= 1
    start = _skip(words, start, end)
    if start == end:
        is_imperative = words[end].tag == "VB" or words[end].lowercase in {"do", "let"}
        return is_imperative and word_at(words, place + 1).lowercase != ","
    start = _skip(words, _skip_phrases(words, start), end)
    first = word_at(words, start)
    is_pronoun = first.tag in {"PRP", "EX"} or first.lowercase in {"this", "that", "these", "those", "who", "what"}
    if is_pronoun and start + 1 == end:
        return True
    subject = noun_phrase(words, start)
    return subject is not None and _skip_phrases(words, subject.end) == end


def _skip(words: Sequence[Word], start: int, end: int) -> int:
    """Return the first index from ``start`` on that has no adverb, conjunction or interjection."""
    while start < end and words[start].tag in {"RB", "CC", "UH"}:
        start += 1
    return start


def _skip_phrases(words: Sequence[Word], start: int) -> int:
    """Return the first index from ``start`` on where no phrase with a preposition begins."""
    while word_at(words, start).tag == "IN":
        phrase = noun_phrase(words, start + 1)
        if phrase is None:
            break
        start = phrase.end
    return start


def _after_adjective(words: Sequence[Word], place: int) -> frozenset[str]:
    """Return the frames that what follows a predicative adjective makes."""
    word = word_at(words, place)
    if ends_clause(words, place) or (word.lowercase in _LATER and ends_clause(words, place + 1)):
        return frozenset({"end"})
    if word.lowercase == "to":
        return frozenset({"inf" if word_at(words, place + 1).tag == "VB" else "to"})
    if word.tag in {"WRB", "WP"}:
        return frozenset({word.lowercase, "wh"})
    if word.tag == "IN":
        return frozenset({_preposition_frame(word)})
    return frozenset({"cl"}) if _is_clause(words, place) else frozenset()


def _after_verb(words: Sequence[Word], place: int) -> _Complement:
    """Return what follows a verb."""
    word = word_at(words, place)
    phrase = noun_phrase(words, place)
    if ends_clause(words, place) or (word.tag == "RB" and ends_clause(words, place + 1)):
        frame = "end"
    elif word.lowercase == "to":
        frame = "inf" if word_at(words, place + 1).tag == "VB" else ""
    elif word.lowercase == "that" and _is_clause(words, place + 1):
        frame = "that"
    elif _is_clause(words, place):
        frame = "cl"
    elif word.lowercase.endswith("ing") and "VBG" in possible(word.lowercase):
        frame = "ger"
    elif word.tag in {"WRB", "WP"}:
        frame = "wh"
    elif phrase:
        return _Complement(_of_object(words, phrase), words[phrase.head].lowercase, phrase.end)
    else:
        frame = _preposition_frame(word) if word.tag == "IN" else ""
    return _Complement(frozenset({frame} - {""}), "", place)


def _preposition_frame(word: Word) -> str:
    return "at_" if word.lowercase == "at" else word.lowercase


def _of_object(words: Sequence[Word], phrase: NounPhrase) -> frozenset[str]:
    """Return the frames of an object, by what follows it."""
    after = word_at(words, phrase.end)
    if words[phrase.head].lowercase in _TIMES and word_at(words, phrase.head - 1).lowercase in _WHEN:
        return frozenset()  # "slept last night": no object
    if ends_clause(words, phrase.end):
        return frozenset({"np", "npe"})
    if after.tag == "TO" and word_at(words, phrase.end + 1).tag == "VB":
        return frozenset({"npto"})
    # "The book I read" is a relative clause without its "that".
    is_relative = after.tag == "PRP" and words[phrase.head].tag in NOUNS and _is_clause(words, phrase.end)
    if after.tag in {"IN", "WDT", "WP", "WRB", "RB", "RBR"} or is_relative:
        return frozenset({"np"})
    return frozenset()


def _is_clause(words: Sequence[Word], place: int) -> bool:
    """Return whether a clause starts here: a subject, adverbs, and a finite verb."""
    phrase, subject = noun_phrase(words, place), word_at(words, place)
    if subject.lowercase in (OBJECTS | SELVES) - {"you", "it", "her"}:
        return False
    if phrase:
        end = phrase.end
    elif subject.tag in {"PRP", "EX", "DT"}:
        end = place + 1
    else:
        return False
    while word_at(words, end).tag in {"RB", "RBR"}:
        end += 1
    return word_at(words, end).tag in _FINITE


def _group_start(words: Sequence[Word], place: int) -> int:
    """Return the index of the first word of a verb's group: auxiliaries, negations, adverbs and "to" before it."""
    while place and (words[place - 1].tag in {"MD", "RB", "TO"} or words[place - 1].lemma in {"be", "have", "do"}):
        place -= 1
    return place


def _may_be_subject(word: Word) -> bool:
    """Return whether a word before a finite verb can be its subject, or joins it to another verb."""
    is_pronoun = word.lowercase in {"this", "that", "these", "those"}
    return is_pronoun or word.tag in {*NOUNS, "PRP", "WP", "WDT", "CC", "EX"}
