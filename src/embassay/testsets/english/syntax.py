"""Verb groups, subjects and complements of a parsed sentence.

What may replace a word depends on its frame, a short name:

- An adjective before its noun has the frame ``at``. After a copula, its frame says what follows it: ``end`` (the clause
  ends), ``inf`` (an infinitive), ``to``, ``cl`` (a clause without "that"), ``wh`` (an interrogative clause), ``that``
  or a preposition.
- The frame of a verb says what follows it: ``np`` (an object), ``npe`` (an object that ends the clause), ``npto`` (an
  object and an infinitive), ``ger`` (a gerund), ``inf``, ``that``, ``cl``, ``wh``, ``end`` or a preposition; ``pas`` if
  it is passive.

The preposition "at" is written ``at_``.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from dataclasses import dataclass

from embassay.testsets.english.word_classes import ADVERBS_OF_DEGREE, NEGATORS, PERSONS, SAYING, wordset
from embassay.testsets.english.words import Tagged, Words, word_at

SUBJECT_RELATIONS = ("nsubj", "nsubjpass", "expl", "csubj", "csubjpass")
_AUXILIARIES = ("aux", "auxpass")
_FINITE = ("VBZ", "VBP", "VBD", "MD")
_NOUNS = ("NN", "NNS")


def dependents(words: Words, head: int, relations: Collection[str] = ()) -> list[int]:
    """Return the indices of the words that depend on the word at ``head``, by some relation or by any."""
    places = list[int]()
    for place, word in enumerate(words):
        if word.head == head and place != head and (not relations or word.relation in relations):
            places.append(place)
    return places


def subject_of(words: Words, verb: int) -> int | None:
    """Return the index of the head of a verb's subject, which a verb before it may share; None without a subject."""
    subjects = dependents(words, verb, SUBJECT_RELATIONS)
    if subjects:
        return subjects[0]
    if words[verb].relation in ("conj", "xcomp"):
        return subject_of(words, words[verb].head)
    return None


def phrase(words: Words, head: int) -> list[int]:
    """Return the indices of a word and of all words that depend on it, directly or not, from left to right."""
    places = [head]
    for place in dependents(words, head):
        places += phrase(words, place)
    return sorted(places)


# --- Finite verb groups ---


@dataclass(frozen=True)
class VerbGroup:
    """A finite verb group.

    Attributes
    ----------
    first, last
        Indices of its finite verb and of its lexical verb, which may be the same.
    negator
        Index of the ``not``, ``n't``, ``never`` … inside, right before or right after it; None if it is not negated.
    """

    first: int
    last: int
    negator: int | None


def groups(tagged: Tagged) -> list[VerbGroup]:
    """Return the finite verb groups of a sentence, from left to right."""
    made = [_group(tagged.words, place) for place in range(len(tagged.words))]
    return sorted((group for group in made if group), key=lambda group: group.first)


def group_at(tagged: Tagged, index: int) -> VerbGroup | None:
    """Return the verb group that the word at ``index`` belongs to; None if it belongs to none."""
    if tagged.words[index].relation in _AUXILIARIES:
        index = tagged.words[index].head
    return _group(tagged.words, index)


def main_group(tagged: Tagged) -> VerbGroup | None:
    """Return the verb group of the main clause of a statement; None for a fragment, a question, and in doubtful cases.

    A text of several sentences has the main group of the first sentence that has one.
    """
    words = tagged.words
    for place, word in enumerate(words):
        group = _group(words, place) if word.relation == "ROOT" else None
        if group is None:
            continue
        subject = subject_of(words, place)
        # A clause that begins with "when" is not the main one, whatever the parser says.
        before = words[: group.first]
        has_verb_before = any(_group(words, other) for other in range(group.first))
        is_subordinate = bool(before) and before[0].tag == "WRB" and not has_verb_before
        is_subordinate |= _runs_on(words, place)
        is_question = subject is not None and subject > group.first and words[subject].relation != "expl"
        is_without_subject = subject is None and word.tag != "VB"
        return None if is_subordinate or is_question or is_without_subject else group
    return None


def _runs_on(words: Words, root: int) -> bool:
    """Return whether a clause of its own stands before the main one: ``ignore him, he is mad``."""
    if words[root].lemma in SAYING:
        return False
    for place in dependents(words, root, ("ccomp", "advcl", "parataxis")):
        marks = [words[other] for other in dependents(words, place)]
        is_marked = any(mark.relation == "mark" or mark.tag in ("WRB", "TO") for mark in marks)
        if place < root and words[place].tag in (*_FINITE, "VB") and not is_marked:
            return True
    return False


