"""The edits of one original (Chiang et al. 2023, sections 2.2.3 to 2.2.6): all six, and those beyond that are certain.

An original whose edits cannot all be made is :class:`Left` out, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from embassay.randomness import generator
from embassay.samples.minimal_pairs import MinimalPairs
from embassay.testsets.english.exchanges import Names, number, role_swap
from embassay.testsets.english.frames import has_subject
from embassay.testsets.english.negation import falls_elsewhere, main_verb, negated, word_negated
from embassay.testsets.english.negation_removal import unnegated
from embassay.testsets.english.random_words import Guess, Vocabulary, random_words
from embassay.testsets.english.replacements import LISTED, Replacement
from embassay.testsets.english.spelling_and_grammar import Checker
from embassay.testsets.english.typos import misspelt
from embassay.testsets.english.wordnet import Lexicon
from embassay.testsets.english.words import Tagged, substituted
from embassay.testsets.sources import Source

MODEL = "masked language model"
WORDS = "a word of the same tag and frame"
UNGRAMMATICAL = "the grammar checker complains about the sentence"
UNGRAMMATICAL_EDIT = "the grammar checker complains about an edit"
NO_MAIN_VERB = "no main verb that the rules can tell"
UNNEGATED = "the main verb cannot be negated, or its negation removed, with certainty"


class Left(Exception):  # noqa: N818 - no error, but why a sentence is left out
    """Why a sentence gives no item."""


@dataclass(frozen=True)
class Tools:
    """What all edits are made with.

    Attributes
    ----------
    misspellings
        Common misspellings by the right word, in lower case.
    guess
        The masked language model; None where there is none, then ``random_word`` takes the place of ``random_mlm``.
    """

    lexicon: Lexicon
    checker: Checker
    misspellings: Mapping[str, tuple[str, ...]]
    vocabulary: Vocabulary
    names: Names
    guess: Guess | None
    seed: int


@dataclass(frozen=True)
class Try:
    """One word of an original: the edits that rules make around it."""

    choice: Replacement
    synonym: str
    antonym: str
    negation: str

    @property
    def texts(self) -> tuple[str, str, str]:
        """Return the three."""
        return self.synonym, self.antonym, self.negation


@dataclass(frozen=True)
class Original:
    """A sentence that may become an original.

    Attributes
    ----------
    main
        The sentence with its main verb negated, or that verb's negation removed.
    tries
        A word each.
    """

    id: str
    source: Source
    tagged: Tagged
    main: str
    tries: tuple[Try, ...]


def original(key: str, source: Source, tagged: Tagged, choices: Iterable[Replacement]) -> Original:
    """Make the edits that need neither chance nor the rest of the corpus.

    Raises
    ------
    Left
        If there is no such word, or the main verb cannot be negated.
    """
    tries = tuple(_tries(tagged, choices))
    if not tries:
        raise Left("no verb or adjective with a synonym and an antonym that certainly fit")
    at = main_verb(tagged)
    if at is None:
        raise Left(NO_MAIN_VERB)
    main = _first(unnegated(tagged, at), negated(tagged))
    if main is None or not has_subject(tagged, at) or falls_elsewhere(tagged, main):
        raise Left(UNNEGATED)
    return Original(key, source, tagged, main, tries)


def _tries(tagged: Tagged, choices: Iterable[Replacement]) -> Iterator[Try]:
    for choice in choices:
        index = choice.index
        negation = word_negated(tagged, index)
        if negation is not None and not falls_elsewhere(tagged, negation):
            synonym, antonym = (substituted(tagged, {index: word}) for word in (choice.synonym, choice.antonym))
            yield Try(choice, synonym, antonym, negation)


def item(original: Original, tools: Tools, used: Counter[str], quota: int) -> tuple[MinimalPairs, dict[str, str]]:
    """Make the item of an original, and say how each edit was made.

    Parameters
    ----------
    used
        How often each lemma was replaced so far: the rarest of the original is taken; counted on.
    quota
        How often one may be.

    Raises
    ------
    Left
        Where an edit cannot be made, or the original or an edit is not grammatical.
    """
    words = original.tagged.words
    if not tools.checker.is_clean(original.tagged.text):
        raise Left(UNGRAMMATICAL)
    if not tools.checker.is_clean(original.main):
        raise Left(UNGRAMMATICAL_EDIT)
    why = Left("its words have been replaced often enough in others")
    for each in sorted(original.tries, key=lambda t: used[words[t.choice.index].lemma]):
        lemma = words[each.choice.index].lemma
        if used[lemma] >= quota:
            continue
        try:
            edits, ways = _edits(original, each, tools)
        except Left as problem:
            why = problem
            continue
        used[lemma] += 1
        unit = original.source.unit or str(original.source.line)
        return MinimalPairs(original.id, original.tagged.text, tuple(edits.items()), unit), ways
    raise why


def _edits(original: Original, each: Try, tools: Tools) -> tuple[dict[str, str], dict[str, str]]:
    """Return the edits around one word, and how each was made."""
    tagged, index = original.tagged, each.choice.index
    if not all(tools.checker.is_clean(text) for text in each.texts):
        raise Left(UNGRAMMATICAL_EDIT)
    chance = generator(tools.seed, "builders", "minimal_pairs", tagged.text)
    typo = misspelt(tagged.words[index].text.lower(), tools.misspellings, chance)
    if typo is None:
        raise Left("no misspelling of the word")
    name = "random_mlm" if tools.guess else "random_word"
    edits = {
        "synonym": each.synonym,
        "antonym": each.antonym,
        "typo": _spelt(tagged, index, typo[0]),
        name: _random(tagged, each.choice, tools, chance),
        "negation_main": original.main,
        "negation_antonym": each.negation,
        **_beyond(tagged, tools, chance),
    }
    ways = dict.fromkeys(edits, "rule") | dict.fromkeys(("synonym", "antonym"), LISTED)
    return edits, ways | {"typo": typo[1], name: MODEL if tools.guess else WORDS}


def _spelt(tagged: Tagged, index: int, wrong: str) -> str:
    """Return the sentence with a misspelling; unlike for another word, the article before it stays."""
    word = tagged.words[index]
    wrong = wrong.upper() if word.text.isupper() else wrong.capitalize() if word.text[0].isupper() else wrong
    return tagged.text[: word.start] + wrong + tagged.text[word.end :]


def _random(tagged: Tagged, choice: Replacement, tools: Tools, chance: np.random.Generator) -> str:
    """Return the sentence with another word that fits and means something else."""
    word = tagged.words[choice.index]
    words: Iterable[str] = tools.vocabulary.like(tagged, choice.index, chance)
    if tools.guess:
        words = tools.guess(tagged.text[: word.start], tagged.text[word.end :])
    for text in random_words(tagged, choice, words, tools.lexicon):
        if tools.checker.is_clean(text):
            return text
    raise Left("no random word that fits")


def _beyond(tagged: Tagged, tools: Tools, chance: np.random.Generator) -> dict[str, str]:
    """Return the edits that HEROS has not, where they are certain and the checker has no complaint."""
    found = {
        "number": number(tagged, chance),
        "entity": tools.names.entity(tagged, chance),
        "role_swap": role_swap(tagged),
    }
    return {name: text for name, text in found.items() if text and tools.checker.is_clean(text)}


def _first(*texts: str | None) -> str | None:
    return next((text for text in texts if text is not None), None)
