"""Negated antonyms from sentences of your own, as SemAntoNeg was made.

Source: Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases", section 3. A sentence, its negation,
its antonym and its negated antonym make a quadruple; each of the four is the input in turn. Not in
the paper, and not with ``as_published``: verbs, sentences without a negation, and ``n't`` beside ``not``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from embassay.core.samples.shapes import Choice
from embassay.corpora.io.passages import whole_sentences
from embassay.corpora.queries.sampling import evenly
from embassay.testsets.base import Advance, Built, Resource, library, silent
from embassay.testsets.english import open_wordnet, pipeline_facts, published_quadruples, quadruple
from embassay.testsets.options import Auxiliary
from embassay.testsets.sources import SourceSentence, usable

INPUTS = ((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0))
"""For each of the four sentences as the input: the positions of the input, antonym, polarity and paraphrase."""


def build(
    sources: Sequence[SourceSentence],
    *,
    seed: int = 0,
    count: int | None = None,
    auxiliary: Auxiliary = "drop",
    as_published: bool = False,
    doubtful: bool = False,
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
        rate them. The auxiliary is kept.
    doubtful
        Also quadruples that the rules cannot decide on (tall, short), after the others: rate them before you use them.
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
    sure, unsure = dict[frozenset[str], Choice](), dict[frozenset[str], Choice]()
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
            elif doubtful:
                unsure.setdefault(texts, choice)
            else:
                rejected["doubtful opposites (--doubtful keeps them)"] += 1
        advance(done, len(sentences))
    quadruples = list((sure | unsure).values())
    chosen = evenly(quadruples, lambda choice: choice.pair, count, seed, "quadruples")
    samples = list[Choice]()
    for number, choice in enumerate(chosen, 1):
        samples += turned(choice, str(number))
    return Built(
        samples=tuple(samples),
        rejected=rejected,
        notes=_notes([choice.pair for choice in chosen]),
        materials=(
            Resource("WordNet", "3.0", "WordNet 3.0 licence", "antonyms"),
            Resource(*pipeline_facts(), "parser"),
            library("lemminflect", "inflection"),
            library("better-profanity", "sentences left out"),
        ),
    )


def turned(choice: Choice, name: str) -> Iterator[Choice]:
    """Yield the four choices of a quadruple, each of its sentences the input in turn; their ids begin with the name."""
    texts = list(choice.fields().values())
    for number, places in enumerate(INPUTS, 1):
        sentences = {role: texts[place] for role, place in zip(choice.fields(), places, strict=True)}
        yield replace(choice, id=f"{name}-{number}", **sentences)


def _notes(pairs: Sequence[str]) -> tuple[str, ...]:
    """Return the notes of the data card."""
    notes = ["Each quadruple gives four choices, which share their sentences and are one unit."]
    if pairs:
        pair, times = Counter(pairs).most_common(1)[0]
        notes.append(f"The most frequent of {len(set(pairs)):,} pairs, {pair}, makes {times / len(pairs):.0%} of them.")
    return tuple(notes)