def _group(words: Words, verb: int) -> VerbGroup | None:
    """Return the group of a lexical verb; None for other words, and for infinitives and participles."""
    word = words[verb]
    is_verb = word.tag.startswith("VB") or word.tag == "MD"
    if not is_verb or word.relation in (*_AUXILIARIES, "amod", "acl"):
        return None
    verbs = sorted([*dependents(words, verb, _AUXILIARIES), verb])
    first = words[verbs[0]]
    if any(words[place].tag == "TO" for place in verbs):
        return None
    if first.tag not in _FINITE and not _is_imperative(words, verb):
        return None
    return VerbGroup(verbs[0], verb, _negator(words, verbs))


def _is_imperative(words: Words, verb: int) -> bool:
    """Return whether a base form is an imperative: the root, with only adverbs, "please" or "do" before it."""
    if words[verb].relation == "conj":
        return _is_imperative(words, words[verb].head)
    before = words[:verb]
    starts = all(word.tag in ("RB", "UH", "CC", ",") or word.lowercase in ("please", "do", "n't") for word in before)
    return starts and words[verb].tag == "VB" and words[verb].relation == "ROOT"


def _negator(words: Words, verbs: list[int]) -> int | None:
    """Return the index of the negation of a verb group; None if it is not negated."""
    negators = (place for place, word in enumerate(words) if word.lowercase in NEGATORS and word.head in verbs)
    return next(negators, None)


# --- Frames ---

