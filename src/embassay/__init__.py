"""Embassay: an assay for sentence embeddings.

    import embassay as ea
    result = ea.assay(["all-MiniLM-L6-v2", "bow"], [ea.load("opposites")], seed=0)
    print(result.table("negated_antonyms"))
    ea.report(result, "report.html")

Names are loaded when they are first used: ``import embassay`` itself imports nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from embassay._version import __version__

_HOME = {
    "assay": "embassay.api:assay",
    "assay_vectors": "embassay.api:assay_vectors",
    "compare": "embassay.comparison.compare:compare",
    "plan": "embassay.comparison.plan:plan",
    "adapt": "embassay.api:adapt",
    "AdaptOptions": "embassay.training.options:AdaptOptions",
    "build": "embassay.api:build",
    "encode_corpus": "embassay.api:encode_corpus",
    "check": "embassay.comparison.gate:check",
    "read": "embassay.api:read",
    "report": "embassay.api:report",
    "load": "embassay.run.resolve:load_corpus",
    "encoder": "embassay.run.resolve:load_candidate",
    "rate": "embassay.testsets.rating:rate",
    "train": "embassay.api:train",
    "evaluator": "embassay.cli.evaluator:evaluator",
    "Choice": "embassay.core.samples.shapes:Choice",
    "Composition": "embassay.core.samples.shapes:Composition",
    "Document": "embassay.core.samples.retrieval:Document",
    "Grouped": "embassay.core.samples.shapes:Grouped",
    "MinimalPairs": "embassay.core.samples.shapes:MinimalPairs",
    "Pair": "embassay.core.samples.shapes:Pair",
    "Question": "embassay.core.samples.retrieval:Question",
    "AnswerPlace": "embassay.core.samples.retrieval:AnswerPlace",
    "AnsweredQuestion": "embassay.core.samples.retrieval:AnsweredQuestion",
    "Sample": "embassay.core.samples.base:Sample",
    "Text": "embassay.core.samples.base:Text",
    "Card": "embassay.core.types:Card",
    "Corpus": "embassay.core.types:Corpus",
    "Diagnostic": "embassay.core.types:Diagnostic",
    "Draws": "embassay.core.types:Draws",
    "Encoder": "embassay.core.types:Encoder",
    "ItemScores": "embassay.core.types:ItemScores",
    "Origin": "embassay.core.types:Origin",
    "Runtime": "embassay.core.types:Runtime",
    "Vectors": "embassay.core.vectors:Vectors",
    "Answer": "embassay.core.result:Answer",
    "Comparison": "embassay.core.result:Comparison",
    "Estimate": "embassay.core.result:Estimate",
    "Example": "embassay.core.result:Example",
    "Finding": "embassay.core.result:Finding",
    "Result": "embassay.core.result:Result",
    "Row": "embassay.core.result:Row",
    "Series": "embassay.core.result:Series",
    "Verdict": "embassay.core.result:Verdict",
    "EmbassayError": "embassay.core.errors:EmbassayError",
    "EncoderError": "embassay.core.errors:EncoderError",
    "InputError": "embassay.core.errors:InputError",
}

__all__ = [
    "AdaptOptions",
    "Answer",
    "AnswerPlace",
    "AnsweredQuestion",
    "Card",
    "Choice",
    "Comparison",
    "Composition",
    "Corpus",
    "Diagnostic",
    "Document",
    "Draws",
    "EmbassayError",
    "Encoder",
    "EncoderError",
    "Estimate",
    "Example",
    "Finding",
    "Grouped",
    "InputError",
    "ItemScores",
    "MinimalPairs",
    "Origin",
    "Pair",
    "Question",
    "Result",
    "Row",
    "Runtime",
    "Sample",
    "Series",
    "Text",
    "Vectors",
    "Verdict",
    "__version__",
    "adapt",
    "assay",
    "assay_vectors",
    "build",
    "check",
    "compare",
    "encode_corpus",
    "encoder",
    "evaluator",
    "load",
    "plan",
    "rate",
    "read",
    "report",
    "train",
]
"""As ``_HOME``, written out for type checkers, which read it and run nothing."""

if TYPE_CHECKING:
    from embassay.api import adapt, assay, assay_vectors, build, encode_corpus, read, report, train
    from embassay.cli.evaluator import evaluator
    from embassay.comparison.compare import compare
    from embassay.comparison.gate import check
    from embassay.comparison.plan import plan
    from embassay.core.errors import EmbassayError, EncoderError, InputError
    from embassay.core.result import Answer, Comparison, Estimate, Example, Finding, Result, Row, Series, Verdict
    from embassay.core.samples.base import Sample, Text
    from embassay.core.samples.retrieval import AnsweredQuestion, AnswerPlace, Document, Question
    from embassay.core.samples.shapes import Choice, Composition, Grouped, MinimalPairs, Pair
    from embassay.core.types import Card, Corpus, Diagnostic, Draws, Encoder, ItemScores, Origin, Runtime
    from embassay.core.vectors import Vectors
    from embassay.run.resolve import load_candidate as encoder
    from embassay.run.resolve import load_corpus as load
    from embassay.testsets.rating import rate
    from embassay.training.options import AdaptOptions


def __getattr__(name: str) -> Any:
    """Load a public name from its home."""
    if name not in _HOME:
        raise AttributeError(f"module 'embassay' has no attribute {name!r}")
    module, _, attribute = _HOME[name].partition(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
