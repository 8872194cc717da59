"""Quadruples as Vahtola et al. (2022, section 3) generated them, before they were reviewed by hand.

A sentence has one *not* and an adjective. Every antonym gives a quadruple: the released file has those of all words of
the adjective's synsets (*right*: *wrong*, *incorrect*), as nltk's ``lemma.antonyms()`` lists them. The negator is
deleted and nothing else. What the authors then corrected by hand is done by rule: the article, and a question tag.
"""

from __future__ import annotations

import re

from embassay.core.samples.shapes import Choice
from embassay.testsets.english.negators import negations
from embassay.testsets.english.predicates import SHORTEST
from embassay.testsets.english.wordnet import antonyms
from embassay.testsets.english.words import article, substituted, tag

_NOT = re.compile(r"(?i)(?:\b(an?) )?\bnot\b ?(?=(\w*))")
"""A negation with the article before it and the word after it."""
AFTER_NOT = frozenset({"asleep", "awake", "alive", "right"})
"""Adjectives that the tagger takes for adverbs after ``not``."""
_TAG = re.compile(r", ([a-z]+)(?= (?:I|[a-z]+)\?$)")
"""The verb of a question tag without a negation: ``, are you?``."""
_NEGATED = {"am": "aren't", "can": "can't", "will": "won't", "shall": "shan't"}
"""The verbs of a question tag that ``n't`` changes."""


def published_quadruples(text: str) -> tuple[tuple[Choice, bool], ...] | str:
    """Return a sentence with each antonym of its adjectives, or the reason why there is none.

    Returns
    -------
    Choices without ids, whose inputs have the negation; all count as sure, because people review them.
    """
    tagged = tag(text)
    if len(tagged.words) < SHORTEST:
        return f"fewer than {SHORTEST} words and marks"
    negators = [place for pattern, place in negations(tagged) if pattern == "not"]
    if len(negators) != 1 or tagged.words[negators[0]].tag != "RB":
        return "not exactly one not"
    choices = list[tuple[Choice, bool]]()
    for place, word in enumerate(tagged.words):
        is_adjective = word.tag == "JJ" or (word.lowercase in AFTER_NOT and place == negators[0] + 1)
        for antonym in antonyms(word.lowercase, "a", of_synonyms=True) if is_adjective else ():
            opposite = antonym.replace("_", " ")
            swapped = substituted(tagged, {place: opposite})
            choice = Choice(
                id="",
                input=text,
                antonym=swapped,
                polarity=_without_not(text),
                paraphrase=_without_not(swapped),
                part_of_speech="adjective",
                pair="–".join(sorted((word.lowercase, opposite))),
                negation="not",
            )
            choices.append((choice, True))
    return tuple(choices) or "no adjective with an antonym in WordNet"


def _without_not(text: str) -> str:
    """Delete the only ``not``, adjust the article before it, and negate the question tag."""
    statement = _NOT.sub(lambda found: f"{article(found[2])} " if found[1] else "", text, count=1)
    if text[0].isupper():
        statement = statement[:1].upper() + statement[1:]
    return _TAG.sub(lambda found: ", " + _NEGATED.get(found[1], f"{found[1]}n't"), statement)
