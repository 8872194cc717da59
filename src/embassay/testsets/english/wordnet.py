"""WordNet 3.0 (Miller 1995; Fellbaum 1998), read from the files of its database.

The format is described in ``wndb(5)`` of WordNet's manual. The senses of a word are ordered by their frequency in the
tagged texts of SemCor, most frequent first. Debian's package and nltk's download can both be used.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from embassay.core.errors import InputError

PARTS = {"a": "adj", "v": "verb", "r": "adv", "n": "noun"}
"""Letters of parts of speech and the suffixes of their files."""
_ANTONYM, _SIMILAR = "!", "&"
_RELATED = {_ANTONYM, _SIMILAR, "^", "*", ">", "+", "\\", "<", "@", "~", "$"}
"""Pointers to words with a similar or opposite meaning, which are no random words."""


@dataclass(frozen=True)
class Pointer:
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


@dataclass(frozen=True)
class Synset:
    """A set of synonyms.

    Attributes
    ----------
    words
        In lower case; the parts of a compound are joined by underscores.
    pointers
        Its relations to other synsets.
    """

    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]


class WordNet:
    """The words of WordNet with their senses and relations."""

    def __init__(self, place: Path):
        """Open the database; its files are read when they are needed.

        Parameters
        ----------
        place
            A folder, or a zip file as downloaded by nltk.
        """
        self._place = place
        # There is one lexicon per process, so its caches need not be freed.
        self._index = cache(self._read_index)
        self._data = cache(self._read)
        self._synset = lru_cache(maxsize=50_000)(self._read_synset)
        self.senses = lru_cache(maxsize=50_000)(self._senses)
        self.related = lru_cache(maxsize=20_000)(self._related)

    def synonyms(self, lemma: str, part: str) -> tuple[str, ...]:
        """Return the other words of the synsets of a word."""
        words = dict[str, None]()
        for synset in self.senses(lemma, part):
            words |= dict.fromkeys(synset.words)
        words.pop(lemma, None)
        return tuple(words)

    def antonyms(self, lemma: str, part: str, *, of_synonyms: bool = False) -> tuple[str, ...]:
        """Return the direct antonyms of a word, in the order of its senses.

        Parameters
        ----------
        of_synonyms
            Add those of the other words of its synsets.
        """
        antonyms = dict[str, None]()
        for synset in self.senses(lemma, part):
            for pointer in synset.pointers:
                # A pointer of one word does not hold for its synonyms: "little" is an antonym of "big", not of "large".
                holds_for_word = of_synonyms or pointer.source == 0 or synset.words[pointer.source - 1] == lemma
                if pointer.symbol == _ANTONYM and holds_for_word:
                    antonyms |= dict.fromkeys(self._targets(pointer))
        return tuple(antonyms)

    def similar(self, synset: Synset) -> Iterator[str]:
        """Yield the words of the synsets that WordNet calls similar to one of an adjective."""
        return self._pointed(synset, {_SIMILAR})

    def _related(self, lemma: str) -> frozenset[str]:
        """Return a word, the other words of its synsets, and all words that a pointer of its synsets leads to."""
        related = {lemma}
        for part in PARTS:
            for synset in self.senses(lemma, part):
                related.update(synset.words)
                related.update(self._pointed(synset, _RELATED))
        return frozenset(related)

    def _pointed(self, synset: Synset, symbols: set[str]) -> Iterator[str]:
        """Yield the words that pointers of a synset and of its words lead to."""
        for pointer in synset.pointers:
            if pointer.symbol in symbols:
                yield from self._targets(pointer)

    def _targets(self, pointer: Pointer) -> tuple[str, ...]:
        """Return the word that a pointer leads to; all words of the synset if it leads to the whole synset."""
        words = self._synset(pointer.part, pointer.offset).words
        # Targets count from 1; 0 is the whole synset.
        if pointer.target == 0:
            return words
        return (words[pointer.target - 1],)

    def _senses(self, lemma: str, part: str) -> tuple[Synset, ...]:
        """Return the synsets of a word, that of the most frequent sense first; empty for an unknown word."""
        return tuple(self._synset(part, offset) for offset in self._index(part).get(lemma, ()))

    def _read(self, name: str) -> bytes:
        """Return the content of a file of the database."""
        try:
            if self._place.suffix == ".zip":
                with zipfile.ZipFile(self._place) as archive:
                    return archive.read(f"wordnet/{name}")
            return (self._place / name).read_bytes()
        except (OSError, KeyError, zipfile.BadZipFile):
            raise InputError(f"{self._place}: not a whole WordNet database: cannot read {name}") from None

    def _read_index(self, part: str) -> dict[str, tuple[int, ...]]:
        """Return the offsets of each word's senses, most frequent first."""
        offsets = dict[str, tuple[int, ...]]()
        for line in self._data(f"index.{PARTS[part]}").decode("utf-8").split("\n"):
            # The lines of the licence start with spaces.
            if not line or line.startswith(" "):
                continue
            # A line is: lemma, part of speech, number of senses, other fields, one offset for each sense.
            lemma, _, sense_count, *fields = line.split()
            offsets[lemma] = tuple(map(int, fields[-int(sense_count) :]))
        return offsets

    def _read_synset(self, part: str, offset: int) -> Synset:
        """Read the synset at an offset: its words and its pointers (``wndb(5)``)."""
        # Adjective satellites, "s", are in the file of the adjectives.
        name = "data.adj" if part == "s" else f"data.{PARTS[part]}"
        data = self._data(name)
        end_of_line = data.index(b"\n", offset)
        # The definition and examples come after the bar.
        line, _, _ = data[offset:end_of_line].decode("utf-8").partition("|")
        fields = line.split()

        # Words: their number in hexadecimal digits, then for each the word and a lexical id.
        end = 4 + 2 * int(fields[3], 16)
        # "(p)", "(a)" and "(ip)" after an adjective show its syntactic position.
        words = tuple(word.partition("(")[0].lower() for word in fields[4:end:2])

        # Pointers: their number, then four fields for each.
        pointers = list[Pointer]()
        start, end = end + 1, end + 1 + 4 * int(fields[end])
        for place in range(start, end, 4):
            symbol, other_offset, other_part, numbers = fields[place : place + 4]
            source, target = int(numbers[:2], 16), int(numbers[2:], 16)
            pointers.append(Pointer(symbol, other_part, int(other_offset), source, target))
        return Synset(words, tuple(pointers))


