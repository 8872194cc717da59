"""WordNet 3.0 (Miller 1995; Fellbaum 1998): the senses of a word, and the words that they are connected with.

The files of its database are read as ``wndb(5)`` of WordNet's manual describes them. The senses of a word are ordered
by their frequency in the tagged texts of SemCor, most frequent first. Debian's package and nltk's download can both be
used. Words go in and come out in lower case, the parts of a compound joined by underscores.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from embassay.core.errors import InputError

PARTS = {"a": "adj", "v": "verb", "r": "adv", "n": "noun"}
"""Letters of parts of speech and the suffixes of their files."""
_ANTONYM, SIMILAR = "!", "&"
_RELATED = frozenset("!&^*>+\\<@~$")
"""Pointers to words with a similar or opposite meaning, which are no random words."""


class Pointer(NamedTuple):
    """A relation of a synset, or of one of its words, to another synset or one of its words.

    Attributes
    ----------
    symbol
        The kind of relation, as in ``wninput(5)``; for example ``!`` for an antonym.
    part, offset
        The other synset.
    source, target
        The number of the word in this synset and in the other, from 1; 0 for the whole synset.
    """

    symbol: str
    part: str
    offset: int
    source: int
    target: int


class Synset(NamedTuple):
    """A set of synonyms and its relations to others."""

    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]


@lru_cache(maxsize=50_000)
def senses(lemma: str, part: str) -> tuple[Synset, ...]:
    """Return the synsets of a word, that of the most frequent sense first; empty for an unknown word."""
    return tuple(_synset(part, offset) for offset in _index(part).get(lemma, ()))


def synonyms(lemma: str, part: str) -> set[str]:
    """Return the other words of the synsets of a word."""
    return {word for synset in senses(lemma, part) for word in synset.words} - {lemma}


def antonyms(lemma: str, part: str, *, of_synonyms: bool = False) -> tuple[str, ...]:
    """Return the direct antonyms of a word, in the order of its senses.

    Parameters
    ----------
    of_synonyms
        Add those of the other words of its synsets.
    """
    words = list[str]()
    for synset in senses(lemma, part):
        # A pointer of one word does not hold for its synonyms: "little" is an antonym of "big", not of "large".
        sources = range(len(synset.words) + 1) if of_synonyms else (0, synset.words.index(lemma) + 1)
        words += pointed(synset, _ANTONYM, sources)
    return tuple(dict.fromkeys(words))


def pointed(synset: Synset, symbols: Collection[str], sources: Collection[int] = ()) -> Iterator[str]:
    """Yield the words that pointers of a synset lead to.

    Parameters
    ----------
    sources
        The numbers of the words that the pointers belong to, 0 for those of the synset; empty for all.
    """
    for pointer in synset.pointers:
        if pointer.symbol in symbols and (not sources or pointer.source in sources):
            words = _synset(pointer.part, pointer.offset).words
            # Targets count from 1; 0 is the whole synset.
            yield from words[pointer.target - 1 : pointer.target] if pointer.target else words


@lru_cache(maxsize=20_000)
def connected(lemma: str) -> frozenset[str]:
    """Return a word, the other words of its synsets, and all words that a pointer of its synsets leads to."""
    words = {lemma}
    for part in PARTS:
        for synset in senses(lemma, part):
            words.update(synset.words, pointed(synset, _RELATED))
    return frozenset(words)


# --- The files of the database ---


@cache
def open_wordnet() -> Path | zipfile.Path:
    """Return the first folder, or zip file of nltk, that has WordNet.

    Raises
    ------
    InputError
        If it is not installed, with the commands that install it.
    """
    for place in places():
        if (place / "data.verb").is_file():
            return place
        archive = place.with_suffix(".zip")
        if archive.is_file():
            return zipfile.Path(archive, "wordnet/")
    raise InputError(
        "WordNet is not installed; install it with 'apt-get install wordnet-base', "
        "or with 'pip install nltk' and 'python -m nltk.downloader wordnet'"
    )


def places() -> list[Path]:
    """Return where WordNet may be installed: ``WNSEARCHDIR``, Debian's folder, then folders of nltk's data."""
    homes = os.environ.get("NLTK_DATA", "").split(os.pathsep)
    homes += [f"{parent}/nltk_data" for parent in (Path.home(), "/usr/share", "/usr/local/share")]
    folders = [os.environ.get("WNSEARCHDIR", ""), "/usr/share/wordnet"]
    return [Path(folder) for folder in folders if folder] + [Path(home, "corpora", "wordnet") for home in homes if home]


@cache
def _data(name: str) -> bytes:
    """Return the content of a file of the database."""
    place = open_wordnet()
    try:
        return (place / name).read_bytes()
    except (OSError, KeyError, zipfile.BadZipFile):
        raise InputError(f"{place}: not a whole WordNet database: cannot read {name}") from None


@cache
def _index(part: str) -> dict[str, tuple[int, ...]]:
    """Return the offsets of each word's senses, most frequent first."""
    offsets = dict[str, tuple[int, ...]]()
    for line in _data(f"index.{PARTS[part]}").decode("utf-8").split("\n"):
        # The lines of the licence start with spaces.
        if line and line[0] != " ":
            # A line is: lemma, part of speech, number of senses, other fields, one offset for each sense.
            lemma, _, sense_count, *fields = line.split()
            offsets[lemma] = tuple(map(int, fields[-int(sense_count) :]))
    return offsets


def _synset(part: str, offset: int) -> Synset:
    """Read the synset at an offset: its words and its pointers."""
    # Adjective satellites, "s", are in the file of the adjectives.
    data = _data(f"data.{PARTS['a' if part == 's' else part]}")
    # The definition and examples come after the bar.
    fields = data[offset : data.index(b"|", offset)].decode("utf-8").split()

    # Words: their number in hexadecimal digits, then for each the word and a lexical id.
    end = 4 + 2 * int(fields[3], 16)
    # "(p)", "(a)" and "(ip)" after an adjective show its syntactic position.
    words = tuple(word.partition("(")[0].lower() for word in fields[4:end:2])

    # Pointers: their number, then four fields for each.
    pointers = list[Pointer]()
    for place in range(end + 1, end + 1 + 4 * int(fields[end]), 4):
        symbol, other_offset, other_part, numbers = fields[place : place + 4]
        source, target = int(numbers[:2], 16), int(numbers[2:], 16)
        pointers.append(Pointer(symbol, other_part, int(other_offset), source, target))
    return Synset(words, tuple(pointers))
