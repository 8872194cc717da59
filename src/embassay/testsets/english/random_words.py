"""Random words that fit grammatically and mean something else (Chiang et al. 2023, section 2.2.4).

HEROS uses a masked language model. Without one, words of the corpus are used: those with the same tag, seen in the same
frame, of similar frequency first. Synonyms, antonyms, words derived from them and near-synonyms are left out; the
authors of HEROS removed near-synonyms by hand ("great" for "good").
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache

from numpy.random import Generator

from embassay.testsets.english.installed import lemminflect
from embassay.testsets.english.parser import function_words, possible
from embassay.testsets.english.replacements import Replacement, listed_words
from embassay.testsets.english.selection import is_profane
from embassay.testsets.english.syntax import around_adjective, around_verb
from embassay.testsets.english.wordnet import SIMILAR, antonyms, connected, pointed, senses, synonyms
from embassay.testsets.english.words import Tagged, base_form, inflected, substituted, tag

TRIES = 12
"""The number of words that are tried before an original is left out."""
FEWEST = 3
"""The minimum number of occurrences of a word in a frame."""
COMPLEMENTS = {
    "ger": "love hate enjoy avoid finish start stop keep quit consider miss regret mention suggest recall imagine risk",
    "inf": "want try need decide hope plan agree refuse learn manage fail forget offer promise expect choose deserve "
    "pretend start begin continue threaten intend",
    "that": "admit claim swear forget remember insist pretend complain learn notice prove promise hope mention hear",
    "npto": "want need expect force require enable encourage invite order advise urge cause teach warn train lead pay",
    "cl": "admit claim swear forget remember pretend learn notice prove promise hope hear",
}
"""Verbs with a gerund, an infinitive, a clause, or an object and an infinitive; no other verbs replace them."""
Guess = Callable[[str, str], Iterable[str]]
"""A masked language model: returns the words that it predicts between two texts, most likely first."""
SHARE = 0.2
"""The minimum share of a word's occurrences that are in a frame: "says" seldom has an object."""
UNUSABLE = frozenset(
    "be have do go get let ca wo own only same other such last next first second third few many much several various "
    "say tell ask put spend find become seem remain bring send give show call make mean remind convince inform assure "
    "capable google outright sheer further utter upper net hyper haired exact little individual golden colored minimum "
    "maximum foreign-born medical mutual swear bother learn wonder convince tell leftist homeless "
    "multiple numerous comment wish extra actual whole entire sole mere certain sure main former latter super extreme "
    "able unable due worth like more less least most so racist sexist gay lesbian black white brown asian jewish "
    "muslim christian fat".split()
)
"""Words that hardly ever replace another adjective or verb, and words about groups of people."""
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
    "allow permit enable",
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
    "glad happy pleased afraid sorry sad",
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
"""Words that may be near-synonyms or opposites, although neither WordNet nor the list of replacements says so."""


class Vocabulary:
    """Counts of the adjectives and verbs of a corpus, by the frames in which they occur."""

    def __init__(self, sentences: Iterable[Tagged]):
        """Count the words of the sentences."""
        # By (tag, frame) the counts of words; and by (word, tag) its count over all frames.
        self._in_frame: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._in_any_frame = Counter[tuple[str, str]]()
        for sentence in sentences:
            for index, word in enumerate(sentence.words):
                for frame in frames_of(sentence, index):
                    self._in_frame[word.tag, frame][word.lowercase] += 1
                    self._in_any_frame[word.lowercase, word.tag] += 1

    def like(self, tagged: Tagged, index: int, chance: Generator) -> Iterator[str]:
        """Yield words with the tag and a frame of the word at ``index``.

        For each frame, words of the corpus with a similar frequency come first, then its other words, then words that
        the corpus does not have; each in random order.
        """
        word = tagged.words[index]
        for frame in frames_of(tagged, index):
            counts = self._in_frame[word.tag, frame]
            frequency = max(FEWEST, counts[word.lowercase])
            similar, others = list[str](), list[str]()
            # Sorted, so that the draw does not depend on the order of the sentences.
            for name in sorted(counts):
                if not self._is_usable(name, word.tag, frame):
                    continue
                if frequency / 4 <= counts[name] <= frequency * 4:
                    similar.append(name)
                else:
                    others.append(name)
            for names in (similar, others, _words_of_frame(word.tag, frame)):
                for place in chance.permutation(len(names)).tolist():
                    yield names[place]

    def _is_usable(self, name: str, tag: str, frame: str) -> bool:
        """Return whether a word is typical of a frame, and the dictionary knows it with the tag."""
        lemma = base_form(name, tag)
        count = self._in_frame[tag, frame][name]
        count_in_any_frame = self._in_any_frame[name, tag]
        if count < FEWEST or count < SHARE * count_in_any_frame:
            return False
        # Most words of praise and blame are connected with "good", so they differ too little from each other.
        if not name.isalpha() or name in function_words() or lemma in UNUSABLE or name in _listed_kin()["good"]:
            return False
        if lemma not in COMPLEMENTS.get(frame.removeprefix("v-"), lemma).split():
            return False
        tags = possible(name)
        # The base form and the present tense of a verb are spelled alike.
        return tag in tags or (tag == "VBP" and "VB" in tags)


