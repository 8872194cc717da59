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
    "AdaptOptions": "embassay.adaptation.options:AdaptOptions",
    "build": "embassay.api:build",
    "encode_corpus": "embassay.api:encode_corpus",
    "check": "embassay.comparison.gate:check",
    "read": "embassay.api:read",
    "report": "embassay.api:report",
    "load": "embassay.run.resolve:load_corpus",
    "encoder": "embassay.run.resolve:load_encoder",
    "rate": "embassay.testsets.rating:rate",
    "train": "embassay.api:train",
    "evaluator": "embassay.integrations.evaluator:evaluator",
    "Choice": "embassay.samples.choice:Choice",
    "Composition": "embassay.samples.composition:Composition",
    "Document": "embassay.samples.retrieval:Document",
    "Grouped": "embassay.samples.groups:Grouped",
    "MinimalPairs": "embassay.samples.minimal_pairs:MinimalPairs",
    "Pair": "embassay.samples.pairs:Pair",
    "Question": "embassay.samples.retrieval:Question",
    "Sample": "embassay.samples.base:Sample",
    "Text": "embassay.samples.base:Text",
    "Card": "embassay.types:Card",
    "Corpus": "embassay.types:Corpus",
    "Diagnostic": "embassay.types:Diagnostic",
    "Draws": "embassay.types:Draws",
    "Encoder": "embassay.types:Encoder",
    "ItemScores": "embassay.types:ItemScores",
    "Origin": "embassay.types:Origin",
    "Runtime": "embassay.types:Runtime",
    "Vectors": "embassay.vectors:Vectors",
    "Answer": "embassay.result:Answer",
    "Comparison": "embassay.result:Comparison",
    "Estimate": "embassay.result:Estimate",
    "Example": "embassay.result:Example",
    "Finding": "embassay.result:Finding",
    "Result": "embassay.result:Result",
    "Row": "embassay.result:Row",
    "Series": "embassay.result:Series",
    "Verdict": "embassay.result:Verdict",
    "EmbassayError": "embassay.errors:EmbassayError",
    "EncoderError": "embassay.errors:EncoderError",
    "InputError": "embassay.errors:InputError",
}

__all__ = [
    "AdaptOptions",
    "Answer",
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
    from embassay.adaptation.options import AdaptOptions
    from embassay.api import adapt, assay, assay_vectors, build, encode_corpus, read, report, train
    from embassay.comparison.compare import compare
    from embassay.comparison.gate import check
    from embassay.comparison.plan import plan
    from embassay.errors import EmbassayError, EncoderError, InputError
    from embassay.integrations.evaluator import evaluator
    from embassay.result import Answer, Comparison, Estimate, Example, Finding, Result, Row, Series, Verdict
    from embassay.run.resolve import load_corpus as load
    from embassay.run.resolve import load_encoder as encoder
    from embassay.samples.base import Sample, Text
    from embassay.samples.choice import Choice
    from embassay.samples.composition import Composition
    from embassay.samples.groups import Grouped
    from embassay.samples.minimal_pairs import MinimalPairs
    from embassay.samples.pairs import Pair
    from embassay.samples.retrieval import Document, Question
    from embassay.testsets.rating import rate
    from embassay.types import Card, Corpus, Diagnostic, Draws, Encoder, ItemScores, Origin, Runtime
    from embassay.vectors import Vectors


def __getattr__(name: str) -> Any:
    """Load a public name from its home."""
    if name not in _HOME:
        raise AttributeError(f"module 'embassay' has no attribute {name!r}")
    module, _, attribute = _HOME[name].partition(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
