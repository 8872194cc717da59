"""What authors of plug-ins import: types and helpers of encoders, loaders, diagnostics, retrievers and builders.

For their tests ``embassay.testing`` has ``check_encoder``, ``check_loader``, ``check_diagnostic`` and
``check_retriever``.
"""

from embassay.core.claims import INTERVAL, Template
from embassay.core.errors import EncoderError, InputError, SourceError, SpecError
from embassay.core.layout import Column, ComparisonTable, EncoderTable, GroupedBars, Layout
from embassay.core.randomness import generator
from embassay.core.result import Result
from embassay.core.samples.base import Role
from embassay.core.samples.retrieval import Document, Question
from embassay.core.samples.shapes import Grouped, MinimalPairs, Pair
from embassay.core.tables.records import read_table
from embassay.core.tables.texts import read_text
from embassay.core.types import Card, Corpus, Draws, Encoder, ItemScores, Origin, Runtime, content_hash
from embassay.core.vectors import Vectors
from embassay.diagnostics.findings import written
from embassay.diagnostics.method import ItemMethod, ItemView, Method
from embassay.diagnostics.metrics.metric import Metric
from embassay.diagnostics.metrics.scoreboard import View
from embassay.diagnostics.metrics.summary import Figures
from embassay.models.base import BaseEncoder
from embassay.search.retrievers.base import Lists, Questions, Retriever
from embassay.stats.geometry.closeness import paired_cosine
from embassay.stats.resample import ABSENT
from embassay.testsets.base import Advance, Built, silent
from embassay.testsets.sources import SourceSentence

__all__ = [
    "ABSENT",
    "INTERVAL",
    "Advance",
    "BaseEncoder",
    "Built",
    "Card",
    "Column",
    "ComparisonTable",
    "Corpus",
    "Document",
    "Draws",
    "Encoder",
    "EncoderError",
    "EncoderTable",
    "Figures",
    "Grouped",
    "GroupedBars",
    "InputError",
    "ItemMethod",
    "ItemScores",
    "ItemView",
    "Layout",
    "Lists",
    "Method",
    "Metric",
    "MinimalPairs",
    "Origin",
    "Pair",
    "Question",
    "Questions",
    "Result",
    "Retriever",
    "Role",
    "Runtime",
    "SourceError",
    "SourceSentence",
    "SpecError",
    "Template",
    "Vectors",
    "View",
    "content_hash",
    "generator",
    "paired_cosine",
    "read_table",
    "read_text",
    "silent",
    "written",
]
