"""The edits of one original (Chiang et al. 2023, sections 2.2.3 to 2.2.6): all six, and other certain ones.

An original without all six edits is :class:`Left` out, with the reason.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from embassay.core.randomness import generator
from embassay.core.samples.shapes import Edit, ExtraEdit, MinimalPairs
from embassay.testsets.english.negation import falls_elsewhere, negated, word_negated
from embassay.testsets.english.negation_removal import unnegated
from embassay.testsets.english.numbers import number
from embassay.testsets.english.random_words import Guess, Vocabulary, random_words
from embassay.testsets.english.replacements import LISTED, Listed, Replacement, replacements
from embassay.testsets.english.spelling_and_grammar import Checker
from embassay.testsets.english.syntax import main_group
from embassay.testsets.english.typos import misspelt
from embassay.testsets.english.words import Tagged, cased, substituted
from embassay.testsets.options import Auxiliary

UNGRAMMATICAL_EDIT = "the grammar checker complains about an edit"


class Left(Exception):  # noqa: N818 - not an error, but the reason why a sentence is rejected
    """The reason why a sentence gives no item."""


@dataclass(frozen=True)
class Tools:
    """The tools that all edits are made with.

    Attributes
    ----------
    guess
        The masked language model, for ``random_mlm``; None for ``random_word`` instead.
    """

    is_clean: Checker
    vocabulary: Vocabulary
    guess: Guess | None
    seed: int


@dataclass(frozen=True)
class Try:
    """One word of an original, and the sentences with a synonym, an antonym and the negation of it."""

    choice: Replacement
    texts: tuple[str, str, str]


@dataclass(frozen=True)
class Original:
    """A sentence that may become an original.

    Attributes
    ----------
    main
        The sentence with its main verb negated, or that verb's negation removed.
    tries
        One for each replaceable word.
    """

    id: str
    unit: str
    tagged: Tagged
    main: str
    tries: tuple[Try, ...]


def original(key: str, unit: str, tagged: Tagged, listed: Listed, auxiliary: Auxiliary) -> Original:
    """Make the edits that need neither random numbers nor the rest of the corpus.

    Parameters
    ----------
    key, unit
        The ids of the sample and of its unit.
    auxiliary
        Whether the auxiliary of a removed negation is kept.

    Raises
    ------
    Left
        If no word can be replaced, or the main verb cannot be negated.
    """
    tries = list[Try]()
    for choice in replacements(tagged, listed):
        negation = word_negated(tagged, choice.index, auxiliary)
        if negation is not None and not falls_elsewhere(tagged, negation):
            synonym = substituted(tagged, {choice.index: choice.synonym})
            antonym = substituted(tagged, {choice.index: choice.antonym})
            tries.append(Try(choice, (synonym, antonym, negation)))
    if not tries:
        raise Left("no verb or adjective with a synonym and an antonym that certainly fit")
    group = main_group(tagged)
    if group is None:
        raise Left("no main verb found by the rules")
    main = unnegated(tagged, group, auxiliary) or negated(tagged, group)
    if main is None or falls_elsewhere(tagged, main):
        raise Left("the main verb cannot be negated, or its negation removed, reliably")
    return Original(key, unit, tagged, main, tuple(tries))


def with_edits(original: Original, tools: Tools, used: Counter[str], quota: int) -> tuple[MinimalPairs, dict[str, str]]:
    """Make the edits of an original; return them, and how each was made, by its name.

    Parameters
    ----------
    used
        How often each lemma was replaced so far. The original's least used lemma is chosen, and counted here.
    quota
        The maximum number of replacements of a lemma.

    Raises
    ------
    Left
        If an edit cannot be made, or the original or an edit is not grammatical.
    """
    if not tools.is_clean(original.tagged.text):
        raise Left("the grammar checker complains about the sentence")
    if not tools.is_clean(original.main):
        raise Left(UNGRAMMATICAL_EDIT)

    def uses(attempt: Try) -> int:
        return used[original.tagged.words[attempt.choice.index].lemma]

    # The reason of the last word that was tried, if any.
    reason = Left("its words have already been replaced often enough in other sentences")
    for attempt in sorted(original.tries, key=uses):
        if uses(attempt) >= quota:
            continue
        try:
            edits = _edits(original, attempt, tools)
        except Left as problem:
            reason = problem
            continue
        used[original.tagged.words[attempt.choice.index].lemma] += 1
        texts = tuple((edit, text) for edit, (text, _) in edits.items())
        sample = MinimalPairs(original.id, original.tagged.text, texts, original.unit)
        return sample, {edit: way for edit, (_, way) in edits.items()}
    raise reason


def _edits(original: Original, attempt: Try, tools: Tools) -> dict[Edit | ExtraEdit, tuple[str, str]]:
    """Return the edits around one word by their names: (text, how it was made)."""
    tagged, word = original.tagged, original.tagged.words[attempt.choice.index]
    if not all(tools.is_clean(text) for text in attempt.texts):
        raise Left(UNGRAMMATICAL_EDIT)
    stream = generator(tools.seed, "builders", "minimal_pairs", tagged.text)
    misspelling = misspelt(word.lowercase, stream)
    if misspelling is None:
        raise Left("no misspelling of the word")
    typo, typo_way = misspelling
    synonym, antonym, negation = attempt.texts
    random_edit: Edit | ExtraEdit
    if tools.guess:
        words = tools.guess(tagged.text[: word.start], tagged.text[word.end :])
        random_edit, way = "random_mlm", "masked language model"
    else:
        words = tools.vocabulary.like(tagged, attempt.choice.index, stream)
        random_edit, way = "random_word", "a word of the same tag and frame"
    for random_text in random_words(tagged, attempt.choice, words, any_frame=tools.guess is not None):
        # What a model predicts is kept as it is.
        if tools.guess or tools.is_clean(random_text):
            break
    else:
        raise Left("no random word that fits")
    edits: dict[Edit | ExtraEdit, tuple[str, str]] = {
        "synonym": (synonym, LISTED),
        "antonym": (antonym, LISTED),
        # Unlike with another word, the article before a misspelling is kept.
        "typo": (tagged.text[: word.start] + cased(word, typo) + tagged.text[word.end :], typo_way),
        random_edit: (random_text, way),
        "negation_main": (original.main, "rule"),
    }
    # If the chosen word is the main verb, both negations are one sentence, which is one item.
    if negation != original.main:
        edits["negation_antonym"] = (negation, "rule")
    # HEROS does not have this edit.
    other_number = number(tagged, stream)
    if other_number and tools.is_clean(other_number):
        edits["number"] = (other_number, "rule")
    return edits
