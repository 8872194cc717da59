"""Another word that fits grammatically and means something else (Chiang et al. 2023, section 2.2.4).

HEROS asks a masked language model. Where there is none, the words of the corpus itself serve: of the same tag, seen in
the same frame, about as frequent. Left out are synonyms, antonyms, words derived from either, and words that are nearly
synonyms, which HEROS's authors took out by hand ("great" for "good").
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache

import numpy as np

from embassay.testsets.english.frames import around_adjective, around_verb
from embassay.testsets.english.replacements import Replacement, entries
from embassay.testsets.english.selection import is_profane
from embassay.testsets.english.tagger import lexicon, possible
from embassay.testsets.english.wordnet import Lexicon
from embassay.testsets.english.words import Tagged, Word, inflected, substituted, tag

TRIES = 12
"""Words that are tried before an original is given up."""
SEEN = 3
"""How often a word must have been seen in a frame, at least."""
COMPLEMENTS = {
    "ger": "love hate enjoy avoid finish start stop keep quit consider miss regret mention suggest recall imagine risk",
    "inf": "want try need decide hope plan agree refuse learn manage fail forget offer promise expect choose deserve "
    "pretend start begin continue threaten intend",
    "that": "admit claim swear forget remember insist pretend complain learn notice prove promise hope mention hear",
    "cl": "admit claim swear forget remember pretend learn notice prove promise hope hear",
}
"""Verbs that may stand in a frame with another verb; they serve where the corpus has none."""
LINKING = frozenset(
    "see hear make feel look seem sound appear become remain stay taste smell turn grow matter last".split()
)
"""Verbs that do not end a clause, or seldom."""
TRANSITIVE = frozenset({8, 9, 11})
"""WordNet's verb frames with an object: "somebody ----s something"; 2 is "somebody ----s"."""
Guess = Callable[[str, str], Iterable[str]]
"""Returns the words that a masked language model would put between two texts, the likeliest first."""
SHARE = 0.2
"""What share of its occurrences a word must have in a frame, at least: "says" is seen before an object, seldom."""
_PLAIN = frozenset(
    "be have do go get let ca wo own only same other such last next first second third few many much several various "
    "say tell ask put spend find become seem remain bring send give show call make mean remind convince inform assure "
    "capable google outright sheer further utter upper net hyper haired exact little individual golden colored minimum "
    "maximum foreign-born medical mutual swear bother learn wonder convince tell leftist homeless "
    "multiple numerous comment wish extra actual whole entire sole mere certain sure main former latter super extreme "
    "able due worth like more less least most so racist sexist gay lesbian black white brown asian jewish muslim "
    "christian fat".split()
)
"""Words that stand for no adjective or verb at all, or where few others can, and words about groups of people."""
NEAR = (
    "good cool fun fine perfect sweet neat decent solid sick dope classic ideal favorite special interesting poor "
    "wrong lame broken gross nasty sad sorry best better worst worse epic legit superb brilliant fair okay alright "
    "proud upset mediocre mean nuts hot clean quality valuable ugly tragic unreal wild tough rough harsh smart stupid "
    "dumb silly foolish ridiculous weird crazy insane lazy pathetic lucky funny",
    "understand know realize get see comprehend learn follow",
    "agree know believe think understand",
    "think believe assume suppose guess figure feel imagine expect reckon suspect know realize consider find",
    "love like enjoy want prefer need appreciate",
    "see notice watch find observe spot",
    "hurt kill destroy ruin hate",
    "start keep try stop continue begin end",
    "talk speak say tell mention",
    "help support save protect serve",
    "big high full major long wide tall",
    "important key major serious main special critical",
    "support believe trust help defend",
    "easy possible fine free quick clear",
    "hard tough rough serious harsh tight impossible",
    "true real right correct accurate certain sure common normal fair legit clear wrong",
    "sad sorry tragic upset hurt heartbreaking",
    "weird odd strange bizarre crazy funny creepy silly different interesting embarrassing unusual",
    "weak poor cheap lame soft",
    "strong solid tough hard",
    "glad happy afraid sorry sad",
    "ruin destroy spoil create build make improve save fix",
    "appreciate respect value hate ignore dislike despise",
    "possible difficult hard easy impossible",
    "stop quit avoid finish cease end keep continue start begin pause resist",
    "afraid scared willing unwilling reluctant eager ready ashamed",
    "glad happy willing ready eager",
    "painful hard difficult tough harsh",
    "absurd ridiculous baseless groundless false silly stupid crazy",
    "complain cry whine worry",
    "mad angry furious happy glad sad calm",
    "cruel rude mean mad harsh unfair",
    "bad happy sad sorry guilty glad",
    "demonstrate prove claim show insist",
    "horrible terrible awful scary embarrassing offensive",
    "know understand see hear notice",
)
"""Words that may mean nearly the same, or the contrary, though neither WordNet nor the list of replacements says so."""


