"""Negated antonyms from sentences of your own, as SemAntoNeg was made.

Source: Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases", section 3. A sentence, its negation,
its antonym and its negated antonym make a quadruple; each of the four is the input in turn. Not in the paper: verbs and
adverbs, sentences without a negation, and ``n't``, ``never`` and ``no longer`` beside ``not``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from embassay.corpora.io.passages import whole_sentences
from embassay.corpora.queries.sampling import evenly
from embassay.formatting import counted
from embassay.samples.choice import Choice
from embassay.testsets.base import Advance, Built, Material, Reasons, library, silent
from embassay.testsets.english.negation import negated
from embassay.testsets.english.negation_removal import unnegated
from embassay.testsets.english.negators import first_negation, has_contraction
from embassay.testsets.english.predicates import SHORTEST, Candidate, find
from embassay.testsets.english.selection import is_profane
from embassay.testsets.english.word_classes import DO
from embassay.testsets.english.wordnet import WordNet, wordnet
from embassay.testsets.english.words import Tagged, inflected, spans, straight, substituted, tag
from embassay.testsets.review import turned
from embassay.testsets.sources import Source, SourcePair, usable

PARTS_OF_SPEECH = {"a": "adjective", "v": "verb", "r": "adverb"}


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
        Lines, of which each sentence is tried separately; or paraphrase pairs, whose negated side is used if
        the other is not negated.
    seed, count
        At most ``count`` randomly chosen quadruples, evenly over the pairs of antonyms; None for all.
    advance
        Called with the number of sentences that have been read.

    Returns
    -------
    Four choices for each quadruple, in the order of the sources.

    Raises
    ------
    InputError
        If WordNet is not installed.
    """
    lexicon = wordnet()
    sentences, rejected = _sentences(sources)
    sure, doubtful = dict[frozenset[str], Choice](), dict[frozenset[str], Choice]()
    for done, source in enumerate(sentences, 1):
        quadruple = _quadruple(source.text, lexicon)
        if isinstance(quadruple, str):
            rejected[quadruple] += 1
        else:
            choice, is_sure = quadruple
            texts = frozenset(text.casefold() for text in choice.fields().values())
            if texts in sure:
                rejected["repeated quadruple"] += 1
            if is_sure:
                sure.setdefault(texts, choice)
            else:
                rejected["doubtful opposites: for the review sheet"] += 1
                doubtful.setdefault(texts, choice)
        if done % 100 == 0 or done == len(sentences):
            advance(done, len(sentences))
    chosen = evenly([(choice.pair, choice) for choice in sure.values()], count, seed, "quadruples")
    samples = list[Choice]()
    for number, choice in enumerate(chosen, 1):
        samples += turned(choice, str(number))
    return Built(
        samples=tuple(samples),
        rejected=rejected,
        notes=_notes(len(sure), [choice.pair for choice in chosen], len(doubtful)),
        materials=_materials(),
        doubtful=tuple(replace(choice, id=f"{number}-1") for number, choice in enumerate(doubtful.values(), 1)),
    )


def _materials() -> tuple[Material, ...]:
    """Return the libraries and word lists that were used."""
    return (
        Material("WordNet", "3.0", "WordNet 3.0 licence", "antonyms"),
        library("textblob", "lexicon of the tagger"),
        library("lemminflect", "inflection"),
        library("better-profanity", "sentences left out"),
    )


def _sentences(sources: Sequence[Source | SourcePair]) -> tuple[tuple[Source, ...], Reasons]:
    """Return the sentences to use (the negated side of a pair), and the number left out by reason."""
    rejected, sentences = Reasons(), list[Source]()
    for source in sources:
        # Of a pair of paraphrases only the negated side is used.
        side = _negated_side(source) if isinstance(source, SourcePair) else source
        if isinstance(side, str):
            rejected[side] += 1
        else:
            sentences += [replace(side, text=text) for text in whole_sentences(side.text)]
    usable_sentences, unusable = usable(sentences)
    return usable_sentences, rejected + unusable


