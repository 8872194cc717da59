"""Negated antonyms from sentences of your own, as SemAntoNeg was made.

Source: Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases", section 3. A sentence, its negation,
its antonym and its negated antonym make a quadruple; each of the four is the input in turn. Not in
the paper, and not with ``as_published``: verbs, sentences without a negation, and ``n't`` beside ``not``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from embassay.core.formatting import counted
from embassay.core.samples.choice import Choice
from embassay.corpora.io.passages import whole_sentences
from embassay.corpora.queries.sampling import evenly
from embassay.testsets.base import Advance, Built, Resource, library, silent
from embassay.testsets.english import open_wordnet, pipeline_facts, published_quadruples, quadruple
from embassay.testsets.options import Auxiliary
from embassay.testsets.sheets import turned
from embassay.testsets.sources import (
    SourceSentence,
    usable,
)


def build(
    sources: Sequence[SourceSentence],
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
        Lines, of which each sentence is tried separately.
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
    parts = [replace(source, text=text) for source in sources for text in whole_sentences(source.text)]
    sentences, rejected = usable(parts)
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
        advance(done, len(sentences))
    chosen = evenly([(choice.pair, choice) for choice in sure.values()], count, seed, "quadruples")
    samples = list[Choice]()
    for number, choice in enumerate(chosen, 1):
        samples += turned(choice, str(number))
    return Built(
        samples=tuple(samples),
        rejected=rejected,
        notes=_notes([choice.pair for choice in chosen], len(doubtful)),
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


def _notes(pairs: Sequence[str], doubtful: int) -> tuple[str, ...]:
    """Return the notes of the data card."""
    notes = ["Each quadruple gives four choices, which share their sentences and are one unit."]
    if pairs:
        pair, times = Counter(pairs).most_common(1)[0]
        notes.append(f"The most frequent of {len(set(pairs)):,} pairs, {pair}, makes {times / len(pairs):.0%} of them.")
    if doubtful:
        notes.append(
            f"On the review sheet, not in the corpus: {counted(doubtful, 'quadruple')} with doubtful opposites."
        )
    return tuple(notes)
