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
    "load": "embassay.run.resolve:load_corpus",
    "encoder": "embassay.run.resolve:load_encoder",
    "report": "embassay.api:report",
    "read": "embassay.api:read",
    "build": "embassay.api:build",
    "rate": "embassay.testsets.rating:rate",
    "adapt_encoder": "embassay.api:adapt_encoder",
    "evaluator": "embassay.integrations.evaluator:evaluator",
    "Corpus": "embassay.types:Corpus",
    "Encoder": "embassay.types:Encoder",
    "Vectors": "embassay.types:Vectors",
    "ItemScores": "embassay.types:ItemScores",
    "Estimate": "embassay.result:Estimate",
    "Result": "embassay.result:Result",
    "Choice": "embassay.samples.choice:Choice",
    "MinimalPairs": "embassay.samples.minimal_pairs:MinimalPairs",
    "Composition": "embassay.samples.composition:Composition",
    "Pair": "embassay.samples.pairs:Pair",
    "EmbassayError": "embassay.errors:EmbassayError",
    "InputError": "embassay.errors:InputError",
    "EncoderError": "embassay.errors:EncoderError",
}

__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from embassay.api import adapt_encoder, assay, build, read, report
    from embassay.errors import EmbassayError, EncoderError, InputError
    from embassay.integrations.evaluator import evaluator
    from embassay.result import Estimate, Result
    from embassay.run.resolve import load_corpus as load
    from embassay.run.resolve import load_encoder as encoder
    from embassay.samples.choice import Choice
    from embassay.samples.composition import Composition
    from embassay.samples.minimal_pairs import MinimalPairs
    from embassay.samples.pairs import Pair
    from embassay.testsets.rating import rate
    from embassay.types import Corpus, Encoder, ItemScores
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
