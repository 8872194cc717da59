"""Negated antonyms from sentences of your own, as SemAntoNeg was made.

Source: Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases", section 3. A sentence, its negation,
its antonym and its negated antonym make a quadruple; each of the four is the input in turn. Beyond the paper: verbs and
adverbs, sentences without a negation, and ``n't``, ``never`` and ``no longer`` beside ``not``.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from embassay.randomness import generator
from embassay.samples.choice import Choice
from embassay.testsets.base import Advance, Built, Material, library, silent
from embassay.testsets.english.clauses import group_at
from embassay.testsets.english.negation import negated
from embassay.testsets.english.negation_removal import unnegated
from embassay.testsets.english.negators import is_negated
from embassay.testsets.english.predicates import PATTERNS, SHORTEST, Candidate, find
from embassay.testsets.english.question_tags import Tag, split_tag, with_tag
from embassay.testsets.english.selection import is_profane
from embassay.testsets.english.word_classes import DO
from embassay.testsets.english.wordnet import Lexicon, wordnet
from embassay.testsets.english.words import Tagged, inflected, spans, straight, substituted, tag
from embassay.testsets.review import INPUTS
from embassay.testsets.sources import Source, SourcePair, usable

PARTS_OF_SPEECH = {"a": "adjective", "v": "verb", "r": "adverb"}


@dataclass(frozen=True)
class _Quadruple:
    """Texts (sentence, antonym, polarity, paraphrase) and what they were made with."""

    texts: tuple[str, str, str, str]
    part: str
    pair: str
    negation: str
    sure: bool


def build(
    sources: Sequence[Source | SourcePair],
    *,
    seed: int = 0,
    count: int | None = None,
    advance: Advance = silent,
) -> Built:
    """Build choices of a sentence, its antonym, its negation and its negated antonym.

    Parameters
    ----------
    sources
        Lines, of which each sentence counts for itself; or paraphrase pairs, of which the negated side is taken where
        the other is not negated.
    seed, count
        At most ``count`` quadruples, drawn by the seed, evenly over the pairs of antonyms; None for all.
    advance
        Is told how many of the sentences have been read.

    Returns
    -------
    Four choices for each quadruple, in the order of the sources.

    Raises
    ------
    InputError
        If WordNet is not installed.
    """
    begun = time.perf_counter()
    lexicon = wordnet()
    sentences, rejected = _sentences(sources)
    kept, doubtful = dict[frozenset[str], _Quadruple](), dict[frozenset[str], _Quadruple]()
    for done, source in enumerate(sentences, 1):
        made = _quadruple(source.text, lexicon)
        if isinstance(made, str):
            rejected[made] += 1
        else:
            texts = frozenset(text.casefold() for text in made.texts)
            rejected["the same four sentences again"] += texts in kept
            rejected["doubtful opposites: for the review sheet"] += not made.sure
            (kept if made.sure else doubtful).setdefault(texts, made)
        if done % 100 == 0 or done == len(sentences):
            advance(done, len(sentences))
    chosen = _drawn(list(kept.values()), seed, count)
    return Built(
        samples=tuple(sample for number, made in enumerate(chosen) for sample in _choices(number, made)),
        rejected=+rejected,
        notes=_notes(len(kept), [made.pair for made in chosen], len(doubtful)),
        seconds=time.perf_counter() - begun,
        materials=_materials(),
        doubtful=tuple(_choices(number, made)[0] for number, made in enumerate(doubtful.values())),
    )


def _materials() -> tuple[Material, ...]:
    """Return what the builder takes words from."""
    return (
        Material("WordNet", "3.0", "WordNet 3.0 licence", "antonyms"),
        library("textblob", "lexicon of the tagger"),
        library("lemminflect", "inflection"),
        library("better-profanity", "sentences left out"),
    )


def _sentences(sources: Sequence[Source | SourcePair]) -> tuple[tuple[Source, ...], Counter[str]]:
    """Return the sentences to work on; of a pair the negated side."""
    plain, rejected = list[Source](), Counter[str]()
    for source in sources:
        if isinstance(source, Source):
            plain.append(source)
        elif isinstance(side := _negated_side(source), Source):
            plain.append(side)
        else:
            rejected[side] += 1
    kept, unusable = usable(sentence for source in plain for sentence in _split(source))
    return kept, rejected + unusable


def _split(source: Source) -> list[Source]:
    """Return the sentences of a line of several, each as a source of the same line."""
    from sentencex import segment

    return [replace(source, text=text.strip()) for text in segment("en", source.text) if text.strip()]


def _negated_side(pair: SourcePair) -> Source | str:
    """Return the negated sentence of a paraphrase pair, or why there is none (Vahtola et al. 2022, section 3)."""
    sides = [(side, tag(side.text)) for side in (pair.first, pair.second)]
    if any(len(tagged.words) < SHORTEST for _, tagged in sides):
        return f"a pair with a side of less than {SHORTEST} words and marks"
    negative = [side for side, tagged in sides if is_negated(tagged)]
    if len(negative) != 1:
        return "a pair with both sides negated, or neither"
    return negative[0]


def _quadruple(text: str, lexicon: Lexicon) -> _Quadruple | str:
    """Return what can be made of a sentence, or the reason why nothing can."""
    clause, question = split_tag(text)
    tagged = tag(clause)
    found = find(tagged, lexicon)
    if isinstance(found, str):
        return found
    if is_profane(text):
        return "profanity"
    swapped = _swapped(tagged, found)
    if swapped is None:
        return "its antonym has no such form"
    pattern = is_negated(tagged)
    informal = "'" in straight(text)
    toggled = [_toggled(each, found.at, pattern, informal) for each in (tagged, swapped)]
    if toggled[0] is None or toggled[1] is None:
        return "the negation cannot be put in or taken out"
    polarity, paraphrase = toggled[0], toggled[1]
    texts = _with_tags((tagged.text, swapped.text, polarity, paraphrase), question)
    if texts is None or len({each.casefold() for each in texts}) < 4:
        return "a question tag that cannot be turned around"
    words = sorted((tagged.words[found.index].lemma, found.opposite.lemma))
    negation = pattern or is_negated(tag(polarity)) or ""
    return _Quadruple(texts, found.part, "–".join(words), negation, found.opposite.verdict == "sure")


def _toggled(tagged: Tagged, at: int, pattern: str | None, informal: bool) -> str | None:
    """Take the negation out, or put one in."""
    return unnegated(tagged) if pattern in PATTERNS else negated(tagged, at, contracted=informal)


def _swapped(tagged: Tagged, found: Candidate) -> Tagged | None:
    """Return the sentence with the antonym, tagged as it was; None where the antonym has no such form."""
    word = tagged.words[found.index]
    form = found.opposite.lemma if found.part != "v" else _verb_form(tagged, found)
    if form is None:
        return None
    text = substituted(tagged, {found.index: form})
    places = spans(text)
    if len(places) != len(tagged.words):
        return None
    words = [
        replace(old, text=straight(text[start:end]), start=start, end=end)
        for old, (start, end) in zip(tagged.words, places, strict=True)
    ]
    words[found.index] = replace(words[found.index], lemma=found.opposite.lemma, tag=word.tag)
    return Tagged(text, tuple(words))


def _verb_form(tagged: Tagged, found: Candidate) -> str | None:
    """Return the antonym of a verb in the form that its place asks for."""
    word, group = tagged.words[found.index], group_at(tagged, found.index)
    if group is not None and group.first != group.last and tagged.words[group.first].lowercase in DO:
        return inflected(found.opposite.lemma, "VB")
    return inflected(found.opposite.lemma, word.tag)


def _with_tags(texts: tuple[str, str, str, str], question: Tag | None) -> tuple[str, str, str, str] | None:
    """Put the question tag back, turned around where the clause was; None where it cannot be."""
    if question is None:
        return texts
    turned = question.turned()
    if turned is None:
        return None
    first, second, third, fourth = texts
    return with_tag(first, question), with_tag(second, question), with_tag(third, turned), with_tag(fourth, turned)


def _drawn(made: list[_Quadruple], seed: int, count: int | None) -> list[_Quadruple]:
    """Draw quadruples by going round the pairs of antonyms: one of each in turn, in an order drawn by the seed."""
    if count is None or count >= len(made):
        return made
    of_pair: dict[str, list[int]] = {}
    for place in generator(seed, "builders", "negated_antonyms").permutation(len(made)).tolist():
        of_pair.setdefault(made[place].pair, []).append(place)
    round_by_round = [place for turn in zip_longest(*of_pair.values()) for place in turn if place is not None]
    return [made[place] for place in sorted(round_by_round[:count])]


def _choices(number: int, made: _Quadruple) -> tuple[Choice, ...]:
    """Return the four choices of a quadruple, each of its sentences the input in turn."""
    return tuple(
        Choice(
            f"{number + 1}-{turn}",
            made.texts[text],
            made.texts[antonym],
            made.texts[polarity],
            made.texts[paraphrase],
            PARTS_OF_SPEECH[made.part],
            made.pair,
            made.negation,
        )
        for turn, (text, antonym, polarity, paraphrase) in enumerate(INPUTS, 1)
    )


def _notes(kept: int, pairs: Sequence[str], doubtful: int) -> tuple[str, ...]:
    notes = ["Each quadruple gives four choices, which share their sentences: they are one unit."]
    if len(pairs) < kept:
        notes.append(
            f"{len(pairs):,} of {kept:,} quadruples were drawn by the seed, one of each pair of antonyms in turn."
        )
    if pairs:
        pair, times = Counter(pairs).most_common(1)[0]
        notes.append(f"The most frequent of {len(set(pairs)):,} pairs, {pair}, makes {times / len(pairs):.0%} of them.")
    if doubtful:
        notes.append(f"{doubtful:,} quadruples with doubtful opposites are not in the corpus, but on the sheet.")
    return tuple(notes)
