"""Notes on what limits the answer that a corpus can give, before anything is encoded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from statistics import NormalDist

from embassay.core.formatting import POINTS, counted, size_in_points
from embassay.core.result import MIN_UNITS, CorpusRecord
from embassay.core.types import AnyCorpus, Audit
from embassay.corpora.io.passages import word_count
from embassay.corpora.queries.made import SOURCE as MADE_QUERIES
from embassay.diagnostics.metrics.metric import headline_metric, ranking_diagnostics
from embassay.reports.findings import templates
from embassay.reports.findings.shared_words import mismatch
from embassay.stats.labels import Labels

SHORT = 8
"""A passage of fewer words is a heading or an item of a list rather than an answer."""
LONGER_PASSAGES = {
    **dict.fromkeys(("beir", "documents", "trec"), "set passages=100 to join them with the text around them"),
    "squad": "set documents=paragraphs to search whole paragraphs",
}
"""By loader the option that gives longer passages; the passages of other files are taken as they are."""
MANY_SHORT = 0.2
"""From this share of short passages on, there is a warning."""
DISAGREEMENT = 0.2
"""The share of items on which two encoders are assumed to disagree."""
WITH_ABOUT_OPTION = ("documents",)
"""Loaders whose questions depend on each other unless ``about=these-documents`` is set."""


def advice(corpus: AnyCorpus) -> Iterator[str]:
    """Yield a note on each thing that limits the answer of a corpus.

    These are questions and documents that share few words, short passages, and questions that depend on each other
    because they share right documents or a topic.
    There are no notes on built-in corpora, as no encoder is chosen by them.
    """
    if corpus.builtin:
        return
    difference = mismatch(corpus)
    if difference:
        yield templates.FEW_SHARED_WORDS.sentence(mismatch=difference)
    audit = corpus.audit()
    yield from _short_passages(corpus, audit)
    effective = effective_units(corpus)
    are_dependent = effective < audit.items / 2
    if corpus.documents and are_dependent:
        remedy = "; questions about other documents would add more"
        if corpus.source == MADE_QUERIES:
            remedy = ""
        elif may_be_independent(corpus):
            remedy = "; if these are all the pages and each question was asked on its own, set about=these-documents"
        yield templates.DEPENDENT_QUESTIONS.sentence(items=audit.items, effective=effective, remedy=remedy)


def effective_units(corpus: AnyCorpus) -> float:
    """Return how many units would spread the items as evenly if each were in one and all were of equal size."""
    return Labels.of(corpus.units, corpus.unit_labels).effective_units


def may_be_independent(corpus: AnyCorpus | CorpusRecord) -> bool:
    """Return whether the user may know that questions about one document are independent, and has not said so.

    Queries that a program made from one document never are.
    """
    is_made = corpus.source == MADE_QUERIES
    return corpus.loader in WITH_ABOUT_OPTION and "about" not in corpus.settings and not is_made


def visible_differences(corpus: AnyCorpus) -> Iterator[str]:
    """Yield which differences between two encoders the size of a corpus can show, estimated before any encoding.

    A run states the minimum detectable difference instead, which is computed from the scores of the encoders.
    """
    if corpus.builtin:
        return
    audit = corpus.audit()
    diagnostic = ranking_diagnostics().get(corpus.shape)
    headline = headline_metric(diagnostic) if diagnostic else None
    if headline is None:
        return
    if audit.units < MIN_UNITS:
        yield templates.NO_DIFFERENCE_CAN_BE_SHOWN.sentence(
            units=counted(audit.units, "independent unit"), needed=MIN_UNITS
        )
        return
    # The differences of other values have no size that could be assumed.
    if not headline.is_share:
        return
    # It is not known how strongly the items of one unit depend on each other. At best all items are independent.
    best = f"{100 * smallest_visible(audit.items):.0f}"
    worst = f"{100 * smallest_visible(effective_units(corpus)):.0f}"
    points = best
    if worst != best:
        points = f"{best} to {worst}"
    yield templates.VISIBLE_POINTS.sentence(points=points, unit=POINTS, disagreement=DISAGREEMENT)
    if headline.margin:
        yield templates.ITEMS_FOR_NOT_WORSE.sentence(
            margin=size_in_points(headline.margin), items=items_for_not_worse(headline.margin)
        )


def items_for_not_worse(margin: float) -> int:
    """Return about how many independent items show with 80 % power that a share did not fall by a margin.

    (z₀.₉₅ + z₀.₈)²·p/m², p the share of items on which two encoders disagree and m the margin; rounded up to hundreds.
    """
    normal = NormalDist()
    z = normal.inv_cdf(0.95) + normal.inv_cdf(0.8)
    items = z * z * DISAGREEMENT / margin**2
    return 100 * math.ceil(items / 100)


def smallest_visible(units: float) -> float:
    """Return the smallest difference of two shares that a number of independent items shows with a power of 80 %.

    It is z·√(p/n), at most 1; z = z₀.₉₇₅ + z₀.₈, n is the number of items, which may be an effective one, p the share
    of items on which two encoders disagree.
    """
    normal = NormalDist()
    z = normal.inv_cdf(0.975) + normal.inv_cdf(0.8)
    return min(1.0, z * math.sqrt(DISAGREEMENT / max(units, 1.0)))


def _short_passages(corpus: AnyCorpus, audit: Audit) -> Iterator[str]:
    """Yield a note if a large share of the passages is short."""
    # The texts of stored documents are not available. Passages whose length the user has chosen are as they should be.
    is_chosen = not {"passages", "documents"}.isdisjoint(corpus.settings)
    if corpus.stored_documents or not audit.passages or is_chosen:
        return
    passages = chain.from_iterable(document.passages for document in corpus.documents)
    short = sum(word_count(passage) < SHORT for passage in passages)
    if short >= MANY_SHORT * audit.passages:
        yield templates.SHORT_PASSAGES.sentence(
            short=short,
            passages=audit.passages,
            share=short / audit.passages,
            words=SHORT,
            remedy=LONGER_PASSAGES.get(corpus.loader, "join them with the text around them in the file"),
        )
