"""WordNet 3.0 (Miller 1995; Fellbaum 1998) as the files of its database, read where they are asked for.

The format is ``wndb(5)`` of WordNet's manual. Senses of a word are ordered by how often they were met in the tagged
texts of SemCor, the most frequent first; ``cntlist.rev`` has the counts. Debian's package and nltk's download both do.
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
_KINDS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
_NEAR = {"!", "&", "^", "*", ">", "+", "\\", "<", "@", "~", "$"}
"""Pointers to words that are near in meaning or opposite: what a random word must not be."""


@dataclass(frozen=True)
class Sense:
    """One sense of a word.

    Attributes
    ----------
    number
        Its rank among the word's senses, from 1, the most frequent first.
    count
        How often it was met in SemCor; 0 for never.
    synset
        The key of its set of synonyms: part of speech and offset.
    lemmas
        The words of the set, in lower case, the word itself among them; several words are joined by underscores.
    gloss
        Its definition, without the examples.
    examples
        The examples of the gloss, as one text.
    """

    number: int
    count: int
    synset: str
    lemmas: tuple[str, ...]
    gloss: str
    examples: str


@dataclass(frozen=True)
class Opposite:
    """A direct antonym of a word, and the sense that it is the opposite of."""

    lemma: str
    sense: Sense


class Lexicon:
    """The words of WordNet."""

    def __init__(self, place: Path):
        """Open the database in a folder, or in a zip file as nltk downloads it; files are read as they are needed."""
        self._place = place
        self._index = cache(self._read_index)
        self._data = cache(self._read)
        self.senses = lru_cache(maxsize=50_000)(self._senses)

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
        found: dict[str, tuple[int, ...]] = {}
        for line in self._data(f"index.{PARTS[part]}").decode("utf-8").split("\n"):
            if line and not line.startswith(" "):
                lemma, _, senses, *rest = line.split()
                found[lemma] = tuple(map(int, rest[-int(senses) :]))
        return found

    @cache  # noqa: B019 - one lexicon lives as long as the process
    def _counts(self) -> dict[tuple[str, str, int], int]:
        """Return how often a sense was met, by (lemma, part of speech, number)."""
        found: dict[tuple[str, str, int], int] = {}
        for line in self._data("cntlist.rev").decode("utf-8").split("\n"):
            if line:
                key, number, count = line.split()
                lemma, _, rest = key.partition("%")
                found[lemma, _KINDS[rest[0]], int(number)] = int(count)
        return found

    def _senses(self, lemma: str, part: str) -> tuple[Sense, ...]:
        """Return the senses of a word, the most frequent first; none for a word that is not there."""
        counts = self._counts()
        found = []
        for number, offset in enumerate(self._index(part).get(lemma, ()), start=1):
            words, _, gloss = self._synset(part, offset)
            meaning, _, examples = gloss.partition('"')
            lemmas = tuple(word.lower() for word in words)
            found.append(
                Sense(
                    number,
                    counts.get((lemma, part, number), 0),
                    f"{part}{offset}",
                    lemmas,
                    meaning.strip("; "),
                    examples,
                )
            )
        return tuple(found)

    def count(self, lemma: str, part: str) -> int:
        """Return how often a word was met in SemCor, all its senses together."""
        return sum(sense.count for sense in self.senses(lemma, part))

    def share(self, lemma: str, part: str, number: int) -> float:
        """Return the share of a sense among a word's, 0 to 1, each counted once more than it was met."""
        senses = self.senses(lemma, part)
        return next((s.count + 1 for s in senses if s.number == number), 0) / max(1, sum(s.count + 1 for s in senses))

    def synonyms(self, lemma: str, part: str, number: int | None = None) -> tuple[str, ...]:
        """Return the other words of a sense's set, or of all senses', those met most often first."""
        chosen = [sense for sense in self.senses(lemma, part) if number in (None, sense.number)]
        words = dict.fromkeys(word for sense in chosen for word in sense.lemmas if word != lemma)
        return tuple(sorted(words, key=lambda word: -self.count(word, part)))

    def antonyms(self, lemma: str, part: str) -> tuple[Opposite, ...]:
        """Return the direct antonyms of a word, in the order of its senses."""
        found = []
        for sense in self.senses(lemma, part):
            found += [Opposite(word, sense) for word in self._pointed(lemma, part, int(sense.synset[1:]), {"!"})]
        return tuple(found)

    def similar(self, lemma: str, part: str, number: int) -> tuple[str, ...]:
        """Return the words of the sets that WordNet calls similar to an adjective's sense."""
        offset = int(self.senses(lemma, part)[number - 1].synset[1:])
        return tuple(dict.fromkeys(self._pointed(None, part, offset, {"&"})))

    @lru_cache(maxsize=20_000)  # noqa: B019 - one lexicon lives as long as the process
    def related(self, lemma: str) -> frozenset[str]:
        """Return all words that share a set with a word in any sense, or are one pointer away, and itself."""
        found = {lemma}
        for part in PARTS:
            for sense in self.senses(lemma, part):
                found |= {*sense.lemmas, *self._pointed(None, part, int(sense.synset[1:]), _NEAR)}
        return frozenset(found)

    def kind(self, name: str) -> str | None:
        """Return what a name in lower case is one of (``city``, ``country`` …); None where that is not certain.

        Certain it is where all its senses are instances, and all of the same set of nouns.
        """
        senses = [self._synset("n", int(sense.synset[1:])) for sense in self.senses(name, "n")]
        kinds = [
            [(part, offset) for symbol, offset, part, _ in pointers if symbol == "@i"] for _, pointers, _ in senses
        ]
        if not kinds or not all(kinds) or len({tuple(kind[:1]) for kind in kinds}) != 1:
            return None
        part, offset = kinds[0][0][0], kinds[0][0][1]
        return self._synset(part, offset)[0][0].lower()

    @lru_cache(maxsize=20_000)  # noqa: B019 - one lexicon lives as long as the process
    def verb_frames(self, lemma: str) -> frozenset[int]:
        """Return the numbers of the sentence frames (1 to 35) of a verb's two most frequent senses."""
        found = set[int]()
        for sense in self.senses(lemma, "v")[:2]:
            offset = int(sense.synset[1:])
            line = self._data("data.verb")
            fields = line[offset : line.index(b"|", offset)].decode("utf-8").split()
            place = 5 + 2 * int(fields[3], 16)
            rest = fields[place + 4 * int(fields[place - 1]) :]
            words = [word.lower() for word in sense.lemmas]
            for _, number, word in zip(rest[1::3], rest[2::3], rest[3::3], strict=True):
                if int(word, 16) == 0 or words[int(word, 16) - 1] == lemma:
                    found.add(int(number))
        return frozenset(found)

    def _pointed(self, lemma: str | None, part: str, offset: int, symbols: set[str]) -> Iterator[str]:
        """Yield the words that pointers lead to: of one word of the set, or (None) of all and the set as a whole."""
        words, pointers, _ = self._synset(part, offset)
        for symbol, target, kind, ends in pointers:
            source, goal = int(ends[:2], 16), int(ends[2:], 16)
            if symbol not in symbols or (lemma is not None and source and words[source - 1].lower() != lemma):
                continue
            others = self._synset(kind, target)[0]
            yield from (word.lower() for word in (others[goal - 1 : goal] if goal else others))

    def _synset(self, part: str, offset: int) -> tuple[list[str], list[tuple[str, int, str, str]], str]:
        """Return the words of a set, its pointers (symbol, offset, part, source and target) and its gloss."""
        part = "a" if part == "s" else part
        data = self._data(f"data.{PARTS[part]}")
        line, _, gloss = data[offset : data.index(b"\n", offset)].decode("utf-8").partition("|")
        fields = line.split()
        size = int(fields[3], 16)
        words = [word.partition("(")[0] for word in fields[4 : 4 + 2 * size : 2]]
        start = 5 + 2 * size
        rest = fields[start : start + 4 * int(fields[start - 1])]
        pointers = [(rest[i], int(rest[i + 1]), rest[i + 2], rest[i + 3]) for i in range(0, len(rest), 4)]
        return words, pointers, gloss.strip()


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
    named = os.environ.get("WNSEARCHDIR", "")
    homes: list[Path | str] = [
        *filter(None, os.environ.get("NLTK_DATA", "").split(os.pathsep)),
        Path.home() / "nltk_data",
    ]
    homes += [Path(sys.prefix) / "nltk_data", Path(sys.prefix) / "share" / "nltk_data"]
    homes += [Path(root) / "nltk_data" for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")]
    found = [Path(named)] if named else []
    found.append(Path("/usr/share/wordnet"))
    for home in homes:
        found.append(Path(home) / "corpora" / "wordnet")
        found += [file for file in [Path(home) / "corpora" / "wordnet.zip"] if file.is_file()]
    return found