class Vocabulary:
    """The adjectives and verbs of a corpus by the frames that they were seen in."""

    def __init__(self, sentences: Iterable[Tagged], wordnet: Lexicon):
        """Count them."""
        self._wordnet = wordnet
        self._seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._all = Counter[tuple[str, str]]()
        self._lemmas: dict[tuple[str, str], str] = {}
        for sentence in sentences:
            for index, word in enumerate(sentence.words):
                key = (word.text.lower(), word.tag)
                for frame in frames_of(sentence, index):
                    self._seen[word.tag, frame][key[0]] += 1
                    self._all[key] += 1
                    self._lemmas[key] = word.lemma

    def like(self, tagged: Tagged, index: int, chance: np.random.Generator) -> Iterator[str]:
        """Yield words of the tag and frame of a word, in random order, those about as frequent first."""
        word = tagged.words[index]
        for frame in frames_of(tagged, index):
            counts = self._seen[word.tag, frame]
            own = max(SEEN, counts[word.text.lower()])
            names = sorted(name for name, count in counts.items() if self._usable(name, word, count, frame[2:]))
            near = [name for name in names if own / 4 <= counts[name] <= own * 4]
            far = [name for name in names if name not in set(near)]
            for group in (near, far, _spare(word.tag, frame)):
                yield from (group[place] for place in chance.permutation(len(group)).tolist())

    def _usable(self, name: str, word: Word, count: int, frame: str) -> bool:
        """Say whether a word that was seen so often in a frame is at home there, and is mostly what its tag says."""
        often = count >= SEEN and count >= SHARE * self._all[name, word.tag]
        plain = name.isalpha() and self._lemmas[name, word.tag] not in _PLAIN and name not in _kin()["good"]
        lemma = self._lemmas[name, word.tag]
        if word.tag != "JJ" and not self._takes(lemma, frame):
            return False
        return often and plain and word.tag in _tags(name) and lexicon().get(name, word.tag)[:2] == word.tag[:2]

    def _takes(self, lemma: str, frame: str) -> bool:
        """Say whether a verb is one that may stand in a frame."""
        if frame in COMPLEMENTS:
            return lemma in COMPLEMENTS[frame].split()
        frames = self._wordnet.verb_frames(lemma)
        if frame == "end":
            return 2 in frames and lemma not in LINKING
        return not frames.isdisjoint(TRANSITIVE)


@lru_cache(maxsize=1_000)
def _spare(tag: str, frame: str) -> tuple[str, ...]:
    """Return words for a frame that the corpus has none for: of the list of replacements, or of the complements."""
    part, _, name = frame.partition("-")
    name = name.rpartition("-")[2]
    if part == "v" and name in COMPLEMENTS:
        lemmas = set(COMPLEMENTS[name].split())
    else:
        known = [entry for of_word in entries().values() for entry in of_word if entry.part == part and not entry.only]
        lemmas = {entry.word for entry in known if name in entry.frames}
    forms = (lemma if tag == "JJ" else inflected(lemma, tag) for lemma in sorted(lemmas - _kin()["good"]))
    return tuple(form for form in forms if form)


def frames_of(tagged: Tagged, index: int) -> tuple[str, ...]:
    """Return the frames of an adjective or a verb, each with the part of speech and the kind of noun before it."""
    found = tagged.words[index].tag
    if found == "JJ":
        around = around_adjective(tagged.words, index)
        kind = "a-" + "-".join(sorted(around.marks & {"prs", "it"})) if around else ""
    elif found.startswith("VB"):
        around = around_verb(tagged.words, index)
        kind = "v-"
    else:
        return ()
    return tuple(sorted(kind + frame for frame in around.frames)) if around else ()


def random_words(tagged: Tagged, chosen: Replacement, words: Iterable[str], wordnet: Lexicon) -> Iterator[str]:
    """Yield the sentence with those words that mean something else and keep the tag of the word they replace."""
    word, tried = tagged.words[chosen.index], 0
    taken = related(word.lemma, wordnet) | related(word.text.lower(), wordnet)
    taken |= {name for lemma in chosen.lemmas for name in related(lemma, wordnet)}
    there = {other.text.lower() for other in tagged.words} | {other.lemma for other in tagged.words}
    for name in words:
        if tried >= TRIES:
            return
        if name in there or not name.isalpha() or is_profane(name) or _lemmas(name) & taken:
            continue
        tried += 1
        text = substituted(tagged, {chosen.index: name})
        again = tag(text)
        same = len(again.words) == len(tagged.words) and again.words[chosen.index].tag == word.tag
        if same and frames_of(again, chosen.index) == frames_of(tagged, chosen.index):
            yield text


@lru_cache(maxsize=20_000)
def related(lemma: str, wordnet: Lexicon) -> frozenset[str]:
    """Return what a random word for a lemma must not be: words near it in WordNet, two steps, or in our list."""
    found = set(wordnet.related(lemma))
    for part in ("a", "v"):
        for sense in wordnet.senses(lemma, part)[:3]:
            for near in (*sense.lemmas, *(wordnet.similar(lemma, part, sense.number) if part == "a" else ())):
                found |= {*wordnet.synonyms(near, part), *(other.lemma for other in wordnet.antonyms(near, part))}
    return frozenset(found | _kin().get(lemma, frozenset()))


@cache
def _kin() -> dict[str, frozenset[str]]:
    """Return the words that our list connects, over synonyms and antonyms, however far."""
    group: dict[str, set[str]] = {}
    for entry in (entry for of_word in entries().values() for entry in of_word):
        joined = set().union(*(group.get(word, {word}) for word in (entry.word, entry.synonym, entry.antonym)))
        group |= dict.fromkeys(joined, joined)
    found = {word: frozenset(words) for word, words in group.items()}
    for line in NEAR:
        for word in line.split():
            found[word] = found.get(word, frozenset()) | frozenset(line.split())
    return found


@lru_cache(maxsize=50_000)
def _lemmas(name: str) -> frozenset[str]:
    """Return all base forms that a word may have, and itself."""
    import lemminflect

    return frozenset({name, *(lemma for lemmas in lemminflect.getAllLemmas(name).values() for lemma in lemmas)})


@lru_cache(maxsize=50_000)
def _tags(name: str) -> frozenset[str]:
    """Return the tags that a word can have; only those of its first part of speech where it is mostly that."""
    can = possible(name)
    return can | {"VBP"} if "VB" in can else can
