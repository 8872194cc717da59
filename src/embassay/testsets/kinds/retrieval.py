"""Questions about your documents, which a chat model asks, and which passage answers each.

For the method of Roychowdhury et al. (2024), "A Compass for Navigating the World of Sentence Embeddings for the Telecom
Domain", whose questions people wrote. A question must be answered by words of its passage, must not give the answer
away, and must be understood without the passage; what is not is left out and counted.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from embassay.corpora.io.documents import SourceDocument
from embassay.errors import SpecError
from embassay.testsets import sources as sources_module
from embassay.testsets.base import Advance, Built, silent
from embassay.testsets.generator.base import Generator, Request
from embassay.testsets.generator.questions import PROMPT, from_reply, prompt_of
from embassay.testsets.passages import SHORTEST, Passage, cut_all
from embassay.testsets.right_documents import Grounds, Pair, answered
from embassay.testsets.splits import built_of, check_share, evenly

LANGUAGES = "any"
MARGIN = 1.5
"""Questions that the generator is asked for, for each that is wanted: some are left out."""
BOILERPLATE = 3
"""Units in which a passage, or one near to it, may stand; what stands in more is not asked about."""
BARE = "a document that has headings only"
read, given = sources_module.read, sources_module.given


def build(
    sources: Sequence[SourceDocument],
    *,
    seed: int = 0,
    count: int | None = None,
    advance: Advance = silent,
    generator: Generator | None = None,
    prompt: str = "",
    passages: str = "paragraph",
    per_passage: int = 1,
    unanswerable: float = 0.1,
    test: float = 0.2,
    leak: float = 0.6,
) -> Built:
    """Return questions with their right documents, each of which is a passage.

    Parameters
    ----------
    sources
        Documents from :func:`read`.
    count
        Questions to draw, by the seed, evenly over the units; all by default.
    generator
        Who asks; it has to be given.
    prompt
        A prompt of one's own, with ``{passage}``.
    passages
        ``paragraph``, ``sentence``, ``document`` or a number of words.
    per_passage
        Questions that the generator is asked for, of each passage.
    unanswerable
        Share of the units whose passages are taken away; the questions about them stay, and nothing answers them.
    test
        Share of the units whose questions are for testing; those about the others are for training.
    leak
        Share of a question's content words that stand in one run in its passage, from which on it is left out.

    Raises
    ------
    SpecError
        If there is no generator, or for options out of range.
    """
    if generator is None:
        raise SpecError("questions are asked by a chat model: name it, for example generator='gpt-4o-mini'")
    begun, rejected = time.perf_counter(), Counter[str]()
    _check(per_passage, leak, unanswerable=unanswerable, test=test)
    grounds = Grounds.of(cut_all(sources, passages))
    if without := len({source.id for source in sources} - {passage.document for passage in grounds.passages}):
        rejected[BARE] += without
    fit = _fit(grounds, rejected)
    wanted = _wanted(fit, seed, count, per_passage, rejected)
    asked = _requests(wanted, prompt, per_passage)
    pairs = _pairs(wanted, asked, generator, per_passage, leak, rejected, advance)
    found = answered(pairs, grounds, rejected)
    kept = evenly([(one.right[0].unit, one) for one in found], count, seed, "questions")
    if drawn := len(found) - len(kept):
        rejected["a question that was not drawn (--count)"] += drawn
    built = built_of(kept, grounds, seed=seed, unanswerable=unanswerable, test=test)
    return replace(
        built,
        rejected=rejected,
        notes=(*built.notes, *generator.notes()),
        seconds=time.perf_counter() - begun,
        materials=(generator.material(),),
        prompt=prompt or PROMPT,
    )


def requests(
    sources: Sequence[SourceDocument],
    *,
    seed: int = 0,
    count: int | None = None,
    prompt: str = "",
    passages: str = "paragraph",
    per_passage: int = 1,
    unanswerable: float = 0.1,
    test: float = 0.2,
    leak: float = 0.6,
) -> tuple[Request, ...]:
    """Return what :func:`build` would ask the generator, for its price to be told before.

    Raises
    ------
    SpecError
        For options that the build would refuse.
    """
    _check(per_passage, leak, unanswerable=unanswerable, test=test)
    rejected = Counter[str]()
    fit = _fit(Grounds.of(cut_all(sources, passages)), rejected)
    return _requests(_wanted(fit, seed, count, per_passage, rejected), prompt, per_passage)


def _check(per_passage: int, leak: float, **shares: float) -> None:
    for name, share in shares.items():
        check_share(name, share)
    if per_passage < 1:
        raise SpecError(f"per_passage must be 1 or more, is {per_passage}")
    if not 0 < leak <= 1:
        raise SpecError(f"leak must be above 0 and at most 1, is {leak:g}")


def _fit(grounds: Grounds, rejected: Counter[str]) -> list[Passage]:
    """Return the passages that can be asked about, one of each group of near-duplicates."""
    found, seen = list[Passage](), set[int]()
    for passage, group in zip(grounds.passages, grounds.groups, strict=True):
        if not passage.long:
            rejected[f"a passage of fewer than {SHORTEST} words"] += 1
        elif group in seen:
            rejected["a passage that says nearly what another says"] += 1
        elif len({near.unit for near in grounds.near(passage)}) > BOILERPLATE:
            rejected[f"a passage that stands in more than {BOILERPLATE} units"] += 1
        else:
            seen.add(group)
            found.append(passage)
    return found


def _wanted(
    fit: Sequence[Passage], seed: int, count: int | None, per_passage: int, rejected: Counter[str]
) -> list[Passage]:
    """Return the passages that the generator is asked about: all, or a little more than so many questions take."""
    most = None if count is None else math.ceil(MARGIN * count / per_passage)
    found = evenly([(passage.unit, passage) for passage in fit], most, seed, "passages")
    if left := len(fit) - len(found):
        rejected["a passage that was not drawn (--count)"] += left
    return found


def _requests(wanted: Sequence[Passage], prompt: str, per_passage: int) -> tuple[Request, ...]:
    return tuple(Request(passage.id, prompt_of(passage, prompt, per_passage)) for passage in wanted)


def _pairs(
    wanted: Sequence[Passage],
    asked: Sequence[Request],
    generator: Generator,
    per_passage: int,
    share: float,
    rejected: Counter[str],
    advance: Advance,
) -> list[Pair]:
    """Ask, and return each question that can be used with its passage."""
    pairs = list[Pair]()
    for passage, reply in zip(wanted, generator.replies(asked, advance), strict=True):
        if reply.problem:
            rejected[reply.problem] += 1
            continue
        found = from_reply(reply.text, passage, generator.name, most=per_passage, share=share, rejected=rejected)
        pairs += [(passage, question) for question in found]
    return pairs
