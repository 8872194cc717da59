"""The terms of the page, each explained in two sentences at most: statistics here, others by their metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from embassay.diagnostics.metrics.metric import OPTION, known_metrics


@dataclass(frozen=True)
class Term:
    """A term, the pattern that recognises it in a text, and its explanation."""

    name: str
    pattern: re.Pattern[str]
    explanation: str


def _term(name: str, pattern: str, explanation: str) -> Term:
    return Term(name, re.compile(rf"(?<!\w)(?:{pattern})(?!\w)"), explanation)


TERMS = (
    _term(
        "May be the best",
        "May be the (?:best|highest)",
        "With 95% confidence the encoder that is truly best is among those named. The others of them may be a little "
        "worse.",
    ),
    _term(
        "95% interval",
        r"95% (?:interval|confidence)s?|intervals?",
        "The range in brackets holds the true value in 95 of 100 such tests. A wide one means that the corpus is too "
        "small to tell.",
    ),
    _term(
        "Unit",
        "(?:independent )?units?",
        "Items that share texts, documents or words form one independent unit. Intervals and p-values are computed "
        "from units, not from single items.",
    ),
    _term(
        "Minimum detectable difference",
        "[Mm]inimum detectable difference",
        "A true difference of this size would be detected 80% of the time. A smaller one may exist without being "
        "significant.",
    ),
    _term(
        "p, p corrected",
        r"p(?: corrected)?|Holm's correction",
        "How often chance alone gives a difference at least this large; up to 0.05 it is called significant. The "
        "corrected one accounts for comparing several pairs.",
    ),
    _term(
        "Chance",
        "chance",
        "The value that random guessing reaches. A value whose interval lies below it is not explained by guessing.",
    ),
    _term(
        "Baseline",
        "baselines?",
        "Counts words (tfidf, bm25) or is random. An encoder should find more than word counts do.",
    ),
    _term(
        "Cosine",
        "[Cc]osine",
        "The similarity of two vectors: 1 for the same direction, 0 for unrelated ones. The same cosine means "
        "something different for each encoder.",
    ),
    _term(
        "Spearman",
        "Spearman",
        "The correlation of two rankings: 1 if they are the same, 0 if they are unrelated. It does not depend on the "
        "scale of the values.",
    ),
    _term(
        "Pearson",
        "Pearson",
        "The correlation of two lists of numbers: 1 if they lie on a rising line, 0 if they are unrelated.",
    ),
    _term(
        "Antonym",
        "[Aa]ntonyms?",
        "A word with the opposite meaning: guilty for innocent. In a sentence it reverses the meaning.",
    ),
    _term(
        "Polarity",
        "polarity",
        "Whether a sentence is negated. Changing the polarity alone reverses the meaning.",
    ),
)


def terms_of(diagnostics: Iterable[str]) -> tuple[Term, ...]:
    """Return the terms of a page about these diagnostics: the general ones, and their metrics'."""
    terms = {term.name: term for term in TERMS}
    for diagnostic in diagnostics:
        for metric in known_metrics(diagnostic):
            if metric.explanation:
                name = metric.term or metric.name
                # An option in a name may have any value: ``Success@{K}`` is Success@5.
                pattern = r"\d+".join(map(re.escape, OPTION.split(name)))
                shown = OPTION.sub(lambda option: option[0][1:-1], name)
                terms.setdefault(shown, _term(shown, f"(?i:{pattern})", metric.explanation))
    return tuple(terms.values())


def used_terms(diagnostics: Iterable[str], texts: Iterable[str]) -> list[Term]:
    """Return the terms of a page about these diagnostics that its texts use."""
    joined = "\n".join(texts)
    return [term for term in terms_of(diagnostics) if term.pattern.search(joined)]
