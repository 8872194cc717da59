"""A sentence, its antonym, its negation and its negated antonym (Vahtola et al. 2022, section 3)."""

from __future__ import annotations

from dataclasses import replace

from embassay.core.samples.shapes import Choice
from embassay.testsets.english.negation import falls_elsewhere, negated
from embassay.testsets.english.negation_removal import unnegated
from embassay.testsets.english.negators import first_negation
from embassay.testsets.english.predicates import Candidate, find
from embassay.testsets.english.selection import is_profane
from embassay.testsets.english.word_classes import DO
from embassay.testsets.english.words import Tagged, Word, inflected, substituted, tag, untagged
from embassay.testsets.options import Auxiliary

PARTS_OF_SPEECH = {"a": "adjective", "v": "verb"}


def quadruple(text: str, auxiliary: Auxiliary) -> tuple[tuple[Choice, bool]] | str:
    """Return a sentence with its antonym, its negation and its negated antonym, or the reason why there are none.

    Parameters
    ----------
    auxiliary
        Whether the auxiliary of a removed negation is kept.

    Returns
    -------
    The only choice, without an id, and whether its two words are certainly opposites; otherwise people decide.
    """
    tagged = tag(text)
    candidate = find(tagged)
    if isinstance(candidate, str):
        return candidate
    if is_profane(text):
        return "profanity"
    swapped = _swapped(tagged, candidate)
    if swapped is None:
        return "the antonym lacks the required form"
    pattern = first_negation(tagged)
    if pattern:
        polarity = unnegated(tagged, candidate.group, auxiliary)
        paraphrase = unnegated(swapped, candidate.group, auxiliary)
    else:
        polarity = negated(tagged, candidate.group)
        paraphrase = negated(swapped, candidate.group)
    if polarity is None or paraphrase is None or falls_elsewhere(tagged, polarity):
        return "the negation cannot be added or removed"

    lemmas = sorted((tagged.words[candidate.index].lemma, candidate.opposite))
    choice = Choice(
        id="",
        input=tagged.text,
        antonym=swapped.text,
        polarity=polarity,
        paraphrase=paraphrase,
        part_of_speech=PARTS_OF_SPEECH[candidate.part],
        pair="–".join(lemmas),
        negation=pattern or "not",
    )
    return ((choice, candidate.is_sure),)


def _swapped(tagged: Tagged, candidate: Candidate) -> Tagged | None:
    """Return the sentence with the antonym, tagged as it was; None if the antonym lacks the required form."""
    index, lemma = candidate.index, candidate.opposite
    form: str | None = lemma
    if candidate.part == "v":
        follows_do = tagged.words[candidate.group.first].lowercase in DO
        form = inflected(lemma, "VB" if follows_do else tagged.words[index].tag)
    if form is None:
        return None
    text = substituted(tagged, {index: form})
    words = list[Word]()
    for word, new in zip(tagged.words, untagged(text).words, strict=True):
        words.append(replace(word, text=new.text, start=new.start, end=new.end))
    words[index] = replace(words[index], lemma=lemma)
    return Tagged(text, tuple(words))
