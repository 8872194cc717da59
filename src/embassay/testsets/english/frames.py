"""Syntactic frames of adjectives and verbs, which decide whether a replacement fits.

A frame is a short name.

- An adjective before its noun has the frame ``at``. After a copula, its frame says what follows it: ``end`` (the clause
  ends), ``inf`` (an infinitive), ``to``, ``cl`` (a clause without "that"), ``wh`` (an interrogative clause), ``that``
  or a preposition.
- The frame of a verb says what follows it: ``np`` (an object), ``npe`` (an object that ends the clause), ``npto`` (an
  object and an infinitive), ``ger`` (a gerund), ``inf``, ``that``, ``cl``, ``wh``, ``end`` or a preposition; ``pas`` if
  it is passive.

The preposition "at" is written ``at_``.
"""

from __future__ import annotations

from collections.abc import Set
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
from embassay.testsets.english.words import Tagged, Word, Words, word_at

OBJECT, OBJECT_AT_END, OBJECT_AND_INFINITIVE = "np", "npe", "npto"
"""Frames of verbs with an object, under the names that the list of replacements uses."""
COPULAS = wordset("be seem look feel sound become stay remain")
DEGREES = wordset("very so too as how more most less least that this")
COMPARING = wordset("as more most less least")
PARTICLES = wordset("up out off down away back over around along apart together through")
_LATER = wordset("now today here there anyway though then again yesterday tonight tomorrow right too either")
"""Words after an adjective that belong to the clause, not to the adjective."""
_TIMES = wordset("night week month year day morning evening afternoon time times summer winter spring fall")
_WHEN = wordset("last next this that every each all some one any the")
_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})


@dataclass(frozen=True)
class Around:
    """The surroundings of a word.

    Attributes
    ----------
    frames
        Its frames.
    near
        Nearby words in lower case, which entries of the list of replacements may exclude (``never``).
    head
        The noun that an adjective precedes, or the object of a verb (the subject if it is passive), in lower case;
        empty if there is none.
    marks
        Other properties: ``be`` (the copula is "be"), ``deg`` or ``nodeg`` (with or without an adverb of degree),
        ``prs``, ``prs3``, ``it``, ``they`` (the kind of subject), ``progressive``, ``imperative``.
    """

    frames: Set[str]
    near: Set[str]
    head: str = ""
    marks: Set[str] = frozenset()


@dataclass(frozen=True)
class _Complement:
    """The words that follow a verb and belong to it.

    Attributes
    ----------
    frames
        The frames that they give the verb.
    end
        The index after the object.
    head
        The last noun of the object, in lower case; empty if there is no object.
    """

    frames: Set[str]
    end: int
    head: str = ""


def around_adjective(words: Words, place: int) -> Around | None:
    """Return the surroundings of an adjective; None in doubtful cases.

    Parameters
    ----------
    place
        The index of the adjective.
    """
    before, after = word_at(words, place - 1), word_at(words, place + 1)
    if before.lowercase in COMPARING or after.lowercase in {"-", "enough", "as"}:
        return None
    marks = {"deg" if before.lowercase in DEGREES else "nodeg"}
    near = {before.lowercase, after.lowercase}
    if after.tag in {"NN", "NNS"} and not is_noun(before):
        # Before a compound ("a good school teacher"), the head is its last noun.
        last = place + 1
        while word_at(words, last + 1).tag in {"NN", "NNS"}:
            last += 1
        head = words[last].lowercase
        near.add(head)
        return Around(frames={"at"}, near=near, head=head, marks=marks)
    copula_at = place - 1
    while word_at(words, copula_at).tag == "RB":
        copula_at -= 1
    copula = word_at(words, copula_at)
    if copula.lemma not in COPULAS or copula.tag not in {"VB", "VBP", "VBZ", "VBD", "VBN"}:
        return None
    if copula.lemma == "be":
        marks.add("be")
    if copula.lowercase == "be" and word_at(words, copula_at - 1).lowercase == "to":
        near.add("tobe")
    marks |= subject_marks(words, _group_start(words, copula_at) - 1)
    frames = _after_adjective(words, place + 1)
    return Around(frames=frames, near=near, marks=marks)


