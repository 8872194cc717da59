"""Minimal pairs from sentences of your own: an original and its one-word edits, as HEROS was made.

Source: Chiang, Chuang, Glass & Lee (2023), "Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS", section
2.2. Rules replace its authors' manual work, and reject if in doubt: an original has all six edits or is
left out, and each reason is counted. Not in HEROS: ``number``, if it is certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from embassay.core.randomness import generator
from embassay.core.samples.shapes import MinimalPairs
from embassay.corpora.io.passages import whole_sentences
from embassay.testsets.base import Advance, Built, Reasons, Resource, library, silent
from embassay.testsets.english import (
    Left,
    Original,
    Tagged,
    Tools,
    Vocabulary,
    grammar_checker,
    named,
    open_wordnet,
    original,
    pipeline_facts,
    tag,
    unfit,
    with_edits,
    word_list,
)
from embassay.testsets.masked_model import Masked
from embassay.testsets.options import Auxiliary, Grammar
from embassay.testsets.sources import SourceSentence

EXTRA = "build"
REQUIRES = ("spacy", "lemminflect", "harper", "codespell_lib", "better_profanity")
FEWEST, PART = 20, 25
"""A word is replaced in at most one in N possible originals; and the minimum of that limit."""


def build(
    sources: Sequence[SourceSentence],
    *,
    seed: int = 0,
    count: int | None = None,
    auxiliary: Auxiliary = "keep",
    grammar: Grammar = "harper",
    replacements: str = "",
    mlm: Masked | None = None,
    advance: Advance = silent,
) -> Built:
    """Build originals with their edits.

    Parameters
    ----------
    sources
        Lines; each sentence of a line is tried separately, and those of one line are one unit.
    seed, count
        At most ``count`` originals, tried in an order that depends on the seed; None for all.
    auxiliary
        Whether a removed negation leaves its auxiliary: ``does know`` (``keep``, as printed) or ``knows`` (``drop``).
    grammar
        Whether Harper's complaints reject originals and edits; the paper used LanguageTool, for the originals.
    replacements
        Table of synonyms and antonyms in place of the package's: part, word, synonym, antonym, and perhaps the contexts
        frames, only and never.
    mlm
        A masked language model for ``random_mlm``; without it the edit is ``random_word``.
    advance
        Called with the number of possible originals that have been tried.

    Returns
    -------
    An item for each original, in the order of the sources, with all six edits, and ``number`` if it is certain.
    If the chosen word is the main verb, both negations are one text, which is ``negation_main`` only.

    Raises
    ------
    InputError
        If WordNet, a package or the list is missing or cannot be read.
    """
    rejected = Reasons()
    fitting = list(_fitting(sources, rejected))
    vocabulary = Vocabulary(tagged for _, _, tagged in fitting)
    guess = mlm.fills if mlm else None
    open_wordnet()
    tools = Tools(grammar_checker(grammar), vocabulary, guess, seed)
    listed_words = word_list(replacements)
    originals = list[Original]()
    for key, unit, tagged in fitting:
        try:
            originals.append(original(key, unit, tagged, listed_words, auxiliary))
        except Left as reason:
            rejected[str(reason)] += 1
    made = _samples(originals, tools, count, rejected, advance)
    return Built(
        samples=tuple(sample for sample, _ in made),
        rejected=rejected,
        notes=("Each sentence of a line is tried separately; the sentences of one line are one unit.",),
        materials=_materials(mlm, grammar, replacements),
        # How each edit was made.
        fields={sample.id: {"source": ways} for sample, ways in made},
    )


def _fitting(sources: Sequence[SourceSentence], rejected: Reasons) -> Iterator[tuple[str, str, Tagged]]:
    """Yield (id, unit, tagged sentence) for the sentences that HEROS would select, before the grammar check."""
    seen = set[str]()
    for source in sources:
        parts = whole_sentences(source.text)
        for number, text in enumerate(parts, 1):
            reason = unfit(text)
            if reason:
                rejected[reason] += 1
                continue
            if text.casefold() in seen:
                rejected["repeated sentence"] += 1
                continue
            seen.add(text.casefold())
            key = f"{source.line}.{number}"
            if len(parts) == 1:
                key = f"{source.line}"
            yield key, source.unit or str(source.line), tag(named(text))


def _samples(
    originals: Sequence[Original],
    tools: Tools,
    count: int | None,
    rejected: Reasons,
    advance: Advance,
) -> list[tuple[MinimalPairs, dict[str, str]]]:
    """Make the samples in an order that depends on the seed, and return them in the order of the sources.

    With each sample, how its edits were made, by their names.
    """
    random = generator(tools.seed, "builders", "minimal_pairs")
    order = random.permutation(len(originals)).tolist()
    samples = dict[int, tuple[MinimalPairs, dict[str, str]]]()
    # Without a limit, a few frequent words could make most of the pairs.
    uses_by_lemma = Counter[str]()
    most_uses = max(FEWEST, len(originals) // PART)
    for done, place in enumerate(order):
        if len(samples) == count:
            break
        advance(done, len(order))
        try:
            samples[place] = with_edits(originals[place], tools, uses_by_lemma, most_uses)
        except Left as reason:
            rejected[str(reason)] += 1
    advance(len(order), len(order))
    return [samples[place] for place in sorted(samples)]


def _materials(mlm: Masked | None, grammar: Grammar, replacements: str) -> tuple[Resource, ...]:
    """Return the libraries, word lists and models that were used."""
    materials = [
        Resource("WordNet", "3.0", "WordNet 3.0 licence", "related words"),
        Resource(*pipeline_facts(), "parser"),
        library("lemminflect", "inflection"),
        library("better-profanity", "words that no original has"),
        library("codespell", "misspellings", "CC BY-SA 3.0 (its dictionary)"),
    ]
    if replacements:
        materials.append(Resource(replacements, "", "as you have it", "synonyms and antonyms"))
    if grammar == "harper":
        materials.append(library("harper-py", "grammar and spelling"))
    if mlm:
        materials.append(Resource(mlm.name, "", "as you have it", "random_mlm"))
    return tuple(materials)
