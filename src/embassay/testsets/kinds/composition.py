"""Overlaps, differences and unions of sentences, made of three sentences of a document and fusions of neighbours.

Bansal, Mahajan, Sinha & Karmaker (2025), "Set-Theoretic Compositionality of Sentence Embeddings", section 5: a
generator fuses the first two and the last two of three consecutive sentences. The five sentences give nine samples: an
overlap, six differences, two unions. Differences are kept if their parts hardly overlap, according to the cosine of
encoders. Without a generator, rules stand in for it, for trying things out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from embassay.core.errors import SpecError
from embassay.core.formatting import counted
from embassay.core.samples.composed import of_document, without_repeats
from embassay.core.samples.composition import Composition
from embassay.core.types import Encoder
from embassay.corpora.io.documents import SourceDocument
from embassay.testsets.base import Advance, Built, Reasons, Resource, library, silent
from embassay.testsets.english import fuse, pipeline_facts, ready
from embassay.testsets.fusion_filter import Filter, Which, filtered
from embassay.testsets.generator.base import Generator, Request, check_prompt, filled
from embassay.testsets.generator.fusions import bared, problem_of
from embassay.testsets.sources import given, read
from embassay.testsets.triples import LONGEST, SHORTEST, Triple, is_whole, triples

__all__ = ["build", "given", "read"]
PROMPT = """\
Fuse two sentences into one. The new sentence says everything that the two sentences say, and nothing else: no fact, \
name or number that neither of them has. Merge what both say, so that nothing is said twice. It is one grammatical \
sentence, in the language of the two sentences. Answer with the new sentence alone, without quotation marks.

Sentence 1: {first}
Sentence 2: {second}"""
"""Our own prompt; that of the paper (appendix A.1) is not in the text that we have."""
PLACES = ("first", "second")
FUSED = ("F12", "F23")
BY_RULES = "fused by rules"
RULES_NOTE = (
    'The sentences were fused by rules, with "and" or a semicolon: a stand-in for the generator of the paper, for '
    "trying things out. Such fusions keep the words of both sentences in order, so that encoders that count words do "
    "well on them. --generator MODEL fuses them as the paper does."
)


def build(
    sources: Sequence[SourceDocument],
    *,
    seed: int = 0,
    count: int | None = None,
    advance: Advance = silent,
    generator: Generator | None = None,
    prompt: str = "",
    filters: Sequence[Encoder] = (),
    filter: Which = "bd",  # noqa: A002 - the option's name
    below: float = 0.25,
    per_document: int = 1,
    shortest: int = SHORTEST,
    longest: int = LONGEST,
    keep_all: bool = False,
) -> Built:
    """Return overlaps, differences and unions made of three consecutive sentences of each document.

    Parameters
    ----------
    sources
        Documents, from :func:`read`.
    count
        Use at most N randomly chosen documents; all by default.
    generator
        The chat model that fuses the sentences, as in the paper; without it, rules stand in.
    prompt
        The prompt, with ``{first}`` and ``{second}`` in place of the sentences; that of the package by default.
    filters
        A difference is kept if its parts are dissimilar for all of these encoders; without any, all are kept. The test
        set favours them.
    filter
        Which parts: ``bd``, the second sentence and the difference, or ``neighbours``, the two fused sentences.
    below
        Their cosine must be below this value.
    per_document
        The maximum number of sentence triples per document.
    shortest, longest
        The words of a sentence, at least and at most.
    keep_all
        Whether every sentence and every answer of the generator is used: none is rejected for its form or its words.

    Raises
    ------
    SpecError
        If an option is out of range or has no effect, or the prompt lacks a placeholder.
    EncoderError
        If the generator or an encoder fails.
    MissingExtraError
        If a library that the rules or the checks of answers need is not installed.
    """
    chosen, template = Filter(tuple(filters), filter, below), prompt or PROMPT
    check_prompt(template, PLACES, " for a sentence")
    if prompt and generator is None:
        raise SpecError("a prompt needs a generator; name one, or leave the prompt out")
    if not 1 <= shortest <= longest:
        raise SpecError(f"shortest must be 1 or more and at most longest, is {shortest} with longest {longest}")
    wanted = bool if keep_all else partial(is_whole, shortest=shortest, longest=longest)
    drawn, rejected = triples(sources, seed=seed, count=count, per_document=per_document, wanted=wanted)
    if generator is None:
        way = BY_RULES
        fusions = _by_rules(drawn, rejected, advance)
    else:
        way = f"fused by {generator.name}"
        fusions = _by_generator(drawn, generator, template, rejected, advance, keep_all)
    # As in the paper, a document gives all of its nine samples or none.
    documents = list[tuple[Mapping[str, str], list[Composition]]]()
    for triple in drawn:
        texts = _texts_of(triple, fusions)
        if texts is None:
            rejected["triple of sentences without both fusions"] += 1
        else:
            documents.append((texts, of_document(triple.key, texts, unit=triple.unit)))
    # The cosines need all fusions, so the filter runs after the generator.
    selection = filtered(documents, chosen, advance)
    samples, repeats = without_repeats(selection.samples)
    rejected += selection.rejected
    rejected["repeated sample"] += repeats
    return Built(
        samples,
        rejected,
        notes=(*_notes(generator, samples, len(documents)), *selection.notes),
        materials=_materials(generator),
        ways={(sample.id, sample.operator): way for sample in samples},
        filtered_with=tuple(dict.fromkeys(encoder.card.spec for encoder in filters)),
        prompt="" if generator is None else template,
    )


def _pairs(drawn: Sequence[Triple]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield (key of the fusion, the two sentences) for each fusion to make."""
    for triple in drawn:
        for place, name in enumerate(FUSED):
            yield f"{triple.key}.{name}", (triple.sentences[place], triple.sentences[place + 1])