@lru_cache(maxsize=1_000)
def _words_of_frame(tag: str, frame: str) -> tuple[str, ...]:
    """Return words with a tag and a frame from :data:`COMPLEMENTS`, else from the list of replacements."""
    # "a-prs-to" is the frame "to" of an adjective whose subject is a person.
    parts = frame.split("-")
    name = parts[-1]
    lemmas = set[str]()
    if parts[0] == "v" and name in COMPLEMENTS:
        lemmas.update(COMPLEMENTS[name].split())
    else:
        for (part, word), listed in listed_words().items():
            if part[0] == parts[0] and any(name in entry.frames and not entry.only for entry in listed):
                lemmas.add(word)
    forms = list[str]()
    for lemma in sorted(lemmas - _listed_kin()["good"]):
        form = lemma if tag == "JJ" else inflected(lemma, tag)
        if form:
            forms.append(form)
    return tuple(forms)


def frames_of(tagged: Tagged, index: int) -> tuple[str, ...]:
    """Return the frames of the adjective or verb at ``index``, with a prefix; empty for other words.

    The prefix is ``v-`` for a verb. For an adjective it is ``a-`` and the kind of its subject (``prs``, ``it`` or
    nothing): adjectives of persons and of things differ.
    """
    tag = tagged.words[index].tag
    if tag == "JJ":
        around = around_adjective(tagged.words, index)
    elif tag.startswith("VB"):
        around = around_verb(tagged.words, index)
    else:
        return ()
    if around is None:
        return ()
    prefix = "v-"
    if tag == "JJ":
        prefix = "a-" + "-".join(sorted(around.marks & {"prs", "it"}))
    return tuple(sorted(prefix + frame for frame in around.frames))


def random_words(
    tagged: Tagged, chosen: Replacement, words: Iterable[str], *, any_frame: bool = False
) -> Iterator[str]:
    """Yield the sentence with a word replaced by each of the words that fit and mean something else.

    A word fits with ``any_frame``, as HEROS keeps what is ungrammatical, or if the sentence with it has the same tag
    and frames at that position. At most :data:`TRIES` words that mean something else are tried.

    Parameters
    ----------
    chosen
        The word to replace, with its synonym and antonym.
    words
        The candidates, in order.
    """
    word = tagged.words[chosen.index]
    near_in_meaning = set[str]()
    for lemma in (word.lemma, word.lowercase, *chosen.lemmas):
        near_in_meaning |= related(lemma)
    in_sentence = {other.lowercase for other in tagged.words} | {other.lemma for other in tagged.words}
    frames = frames_of(tagged, chosen.index)
    tries = 0
    for name in words:
        if name in in_sentence or not name.isalpha() or is_profane(name, plain=frozenset()):
            continue
        if not near_in_meaning.isdisjoint(_lemmas(name)):
            continue
        if tries == TRIES:
            return
        tries += 1
        text = substituted(tagged, {chosen.index: name})
        if any_frame:
            yield text
            continue
        candidate = tag(text)
        has_same_words = len(candidate.words) == len(tagged.words)
        if not has_same_words or candidate.words[chosen.index].tag != word.tag:
            continue
        if frames_of(candidate, chosen.index) == frames:
            yield candidate.text


@lru_cache(maxsize=20_000)
def related(lemma: str) -> frozenset[str]:
    """Return the words that must not replace a lemma: those within two steps in WordNet, or connected by our lists."""
    names = set(connected(lemma))
    for part in ("a", "v"):
        # Rarer senses would exclude many words that have nothing to do with the usual ones.
        for synset in senses(lemma, part)[:3]:
            for near in (*synset.words, *pointed(synset, SIMILAR)):
                names.update(synonyms(near, part))
                names.update(antonyms(near, part))
    return frozenset(names | _listed_kin().get(lemma, frozenset()))


@cache
def _listed_kin() -> dict[str, frozenset[str]]:
    """Return the words that our lists connect with a word.

    They are the connected component of the word in the graph of synonyms and antonyms of the list of replacements, and
    the words of its lines in :data:`NEAR`.
    """
    from scipy.cluster.hierarchy import DisjointSet

    entries = [entry for listed in listed_words().values() for entry in listed]
    components = DisjointSet({word for entry in entries for word in (entry.word, entry.synonym, entry.antonym)})
    for entry in entries:
        components.merge(entry.word, entry.synonym)
        components.merge(entry.word, entry.antonym)
    kin = {word: frozenset(components.subset(word)) for word in components}
    for line in NEAR:
        near = frozenset(line.split())
        for word in near:
            kin[word] = kin.get(word, frozenset()) | near
    return kin


@lru_cache(maxsize=50_000)
def _lemmas(name: str) -> frozenset[str]:
    """Return all base forms that a word may have, and itself."""
    lemmas_by_part = lemminflect().getAllLemmas(name).values()
    return frozenset({name}.union(*lemmas_by_part))