def around_verb(words: Words, place: int) -> Around | None:
    """Return the surroundings of a verb in a finite group or of an infinitive; None in doubtful cases.

    Parameters
    ----------
    place
        The index of the verb.
    """
    tag, start = words[place].tag, _group_start(words, place)
    auxiliaries = words[start:place]
    lemmas = {word.lemma for word in auxiliaries}
    if tag == "VBN" and "be" in lemmas:
        return _around_passive(words, place, start)
    if _may_not_be_verb(words, place, start):
        return None

    subject = subject_marks(words, start - 1)
    complement = _after_verb(words, place + 1)
    frames = complement.frames
    if tag == "VBG" and "prs" not in subject:
        frames -= {"end"}  # "it is relaxing": an adjective
    if not frames:
        return None
    before, after, following = (word_at(words, index) for index in (place - 1, place + 1, complement.end))
    # A verb with a particle is another verb: "turn it down".
    if after.lowercase in PARTICLES | {"-"} or following.lowercase in PARTICLES:
        return None

    marks = set[str]()
    if tag == "VBG":
        marks.add("progressive")
    if tag == "VB" and _is_imperative(words, place, start):
        marks.add("imperative")
    if words[complement.end - 1].tag == "NNP":
        marks.add("proper")
    near = {before.lowercase, after.lowercase, complement.head, following.lowercase} | lemmas | marks
    return Around(frames=frames, near=near, head=complement.head, marks=marks | subject)


def _is_imperative(words: Words, place: int, start: int) -> bool:
    """Return whether a base form is an imperative: no subject before it, and no auxiliary but ``do``."""
    has_subject = is_noun(word_at(words, start - 1))
    return not has_subject and all(word.tag == "RB" or word.lemma == "do" for word in words[start:place])


def _may_not_be_verb(words: Words, place: int, start: int) -> bool:
    """Return whether a word that is tagged as a verb may be another part of speech.

    That is so for a participle without its auxiliary, and for a finite form without a subject.

    Parameters
    ----------
    start
        The index of the first word of the verb group.
    """
    tag = words[place].tag
    auxiliaries = words[start:place]
    lemmas = {word.lemma for word in auxiliaries}
    lacks_have = tag == "VBN" and "have" not in lemmas
    lacks_be = tag == "VBG" and "be" not in lemmas
    if lacks_have or lacks_be:
        return True

    before_group = word_at(words, start - 1)
    # "Makes you that worried".
    if before_group.lowercase == "that" and word_at(words, start - 2).tag == "PRP":
        return True
    has_auxiliary = any(word.tag != "RB" for word in auxiliaries)
    if has_auxiliary:
        return False
    if tag in {"VBD", "VBP", "VBZ"}:
        return not _may_be_subject(before_group)
    # After these a base form is a noun: "a walk", "my love".
    is_after_determiner = word_at(words, place - 1).tag in {"CD", "DT", "JJ", "PRP$", "IN", "POS"}
    return tag == "VB" and is_after_determiner


def _around_passive(words: Words, place: int, start: int) -> Around | None:
    """Return the surroundings of a passive verb, whose head is its subject; None if it may be an adjective.

    Parameters
    ----------
    start
        The index of the first word of the verb group.
    """
    auxiliaries = {word.lowercase for word in words[start:place]}
    # After an adverb of degree, a participle is an adjective: "very tired".
    if auxiliaries & DEGREES:
        return None
    subject = word_at(words, start - 1)
    if not is_noun(subject):
        return None
    after = word_at(words, place + 1)
    clause_goes_on = not ends_clause(words, place + 1)
    if clause_goes_on and after.tag not in {"IN", "RB", "CD"}:
        return None
    return Around(
        frames={"pas"},
        near={*auxiliaries, after.lowercase, subject.lowercase},
        head=subject.lowercase,
        marks=subject_marks(words, start - 1),
    )


def has_subject(tagged: Tagged, place: int) -> bool:
    """Return whether the group of a verb certainly has its subject before it, or is an imperative.

    The subject is certain if there is nothing else between the last comma and the group, apart from adverbs and
    prepositional phrases.
    """
    words = tagged.words
    end = _group_start(words, place)
    start = end
    while start and words[start - 1].tag not in {",", ":", "."}:
        start -= 1
    start = _skip(words, start, end)
    if start == end:
        can_be_imperative = words[end].tag == "VB" or words[end].lowercase in {"do", "let"}
        return can_be_imperative and word_at(words, place + 1).lowercase != ","
    start = _skip(words, _skip_phrases(words, start), end)
    first = word_at(words, start)
    is_pronoun = first.tag in {"PRP", "EX"} or first.lowercase in {"this", "that", "these", "those", "who", "what"}
    if is_pronoun and start + 1 == end:
        return True
    subject = noun_phrase(words, start)
    return subject is not None and _skip_phrases(words, subject.end) == end