def _texts_of(triple: Triple, fusions: Mapping[str, str]) -> dict[str, str] | None:
    """Return the three sentences and the two fusions of a triple by name; None if a fusion is missing.

    Parameters
    ----------
    fusions
        The fusions that were made, by key.
    """
    texts = dict(zip(("S1", "S2", "S3"), triple.sentences, strict=True))
    for name in FUSED:
        key = f"{triple.key}.{name}"
        if key not in fusions:
            return None
        texts[name] = fusions[key]
    return texts


def _by_rules(drawn: Sequence[Triple], rejected: Reasons, advance: Advance) -> dict[str, str]:
    """Return the fusions that rules make, by key; count in ``rejected`` the pairs that they cannot fuse."""
    fusions, pairs = dict[str, str](), list(_pairs(drawn))
    for number, (key, (first, second)) in enumerate(pairs, 1):
        fusion = fuse(first, second)
        if fusion.problem:
            rejected[f"not fused by rules: {fusion.problem}"] += 1
        else:
            fusions[key] = fusion.text
        advance(number, len(pairs))
    return fusions


def _by_generator(
    drawn: Sequence[Triple], generator: Generator, template: str, rejected: Reasons, advance: Advance, keep_all: bool
) -> dict[str, str]:
    """Return the usable fusions of a generator, by key, or all; count the others in ``rejected``."""
    ready()
    fusions = dict[str, str]()
    pairs = list(_pairs(drawn))
    requests = [Request(key, filled(template, first=first, second=second)) for key, (first, second) in pairs]
    replies = generator.replies(requests, advance)
    for (key, (first, second)), reply in zip(pairs, replies, strict=True):
        if reply.problem:
            rejected[reply.problem] += 1
            continue
        text = bared(reply.text)
        problem = "an empty answer"
        if text:
            problem = "" if keep_all else problem_of(text, first, second)
        if problem:
            rejected[problem] += 1
        else:
            fusions[key] = text
    return fusions


def _materials(generator: Generator | None) -> tuple[Resource, ...]:
    """Return the libraries and the generator that were used."""
    materials = [library("sentencex", "where sentences end")]
    if generator is not None:
        materials.append(generator.material())
    materials.append(Resource(*pipeline_facts(), "parser"))
    materials.append(library("lemminflect", "forms of words"))
    return tuple(materials)


def _notes(generator: Generator | None, samples: Sequence[Composition], documents: int) -> tuple[str, ...]:
    """Return the numbers of triples and samples, and what to know about the fusions."""
    numbers = Counter(sample.operator for sample in samples)
    counts = [counted(numbers[operator], operator) for operator in ("overlap", "difference", "union")]
    summary = f"{counted(documents, 'triple')} of sentences: {', '.join(counts)}."
    if generator is None:
        return (summary, RULES_NOTE)
    return (summary, *generator.notes())
