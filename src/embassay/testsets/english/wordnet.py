"""WordNet 3.0 (Miller 1995; Fellbaum 1998), read from the files of its database.

The format is ``wndb(5)`` of WordNet's manual. Senses of a word are ordered by how often they occur in the tagged texts
of SemCor, the most frequent first; ``cntlist.rev`` has the counts. Debian's package and nltk's download both work.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from embassay.errors import InputError

PARTS = {"a": "adj", "v": "verb", "r": "adv", "n": "noun"}
"""Parts of speech and the ending of their files' names."""
_PART_OF_NUMBER = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
"""The part of speech that the number in a sense key stands for; 5 is an adjective satellite."""
_ANTONYM, _SIMILAR, _INSTANCE = "!", "&", "@i"
_RELATED = {_ANTONYM, _SIMILAR, "^", "*", ">", "+", "\\", "<", "@", "~", "$"}
"""Pointers to words that are near in meaning or opposite: what a random word must not be."""


@dataclass(frozen=True)
class Pointer:
    """A relation of a synset, or of one of its words, to another synset or one of its words.

    Attributes
    ----------
    symbol
        The kind of relation, as in ``wninput(5)``: ``!`` for an antonym.
    part, offset
        The other synset.
    source, target
        The place of the word in this synset and in the other, from 1; 0 for the whole synset.
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
    frames
        The numbers of the sentence frames of verbs, 1 to 35, and the place of the word that has it (0 for all).
    gloss
        Definition and examples.
    """

    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]
    frames: tuple[tuple[int, int], ...]
    gloss: str


@dataclass(frozen=True)
class Sense:
    """One sense of a word.

    Attributes
    ----------
    number
        Its rank among the word's senses, from 1, the most frequent first.
    count
        How often it occurs in SemCor.
    synset
        The synset of the sense; the word itself is in it.
    """

    number: int
    count: int
    synset: Synset