@cache
def open_wordnet() -> WordNet:
    """Return WordNet from the first place where it is installed.

    Raises
    ------
    InputError
        If it is not installed, with the commands that install it.
    """
    for place in places():
        if place.suffix == ".zip" or (place / "data.verb").is_file():
            return WordNet(place)
    raise InputError(
        "WordNet is not installed; install it with 'apt-get install wordnet-base', "
        "or with 'pip install nltk' and 'python -m nltk.downloader wordnet'"
    )


def places() -> list[Path]:
    """Return the places where WordNet may be installed: ``WNSEARCHDIR``, Debian's folder, then nltk's folders."""
    folder = os.environ.get("WNSEARCHDIR", "")
    candidates = []
    if folder:
        candidates = [Path(folder)]
    candidates.append(Path("/usr/share/wordnet"))

    # The folders in which nltk searches for its data, in the same order.
    homes = [Path(home) for home in os.environ.get("NLTK_DATA", "").split(os.pathsep) if home]
    homes += [Path.home() / "nltk_data", Path(sys.prefix) / "nltk_data", Path(sys.prefix) / "share" / "nltk_data"]
    homes += [Path(root) / "nltk_data" for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")]
    for home in homes:
        candidates.append(home / "corpora" / "wordnet")
        archive = home / "corpora" / "wordnet.zip"
        if archive.is_file():
            candidates.append(archive)
    return candidates
