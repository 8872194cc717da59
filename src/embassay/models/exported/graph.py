"""A loaded graph of onnxruntime with its tokenizer: batches of texts of equal length, and their vectors, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.cores import cores
from embassay.core.errors import EncoderError
from embassay.core.vectors import DenseVectors
from embassay.models.base import Route
from embassay.models.light.pooling import pool
from embassay.models.light.tokenized import TokenIds, TokenizerRunner, session_options
from embassay.models.neural.batching import TOKENS_ON_CPU
from embassay.models.neural.derived import unit

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

POOLED = "sentence_embedding"
"""The name of an output with one vector per text."""
OUTPUTS = (POOLED, "token_embeddings", "last_hidden_state")
"""Names of outputs with vectors of texts or of tokens; the first that exists is used."""
DYNAMIC = b"DynamicQuantizeLinear"
"""The operator that quantises by the range of a whole batch, so that texts change each other's vectors."""


@dataclass
class GraphRunner(TokenizerRunner):
    """A loaded graph.

    Attributes
    ----------
    modes
        How the vectors of tokens are pooled.
    normalize
        Whether pooled vectors are scaled to unit length.
    alone
        Whether texts of a batch change each other's vectors, so that each text is computed alone.
    """

    graph: Path
    session: InferenceSession
    tokenizer: Tokenizer
    modes: Sequence[str]
    normalize: bool

    def __post_init__(self) -> None:
        """Set the size of batches, and choose the output.

        Raises
        ------
        EncoderError
            If no output has vectors.
        """
        names = [node.name for node in self.session.get_outputs()]
        self.output = next((name for name in OUTPUTS if name in names), "")
        if not self.output:
            raise EncoderError(
                f"{self.graph}: none of its outputs ({', '.join(names)}) has vectors ({', '.join(OUTPUTS)}); export "
                "the model with optimum for the task feature-extraction"
            )
        # Names of operators are plain text in the file.
        with self.graph.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            self.alone = content.find(DYNAMIC) >= 0
        self.tokens = 1 if self.alone else TOKENS_ON_CPU

    @property
    def route(self) -> Route:
        """How it computes, for ``run.json``."""
        return {
            "device": "cpu",
            "backend": "onnxruntime",
            "threads": cores(),
            "alone": self.alone,
            "tokens_per_batch": self.tokens,
        }

    def forward(self, ids: Sequence[TokenIds]) -> DenseVectors:
        """Return the (n, d) vectors of tokenised texts of equal length.

        Raises
        ------
        EncoderError
            If the graph cannot run.
        """
        tokens = np.stack(ids).astype(np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            # Single texts have tokens of the first segment only.
            "token_type_ids": np.zeros_like(tokens),
            "position_ids": np.tile(np.arange(tokens.shape[1]), (len(tokens), 1)),
        }
        wanted = {node.name for node in self.session.get_inputs()}
        try:
            (rows,) = self.session.run([self.output], {name: inputs[name] for name in inputs if name in wanted})
        except Exception as error:
            raise EncoderError(
                f"{self.graph}: cannot run on a text of {tokens.shape[1]} tokens (max_length= truncates texts): "
                f"{str(error)[:200]}"
            ) from None
        if self.output != POOLED:
            rows = pool(rows, self.modes)
            rows = unit(rows) if self.normalize else rows
        return np.asarray(rows, dtype=np.float32)


def open_graph(graph: Path) -> InferenceSession:
    """Load a graph.

    Raises
    ------
    EncoderError
        If this onnxruntime cannot read the graph.
    """
    import onnxruntime

    try:
        return onnxruntime.InferenceSession(str(graph), session_options(), providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EncoderError(f"{graph}: cannot be loaded by onnxruntime: {error}") from None
