"""Negated antonyms from sentences of your own, as SemAntoNeg was made.

Source: Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases", section 3. A sentence, its negation,
its antonym and its negated antonym make a quadruple; each of the four is the input in turn. Not in
the paper, and not with ``as_published``: verbs, sentences without a negation, and ``n't`` beside ``not``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from embassay.core.errors import SpecError
from embassay.core.formatting import counted
from embassay.core.samples.choice import Choice
from embassay.corpora.io.passages import whole_sentences
from embassay.corpora.queries.sampling import evenly
from embassay.testsets.base import Advance, Built, Reasons, Resource, library, silent
from embassay.testsets.english import negated_side, open_wordnet, pipeline_facts, published_quadruples, quadruple
from embassay.testsets.options import Auxiliary
from embassay.testsets.sheets import turned
from embassay.testsets.sources import (
    SourcePair,
    SourceSentence,
    is_of_pairs,
    read_pairs,
    read_sentences,
    usable,
)


def read(
    path: Path, *, column: str = "", first: str = "", second: str = "", label: str = ""
) -> tuple[SourceSentence, ...] | tuple[SourcePair, ...]:
    """Read sentences, or pairs of paraphrases: a table with two columns of sentences.

    Parameters
    ----------
    column
        The column of sentences; a table with two of them is then not read as pairs.
    first, second
        The column of first or of second sentences, if it is not recognised by name.
    label
        The column that says whether they mean the same, if it is not recognised by name; none if all pairs do.

    Raises
    ------
    SourceError
        With file, line and column, for a file that cannot be read.
    SpecError
        If both a column of sentences and columns of pairs are named.
    """
    if column and (first or second or label):
        raise SpecError("--column names sentences, --first, --second and --label name pairs: use one or the other")
    if column:
        return read_sentences(path, column)
    if first or second or label or is_of_pairs(path):
        return read_pairs(path, first, second, label)
    return read_sentences(path)


def build(
    sources: Sequence[SourceSentence | SourcePair],
    *,
    seed: int = 0,
    count: int | None = None,
    auxiliary: Auxiliary = "drop",
    as_published: bool = False,
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
    auxiliary
        Whether a removed negation leaves its auxiliary: ``does know`` (``keep``, as printed) or ``knows`` (``drop``).
    as_published
        Only ``not`` and an adjective, with every antonym of WordNet, as the paper generated its quadruples; people
        review them. The auxiliary is kept.
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
    open_wordnet()
    sentences, rejected = _sentences(sources)
    sure, doubtful = dict[frozenset[str], Choice](), dict[frozenset[str], Choice]()
    for done, source in enumerate(sentences, 1):
        made = published_quadruples(source.text) if as_published else quadruple(source.text, auxiliary)
        if isinstance(made, str):
            rejected[made] += 1
            made = ()
        for choice, is_sure in made:
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


def _materials() -> tuple[Resource, ...]:
    """Return the libraries and word lists that were used."""
    return (
        Resource("WordNet", "3.0", "WordNet 3.0 licence", "antonyms"),
        Resource(*pipeline_facts(), "parser"),
        library("lemminflect", "inflection"),
        library("better-profanity", "sentences left out"),
    )


def _sentences(sources: Sequence[SourceSentence | SourcePair]) -> tuple[tuple[SourceSentence, ...], Reasons]:
    """Return the sentences to use (the negated side of a pair), and the number left out by reason."""
    rejected, sentences = Reasons(), list[SourceSentence]()
    for source in sources:
        side = _negated_side(source) if isinstance(source, SourcePair) else source
        if isinstance(side, str):
            rejected[side] += 1
        else:
            sentences += [replace(side, text=text) for text in whole_sentences(side.text)]
    usable_sentences, unusable = usable(sentences)
    return usable_sentences, rejected + unusable


def _negated_side(pair: SourcePair) -> SourceSentence | str:
    """Return the negated one of two paraphrases, or why there is none."""
    if not pair.same:
        return "pair with different meanings"
    place = negated_side(pair.first.text, pair.second.text)
    return place if isinstance(place, str) else (pair.first, pair.second)[place]


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