def _negated_side(pair: SourcePair) -> Source | str:
    """Return the negated sentence of a paraphrase pair, or why there is none (Vahtola et al. 2022, section 3)."""
    sides = [(side, tag(side.text)) for side in (pair.first, pair.second)]
    if any(len(tagged.words) < SHORTEST for _, tagged in sides):
        return f"a pair with a side of less than {SHORTEST} words and marks"
    negative = [side for side, tagged in sides if first_negation(tagged)]
    if len(negative) != 1:
        return "a pair with both sides negated, or neither"
    return negative[0]


def _quadruple(text: str, lexicon: WordNet) -> tuple[Choice, bool] | str:
    """Return a sentence with its antonym, its negation and its negated antonym, or the reason why there are none.

    Returns
    -------
    The choice, without an id, and whether its two words are certainly opposites; otherwise people decide.
    """
    tagged = tag(text)
    candidate = find(tagged, lexicon)
    if isinstance(candidate, str):
        return candidate
    if is_profane(text):
        return "profanity"
    swapped = _swapped(tagged, candidate)
    if swapped is None:
        return "the antonym lacks the required form"
    pattern = first_negation(tagged)
    if pattern:
        polarity, paraphrase = unnegated(tagged, candidate.group), unnegated(swapped, candidate.group)
    else:
        contracted = has_contraction(tagged)
        polarity = negated(tagged, candidate.group, contracted=contracted)
        paraphrase = negated(swapped, candidate.group, contracted=contracted)
    if polarity is None or paraphrase is None:
        return "the negation cannot be added or removed"

    lemmas = sorted((tagged.words[candidate.index].lemma, candidate.opposite.lemma))
    choice = Choice(
        id="",
        input=tagged.text,
        antonym=swapped.text,
        polarity=polarity,
        paraphrase=paraphrase,
        part_of_speech=PARTS_OF_SPEECH[candidate.part],
        pair="–".join(lemmas),
        negation=pattern or first_negation(tag(polarity)) or "",
    )
    return choice, candidate.opposite.verdict == "sure"


def _swapped(tagged: Tagged, candidate: Candidate) -> Tagged | None:
    """Return the sentence with the antonym, tagged as it was; None if the antonym lacks the required form."""
    index, lemma = candidate.index, candidate.opposite.lemma
    form: str | None = lemma
    if candidate.part == "v":
        first = candidate.group.first
        follows_do = index > first and tagged.words[first].lowercase in DO
        required_tag = "VB"
        if not follows_do:
            required_tag = tagged.words[index].tag
        form = inflected(lemma, required_tag)
    if form is None:
        return None
    text = substituted(tagged, {index: form})
    places = spans(text)
    if len(places) != len(tagged.words):
        return None
    words = []
    for word, (start, end) in zip(tagged.words, places, strict=True):
        words.append(replace(word, text=straight(text[start:end]), start=start, end=end))
    words[index] = replace(words[index], lemma=lemma)
    return Tagged(text, tuple(words))


def _notes(kept: int, pairs: Sequence[str], doubtful: int) -> tuple[str, ...]:
    """Return the notes of the data card."""
    notes = ["Each quadruple gives four choices, which share their sentences and are one unit."]
    if len(pairs) < kept:
        notes.append(
            f"{len(pairs):,} of {kept:,} quadruples were chosen at random, one from each pair of antonyms in turn."
        )
    if pairs:
        pair, times = Counter(pairs).most_common(1)[0]
        notes.append(f"The most frequent of {len(set(pairs)):,} pairs, {pair}, makes {times / len(pairs):.0%} of them.")
    if doubtful:
        notes.append(
            f"On the review sheet, not in the corpus: {counted(doubtful, 'quadruple')} with doubtful opposites."
        )
    return tuple(notes)