OBJECT, OBJECT_AT_END, OBJECT_AND_INFINITIVE = "np", "npe", "npto"
"""Frames of verbs with an object, under the names that the list of replacements uses."""
COPULAS = wordset("be seem look feel sound become stay remain")
DEGREES = wordset("very so too as how more most less least that this")
COMPARING = wordset("as more most less least")
PARTICLES = wordset("up out off down away back over around along apart together through")
_SUBORDINATORS = wordset("because if when while though although since unless until but before after")
_NO_FRAME = ("acomp", "attr", "oprd", "dative")
"""Complements of a verb that none of the frames describes."""
_FREE = ("punct", "cc", "conj", "advmod", "advcl", "neg", "intj", "dep", "mark", "aux", "parataxis")
"""Relations of words after a verb that belong to no frame."""


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
        ``prs``, ``prs3``, ``it``, ``they`` (the kind of subject), ``progressive``, ``imperative``, ``proper``.
    """

    frames: Set[str]
    near: Set[str]
    head: str = ""
    marks: Set[str] = frozenset()


def around_adjective(words: Words, place: int) -> Around | None:
    """Return the surroundings of an adjective; None in doubtful cases."""
    word, before, after = words[place], word_at(words, place - 1), word_at(words, place + 1)
    if before.lowercase in COMPARING or after.lowercase in {"-", "enough", "as"}:
        return None
    marks = {"deg" if before.lowercase in DEGREES else "nodeg"}
    near = {before.lowercase, after.lowercase}
    head = words[word.head]
    # "Infinitely many": an adverb that says more than a degree belongs to the meaning of the adjective.
    is_modified = before.lowercase.endswith("ly") and before.lowercase not in ADVERBS_OF_DEGREE
    if word.relation == "amod" and place < word.head and head.tag in _NOUNS and not is_modified:
        return Around({"at"}, near | {head.lowercase}, head.lowercase, marks)
    if word.relation != "acomp" or head.lemma not in COPULAS or word.head > place:
        return None
    if head.lemma == "be":
        marks.add("be")
    marks |= _kinds(words, subject_of(words, word.head))
    return Around(_after_adjective(words, place), near, marks=marks)


def around_verb(words: Words, place: int) -> Around | None:
    """Return the surroundings of a verb in a finite group or of an infinitive; None in doubtful cases."""
    word, subject = words[place], subject_of(words, place)
    auxiliaries = [words[other] for other in dependents(words, place, _AUXILIARIES) if other < place]
    lemmas = {auxiliary.lemma for auxiliary in auxiliaries}
    is_infinitive = word_at(words, place - 1).tag == "TO"
    if word.lemma == "be" or (_group(words, place) is None and not is_infinitive):
        return None
    if word.tag == "VBN" and "be" in lemmas:
        return _around_passive(words, place, subject, lemmas)

    kinds = _kinds(words, subject)
    frames, last, head = _complement(words, place)
    if word.tag == "VBG" and "prs" not in kinds:
        frames -= {"end"}  # "it is relaxing": an adjective
    before, after, following = (word_at(words, index) for index in (place - 1, place + 1, last))
    # A verb with a particle is another verb: "turn it down".
    is_phrasal = bool(dependents(words, place, ("prt",)))
    if not frames or is_phrasal or not PARTICLES.isdisjoint({after.lowercase, following.lowercase}):
        return None
    marks = set[str]()
    if word.tag == "VBG":
        marks.add("progressive")
    if word.tag == "VB" and subject is None and lemmas <= {"do"}:
        marks.add("imperative")
    if words[last - 1].tag == "NNP":
        marks.add("proper")
    near = {before.lowercase, after.lowercase, head, following.lowercase} | lemmas | marks
    return Around(frames, near, head, marks | kinds)


def _around_passive(words: Words, place: int, subject: int | None, auxiliaries: set[str]) -> Around | None:
    """Return the surroundings of a passive verb, whose head is its subject; None if it may be an adjective."""
    # After an adverb of degree, a participle is an adjective: "very tired".
    adverbs = {words[other].lowercase for other in dependents(words, place, ("advmod",))}
    after = word_at(words, place + 1)
    # "Allowed to go" and "forbidden to go", but not "prohibited to go".
    goes_on = not _ends_clause(words, place + 1) and after.tag not in {"IN", "RB", "CD"}
    if subject is None or goes_on or not adverbs.isdisjoint(DEGREES):
        return None
    head = words[subject].lowercase
    return Around({"pas"}, {*auxiliaries, after.lowercase, head}, head, _kinds(words, subject))


def _kinds(words: Words, subject: int | None) -> set[str]:
    """Return the kinds of a subject; empty without one.

    They are ``prs`` (a person), ``prs3`` (a person other than the speaker and the listener), ``they`` (persons or
    things), ``it`` (a thing), and for "it", "that" and similar pronouns the word itself.
    """
    if subject is None:
        return set()
    name, tag = words[subject].lowercase, words[subject].tag
    if name in {"i", "you", "we", "who"}:
        return {"prs"}
    if name in {"he", "she"} or tag == "NNP" or name in PERSONS:
        return {"prs", "prs3"}
    if name == "they":
        return {"prs", "prs3", "they"}
    if name in {"it", "that", "this", "which", "what", "something"}:
        return {"it", name}
    return {"it", "they"} if tag in _NOUNS else set()


def _after_adjective(words: Words, place: int) -> Set[str]:
    """Return the frames of a predicative adjective, according to the words that follow it."""
    word, following = word_at(words, place + 1), word_at(words, place + 2)
    if _ends_clause(words, place + 1):
        return {"end"}
    if word.lowercase == "to":
        return {"inf"} if following.tag == "VB" else {"to"}
    if word.tag in {"WRB", "WP"}:
        return {word.lowercase, "wh"}
    if word.tag == "IN":
        return {_preposition(word.lowercase)}
    is_clause = any(other > place for other in dependents(words, place, ("ccomp",)))
    return {"cl"} if is_clause else set()


def _complement(words: Words, verb: int) -> tuple[set[str], int, str]:
    """Return the frames of a verb, the index after its object, and the object's last noun, empty without an object."""
    after = [place for place in dependents(words, verb) if place > verb and words[place].relation not in _FREE]
    objects = [place for place in after if words[place].relation == "dobj"]
    # "Began about 13,000 years ago" has no object.
    is_doubtful = bool(objects) and words[verb + 1].tag == "IN"
    if is_doubtful or any(words[place].relation in _NO_FRAME for place in after):
        return set(), verb + 1, ""
    if objects:
        noun = objects[0]
        rest = [words[place] for place in after if place > noun]
        frames = {OBJECT}
        if _ends_clause(words, noun + 1):
            frames.add(OBJECT_AT_END)
        if rest and rest[0].relation in ("xcomp", "ccomp"):
            after_object = word_at(words, phrase(words, noun)[-1] + 1)
            frames = {OBJECT_AND_INFINITIVE} if after_object.tag == "TO" else set()
        return frames, noun + 1, words[noun].lowercase
    frame = _clause_or_preposition(words, after[0]) if after else "end"
    return ({frame} if frame else set()), verb + 1, ""


def _clause_or_preposition(words: Words, place: int) -> str:
    """Return the frame of a verb whose first complement is the word at ``place``; empty if there is none."""
    word = words[place]
    if word.relation in ("prep", "agent"):
        return _preposition(word.lowercase)
    if word.relation == "xcomp":
        is_infinitive = any(words[other].tag == "TO" for other in dependents(words, place, _AUXILIARIES))
        if is_infinitive:
            return "inf"
        return "ger" if word.tag == "VBG" else ""
    if word.relation != "ccomp" or _group(words, place) is None:
        return ""
    start = min([place, *dependents(words, place)])
    if words[start].tag in {"WRB", "WP", "WDT"}:
        return "wh"
    return "that" if words[start].lowercase == "that" and words[start].relation == "mark" else "cl"


def _preposition(word: str) -> str:
    return "at_" if word == "at" else word


def _ends_clause(words: Words, index: int) -> bool:
    """Return whether a clause ends before an index."""
    word = word_at(words, index)
    return word.tag in {"", ".", ",", ":", "CC"} or word.lowercase in _SUBORDINATORS
