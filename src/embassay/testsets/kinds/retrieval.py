"""Questions about your documents, and the passages that answer them.

For the method of Roychowdhury et al. (2024), "A Compass for Navigating the World of Sentence Embeddings for the Telecom
Domain", whose questions people wrote. A chat model's question must be answered by words of its passage, must not give
the answer away, and must be clear without the passage; other questions are left out and counted. Without a chat model,
queries are sentences of the documents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt

from embassay.core.errors import SpecError
from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.documents import read_documents as read
from embassay.corpora.queries.made import AGREEMENT, SOURCE, made_queries
from embassay.corpora.queries.passages import passages_of, selected
from embassay.corpora.queries.sampling import evenly
from embassay.models.limits import Share
from embassay.testsets.base import Advance, Built, Reasons, library, silent
from embassay.testsets.generator.base import filled
from embassay.testsets.generator.chat import ChatGenerator
from embassay.testsets.generator.questions import PROMPT, question_in
from embassay.testsets.questions import PassageQuestion
from embassay.testsets.right_documents import answered
from embassay.testsets.sources import given
from embassay.testsets.splits import built_of

LANGUAGES = "any"
MARGIN = 1.5
"""The number of questions to request from the generator for each one needed, because some are left out."""
__all__ = ["build", "given", "read"]


def build(
    sources: Sequence[SourceDocument],
    *,
    seed: int = 0,
    count: int | None = None,
    advance: Advance = silent,
    method: Literal["cloze", "generator"] = "generator",
    generator: ChatGenerator | None = None,
    prompt: str = "",
    passages: str = "paragraph",
    unanswerable: Annotated[float, Ge(0), Lt(1)] = 0.1,
    test: Share = 0.2,
    leak: Annotated[float, Gt(0), Le(1)] = 0.6,
) -> Built:
    """Return questions with their right documents, each of which is a passage.

    Parameters
    ----------
    sources
        Documents from :func:`read`.
    count
        Keep at most N randomly chosen questions, evenly over the units; all by default.
    method
        ``generator``: a chat model writes questions. ``cloze``: a sentence that is taken out of its passage is the
        query for the rest.
    generator
        The chat model; required for ``generator``, not used otherwise.
    prompt
        Your own prompt, with ``{passage}``.
    passages
        ``paragraph``, ``sentence``, ``document`` or a number of words.
    unanswerable
        Share of the units whose passages are removed; the questions about them are kept, without an answer.
    test
        Share of the units whose questions are for testing; the others are for training.
    leak
        Leave out a question if at least this share of its content words occurs in one run in its passage.

    Raises
    ------
    SpecError
        If there is no generator, or one that has no effect.
    """
    rejected = Reasons()
    if method == "cloze":
        if generator is not None or prompt:
            raise SpecError(f"generator and prompt cannot be used with method {method}")
        made = made_queries(sources, passages=passages, count=count, seed=seed, share=leak)
        # A made query has no answer's wording, and near-duplicates are right too.
        questions = [
            PassageQuestion(query.id, query.right[0], query.text, "", SOURCE, right=query.right, near=query.right)
            for query in made.queries
        ]
        built = built_of(questions, made.passages, seed=seed, unanswerable=unanswerable, test=test)
        return replace(
            built,
            rejected=made.rejected,
            notes=(f"{SOURCE}: no person asked them", *built.notes, AGREEMENT),
            materials=(library("sentencex", "ends of sentences"),),
            source=SOURCE,
        )
    if generator is None:
        raise SpecError(
            "a chat model must write the questions; name it, for example generator='gpt-4o-mini', or make queries from "
            "the documents with method='cloze'"
        )
    grounds = passages_of(sources, passages)
    # Some questions will be rejected, so a few more passages are asked about.
    most = None if count is None else math.ceil(MARGIN * count)
    fit = selected(grounds, rejected)
    wanted = evenly(fit, lambda passage: passage.unit, most, seed, "passages")
    rejected["a passage that was not drawn (--count)"] += len(fit) - len(wanted)
    template = prompt or PROMPT
    replies = generator.replies([filled(template, passage=passage.text) for passage in wanted], advance)
    asked = list[PassageQuestion]()
    for passage, reply in zip(wanted, replies, strict=True):
        question = reply.problem or question_in(reply.text, passage, generator.name, leak)
        if isinstance(question, str):
            rejected[question] += 1
        else:
            asked.append(question)
    candidates = answered(asked, grounds, rejected)
    questions = evenly(candidates, lambda question: question.passage.unit, count, seed, "questions")
    rejected["a question that was not drawn (--count)"] += len(candidates) - len(questions)
    built = built_of(questions, grounds, seed=seed, unanswerable=unanswerable, test=test)
    return replace(
        built,
        rejected=rejected,
        notes=(*built.notes, *generator.notes()),
        materials=(generator.material(),),
        prompt=template,
    )