class Lexicon:
    """The words of WordNet."""

    def __init__(self, place: Path):
        """Open the database in a folder, or in a zip file as nltk downloads it; files are read when they are needed."""
        self._place = place
        # One lexicon lives as long as the process, so its caches are never freed.
        self._index = cache(self._read_index)
        self._counts = cache(self._read_counts)
        self._data = cache(self._read)
        self._synset = lru_cache(maxsize=50_000)(self._read_synset)
        self.senses = lru_cache(maxsize=50_000)(self._senses)
        self.related = lru_cache(maxsize=20_000)(self._related)
        self.verb_frames = lru_cache(maxsize=20_000)(self._verb_frames)

    def count(self, lemma: str, part: str) -> int:
        """Return how often a word occurs in SemCor, in all its senses."""
        return sum(sense.count for sense in self.senses(lemma, part))

    def synonyms(self, lemma: str, part: str) -> tuple[str, ...]:
        """Return the other words of the synsets of a word."""
        words = dict[str, None]()
        for sense in self.senses(lemma, part):
            words |= dict.fromkeys(sense.synset.words)
        words.pop(lemma, None)
        return tuple(words)

    def antonyms(self, lemma: str, part: str) -> tuple[str, ...]:
        """Return the direct antonyms of a word, in the order of its senses."""
        antonyms = dict[str, None]()
        for sense in self.senses(lemma, part):
            for pointer in sense.synset.pointers:
                # A pointer of one word is no pointer of its synonyms: "little" is an antonym of "big", not of "large".
                of_word = pointer.source == 0 or sense.synset.words[pointer.source - 1] == lemma
                if pointer.symbol == _ANTONYM and of_word:
                    antonyms |= dict.fromkeys(self._targets(pointer))
        return tuple(antonyms)

    def similar(self, sense: Sense) -> tuple[str, ...]:
        """Return the words of the synsets that WordNet calls similar to an adjective's sense."""
        return tuple(dict.fromkeys(self._pointed(sense.synset, {_SIMILAR})))

    def kind(self, name: str) -> str | None:
        """Return what a name in lower case is one of (``city``, ``country`` …); None where that is not certain.

        It is certain where all senses of the name are instances of the same synset.
        """
        kinds = set[Synset | None]()
        for sense in self.senses(name, "n"):
            pointers = [pointer for pointer in sense.synset.pointers if pointer.symbol == _INSTANCE]
            kinds.add(self._synset(pointers[0].part, pointers[0].offset) if pointers else None)
        kind = kinds.pop() if len(kinds) == 1 else None
        return kind.words[0] if kind else None

    def _related(self, lemma: str) -> frozenset[str]:
        """Return the word itself and all words that share a synset with it or are one pointer away."""
        related = {lemma}
        for part in PARTS:
            for sense in self.senses(lemma, part):
                related.update(sense.synset.words)
                related.update(self._pointed(sense.synset, _RELATED))
        return frozenset(related)

    def _verb_frames(self, lemma: str) -> frozenset[int]:
        """Return the numbers of the sentence frames (1 to 35) of a verb's two most frequent senses."""
        numbers = set[int]()
        for sense in self.senses(lemma, "v")[:2]:
            for number, place in sense.synset.frames:
                if place == 0 or sense.synset.words[place - 1] == lemma:
                    numbers.add(number)
        return frozenset(numbers)

    def _pointed(self, synset: Synset, symbols: set[str]) -> Iterator[str]:
        """Yield the words that pointers of a synset and of its words lead to."""
        for pointer in synset.pointers:
            if pointer.symbol in symbols:
                yield from self._targets(pointer)

    def _targets(self, pointer: Pointer) -> tuple[str, ...]:
        """Return the word that a pointer leads to, or all words of the synset."""
        words = self._synset(pointer.part, pointer.offset).words
        return (words[pointer.target - 1],) if pointer.target else words

    def _senses(self, lemma: str, part: str) -> tuple[Sense, ...]:
        """Return the senses of a word, the most frequent first; none for a word that is not in WordNet."""
        counts = self._counts()
        senses = []
        for number, offset in enumerate(self._index(part).get(lemma, ()), start=1):
            count = counts.get((lemma, part, number), 0)
            senses.append(Sense(number, count, self._synset(part, offset)))
        return tuple(senses)

    def _read(self, name: str) -> bytes:
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
            if line and not line.startswith(" "):
                lemma, _, senses, *rest = line.split()
                offsets[lemma] = tuple(map(int, rest[-int(senses) :]))
        return offsets

    def _read_counts(self) -> dict[tuple[str, str, int], int]:
        """Return how often a sense occurs in SemCor, by (lemma, part of speech, number)."""
        counts = dict[tuple[str, str, int], int]()
        for line in self._data("cntlist.rev").decode("utf-8").split("\n"):
            if line:
                key, number, count = line.split()
                lemma, _, rest = key.partition("%")
                counts[lemma, _PART_OF_NUMBER[rest[0]], int(number)] = int(count)
        return counts

    def _read_synset(self, part: str, offset: int) -> Synset:
        """Read the line of a synset: its words, its pointers, a verb's frames and the gloss, as ``wndb(5)`` has it."""
        # Satellites of adjectives, "s", are in the file of the adjectives.
        data = self._data("data.adj" if part == "s" else f"data.{PARTS[part]}")
        line, _, gloss = data[offset : data.index(b"\n", offset)].decode("utf-8").partition("|")
        fields = line.split()

        word_count = int(fields[3], 16)
        end = 4 + 2 * word_count
        # "(p)", "(a)" and "(ip)" after an adjective say where it stands.
        words = tuple(word.partition("(")[0].lower() for word in fields[4:end:2])

        pointers = []
        start, end = end + 1, end + 1 + 4 * int(fields[end])
        for place in range(start, end, 4):
            symbol, other, other_part, ends = fields[place : place + 4]
            pointers.append(Pointer(symbol, other_part, int(other), int(ends[:2], 16), int(ends[2:], 16)))

        # The frames of a verb: their number, then "+", the frame and the word for each.
        numbers, places = fields[end + 2 :: 3], fields[end + 3 :: 3]
        frames = tuple((int(number), int(place, 16)) for number, place in zip(numbers, places, strict=True))
        return Synset(words, tuple(pointers), frames, gloss.strip())


@cache
def wordnet() -> Lexicon:
    """Return WordNet, wherever it is installed on this machine.

    Raises
    ------
    InputError
        If it is not, with the two lines that install it.
    """
    for place in places():
        if place.suffix == ".zip" or (place / "data.verb").is_file():
            return Lexicon(place)
    raise InputError(
        "WordNet is not installed; install it with 'apt-get install wordnet-base', "
        "or with 'pip install nltk' and 'python -m nltk.downloader wordnet'"
    )


def places() -> list[Path]:
    """Return where WordNet may lie: ``WNSEARCHDIR``, Debian's folder, then nltk's folders."""
    folder = os.environ.get("WNSEARCHDIR", "")
    candidates = [Path(folder)] if folder else []
    candidates.append(Path("/usr/share/wordnet"))

    # Where nltk looks for its data, in its order.
    homes = [Path(home) for home in os.environ.get("NLTK_DATA", "").split(os.pathsep) if home]
    homes += [Path.home() / "nltk_data", Path(sys.prefix) / "nltk_data", Path(sys.prefix) / "share" / "nltk_data"]
    homes += [Path(root) / "nltk_data" for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")]
    for home in homes:
        candidates.append(home / "corpora" / "wordnet")
        archive = home / "corpora" / "wordnet.zip"
        if archive.is_file():
            candidates.append(archive)
    return candidates
