"""The graph of an exported model with its tokenizer: batches of texts of equal length, pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import EncoderError
from embassay.core.vectors import DenseVectors
from embassay.models.base import Route
from embassay.models.exported.graph import KNOWN, Session, feed, open_graph, text_vectors
from embassay.models.exported.model_folder import ExportedFolder
from embassay.models.light.tokenized import TokenIds, TokenizerRunner, read_tokenizer
from embassay.models.neural.batching import TOKENS_ON_CPU, check_finite

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PROBE = "A short one."


@dataclass
class GraphRunner(TokenizerRunner):
    """A loaded graph with its tokenizer; where texts of a batch change each other's vectors, each is computed alone."""

    folder: ExportedFolder
    session: Session
    tokenizer: Tokenizer

    @classmethod
    def load(cls, folder: ExportedFolder, device: str, limit: int | None) -> GraphRunner:
        """Load the graph, and check it with a short text.

        Raises
        ------
        EncoderError
            If the graph cannot be loaded or run, has inputs that cannot be made from texts, or returns vectors of other
            dimensions than the folder's record says.
        """
        session = open_graph(folder.graph, device)
        unknown = sorted(session.inputs - KNOWN)
        if unknown:
            raise EncoderError(f"{folder.graph}: unsupported inputs {', '.join(unknown)}")
        runner = cls(folder, session, read_tokenizer(folder.path, lower=folder.lower, limit=limit))
        dim = runner.forward(runner.tokenize([PROBE], "")).shape[1]
        if folder.dim is not None and folder.dim != dim:
            raise EncoderError(
                f"{folder.graph}: the vectors have {dim} dimensions, but the folder's configuration says "
                f"{folder.dim}; export the model again"
            )
        return runner

    @property
    def route(self) -> Route:
        """How it computes, for ``run.json``."""
        return {**self.session.route, "tokens_per_batch": self.tokens}

    def __post_init__(self) -> None:
        """Set the size of batches by the session."""
        self.one_per_core = self.session.threads > 1
        self.tokens = 1 if self.session.alone else TOKENS_ON_CPU

    def forward(self, ids: Sequence[TokenIds]) -> DenseVectors:
        """Return the (n, d) vectors of tokenised texts of equal length.

        Raises
        ------
        EncoderError
            If the graph cannot run, or a vector is not finite.
        """
        inputs = feed(np.stack(ids).astype(np.int64))
        try:
            outputs = self.session.run({name: array for name, array in inputs.items() if name in self.session.inputs})
        except Exception as error:
            raise EncoderError(
                f"{self.folder.graph}: cannot run on a text of {len(ids[0])} tokens (max_length= truncates texts): "
                f"{str(error)[:200]}"
            ) from None
        rows = text_vectors(outputs, self.folder)
        check_finite(rows, f"{self.folder.graph}: ")
        return rows
