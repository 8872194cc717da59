"""Overlaps, differences and unions of sentences, made of three sentences of a document and fusions of neighbours.

Bansal, Mahajan, Sinha & Karmaker (2025), "Set-Theoretic Compositionality of Sentence Embeddings", section 5: a
generator fuses the first two and the last two of three consecutive sentences. The five sentences give nine samples: an
overlap, six differences, two unions. Differences are kept if their parts hardly overlap, according to the cosine of
encoders. Without a generator, a semicolon stands in for it, for trying things out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated

from annotated_types import Gt, Le

from embassay.core.errors import SpecError
from embassay.core.samples.composed import of_document, without_repeats
from embassay.core.samples.shapes import Composition
from embassay.core.types import Encoder
from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.documents import read_documents as read
from embassay.testsets.base import Advance, Built, library, silent
from embassay.testsets.fusion_filter import BELOW, DEFAULT, Which, filtered
from embassay.testsets.generator.base import Reply, filled
from embassay.testsets.generator.chat import ChatGenerator
from embassay.testsets.generator.fusions import fusion_of
from embassay.testsets.sources import given
from embassay.testsets.triples import triples

__all__ = ["build", "given", "read"]
PROMPT = """\
Fuse two sentences into one. The new sentence says everything that the two sentences say, and nothing else: no fact, \
name or number that neither of them has. Merge what both say, so that nothing is said twice. It is one grammatical \
sentence, in the language of the two sentences. Answer with the new sentence alone, without quotation marks.

Sentence 1: {first}
Sentence 2: {second}"""
"""Our own prompt; that of the paper (appendix A.1) is not in the text that we have."""
BY_RULES = "fused by rules"
RULES_NOTE = (
    "The sentences were joined by a semicolon: a stand-in for the generator of the paper, for trying things out. Such "
    "fusions keep the words of both sentences in order, so that encoders that count words do well on them. --generator "
    "MODEL fuses them as the paper does."
)
LOWERED = frozenset(
    "a an the this that these those it he she they we you its his her their our in on at for from by with to of as "
    "there here both each some many most all".split()
)
"""Words that lose their capital after a semicolon; other words may be names."""


def build(
    sources: Sequence[SourceDocument],
    *,
    seed: int = 0,
    count: int | None = None,
    advance: Advance = silent,
    generator: ChatGenerator | None = None,
    prompt: str = "",
    filters: Sequence[Encoder] = (),
    filter: Which = DEFAULT,  # noqa: A002 - the option's name
    below: Annotated[float, Gt(-1), Le(1)] = BELOW,
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

    Raises
    ------
    SpecError
        If an option has no effect, or the prompt lacks a placeholder.
    EncoderError
        If the generator or an encoder fails.
    """
    if not filters and (filter, below) != (DEFAULT, BELOW):
        raise SpecError(
            "filter and below have no effect without an encoder; name one with -e, or in Python with filters="
        )
    template = prompt or PROMPT
    if prompt and generator is None:
        raise SpecError("a prompt needs a generator; name one, or leave the prompt out")
    drawn, rejected = triples(sources, seed=seed, count=count)
    pairs = [pair for triple in drawn for pair in pairwise(triple.sentences)]
    if generator is None:
        way, made = BY_RULES, [fuse(first, second) for first, second in pairs]
    else:
        way = f"fused by {generator.name}"
        prompts = [filled(template, first=first, second=second) for first, second in pairs]
        replies = generator.replies(prompts, advance)
        made = []
        for reply, pair in zip(replies, pairs, strict=True):
            made.append(reply if reply.problem else fusion_of(reply.text, *pair))
    documents = list[tuple[Mapping[str, str], list[Composition]]]()
    # As in the paper, a document gives all of its nine samples or none.
    for number, triple in enumerate(drawn):
        first, second, third = triple.sentences
        fused = made[2 * number : 2 * number + 2]
        problems = [fusion.problem for fusion in fused if fusion.problem]
        rejected.update(problems)
        if problems:
            rejected["triple of sentences without both fusions"] += 1
        else:
            texts = {"S1": first, "S2": second, "S3": third, "F12": fused[0].text, "F23": fused[1].text}
            documents.append((texts, of_document(triple.key, texts, unit=triple.unit)))
    # The cosines need all fusions, so the filter runs after the generator.
    selection = filtered(documents, filters, which=filter, below=below, advance=advance)
    samples = without_repeats(selection.samples)
    repeats = len(selection.samples) - len(samples)
    rejected += selection.rejected
    rejected["repeated sample"] += repeats
    return Built(
        samples,
        rejected,
        notes=(*(generator.notes() if generator else [RULES_NOTE]), *selection.notes),
        materials=(library("sentencex", "where sentences end"), *([generator.material()] if generator else [])),
        fields={sample.id: {"source": way} for sample in samples},
        filtered_with=tuple(dict.fromkeys(encoder.card.spec for encoder in filters)),
        prompt="" if generator is None else template,
    )


def fuse(first: str, second: str) -> Reply:
    """Return two sentences as one, joined by a semicolon."""
    if not first.endswith(".") or not second.endswith("."):
        return Reply(problem="not fused by rules: a sentence without a full stop")
    if second.split()[0].lower() in LOWERED:
        second = second[0].lower() + second[1:]
    return Reply(f"{first.removesuffix('.')}; {second}")