def _skip(words: Words, start: int, end: int) -> int:
    """Return the first index from ``start`` up to ``end`` that is not an adverb, conjunction or interjection."""
    while start < end and words[start].tag in {"RB", "CC", "UH"}:
        start += 1
    return start


def _skip_phrases(words: Words, start: int) -> int:
    """Return the index after the prepositional phrases that start at ``start``."""
    while word_at(words, start).tag == "IN":
        phrase = noun_phrase(words, start + 1)
        if phrase is None:
            break
        start = phrase.end
    return start


def _after_adjective(words: Words, place: int) -> Set[str]:
    """Return the frames of a predicative adjective, according to the words that follow it from index ``place`` on."""
    word = word_at(words, place)
    if ends_clause(words, place) or (word.lowercase in _LATER and ends_clause(words, place + 1)):
        return {"end"}
    if word.lowercase == "to":
        if word_at(words, place + 1).tag == "VB":
            return {"inf"}
        return {"to"}
    if word.tag in {"WRB", "WP"}:
        return {word.lowercase, "wh"}
    if word.tag == "IN":
        return {_preposition_frame(word)}
    if _is_clause(words, place):
        return {"cl"}
    return set()


def _after_verb(words: Words, place: int) -> _Complement:
    """Return the complement of a verb, which starts at index ``place``."""
    frame = _frame_without_object(words, place)
    if frame:
        return _Complement({frame}, place)
    word, phrase = word_at(words, place), noun_phrase(words, place)
    if phrase and word.lowercase != "to":
        frames = _of_object(words, phrase)
        return _Complement(frames, phrase.end, words[phrase.head].lowercase)
    if word.tag == "IN":
        return _Complement({_preposition_frame(word)}, place)
    return _Complement(set(), place)


def _frame_without_object(words: Words, place: int) -> str:
    """Return the frame of a verb whose complement is not an object or a preposition; else empty."""
    word = word_at(words, place)
    # "They left quickly": an adverb at the end belongs to no frame.
    has_last_adverb = word.tag == "RB" and ends_clause(words, place + 1)
    if ends_clause(words, place) or has_last_adverb:
        return "end"
    if word.lowercase == "to":
        is_infinitive = word_at(words, place + 1).tag == "VB"
        if is_infinitive:
            return "inf"
        return ""
    if word.lowercase == "that" and _is_clause(words, place + 1):
        return "that"
    if _is_clause(words, place):
        return "cl"
    if word.lowercase.endswith("ing") and "VBG" in possible(word.lowercase):
        return "ger"
    if word.tag in {"WRB", "WP"}:
        return "wh"
    return ""


def _preposition_frame(word: Word) -> str:
    if word.lowercase == "at":
        return "at_"
    return word.lowercase


def _of_object(words: Words, phrase: NounPhrase) -> Set[str]:
    """Return the frames of a verb with an object, according to the words that follow the object."""
    head = words[phrase.head]
    # "Slept last night" has a time, not an object.
    is_time = head.lowercase in _TIMES and word_at(words, phrase.head - 1).lowercase in _WHEN
    if is_time:
        return set()
    if ends_clause(words, phrase.end):
        return {OBJECT, OBJECT_AT_END}

    after, second_after = word_at(words, phrase.end), word_at(words, phrase.end + 1)
    if after.tag == "TO" and second_after.tag == "VB":
        return {OBJECT_AND_INFINITIVE}
    # Before other words the object may go on or be another part of the sentence, so there is no certain frame.
    goes_on_safely = after.tag in {"IN", "WDT", "WP", "WRB", "RB", "RBR"}
    # "The book I read" has a relative clause without "that".
    has_bare_relative = after.tag == "PRP" and head.tag in NOUNS and _is_clause(words, phrase.end)
    if goes_on_safely or has_bare_relative:
        return {OBJECT}
    return set()


def _is_clause(words: Words, place: int) -> bool:
    """Return whether a clause starts at index ``place``: a subject, adverbs, and a finite verb."""
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


def _group_start(words: Words, place: int) -> int:
    """Return the index of the first word of a verb's group, which includes auxiliaries, negations, adverbs and "to"."""
    while place and (words[place - 1].tag in {"MD", "RB", "TO"} or words[place - 1].lemma in {"be", "have", "do"}):
        place -= 1
    return place


def _may_be_subject(word: Word) -> bool:
    """Return whether a word before a finite verb may be its subject, or a conjunction after another verb."""
    is_pronoun = word.lowercase in {"this", "that", "these", "those"}
    return is_pronoun or word.tag in {*NOUNS, "PRP", "WP", "WDT", "CC", "EX"}
