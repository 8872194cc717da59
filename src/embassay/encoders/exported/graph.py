"""A loaded graph: what it is given for a batch of texts, and which of its outputs are the texts' vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.exported.model_folder import ExportedFolder, other_modules
from embassay.encoders.exported.pooling import pool
from embassay.errors import EncoderError

POOLED = "sentence_embedding"
"""The output that is a text's vector."""
KNOWN = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
"""Inputs that a text gives."""
TOKENS = ("token_embeddings", "last_hidden_state")
"""Outputs that are vectors of tokens, the first that there is."""
NO_VECTORS = ("logits", "score", "prob", "label")
"""What names of outputs hold that are decisions of a model, not vectors."""
Rows = NDArray[np.float32]
Feed = Mapping[str, NDArray[np.int64]]
Tokens = tuple[list[int], list[int]]
"""The ids of a text's tokens, and of the segments that they belong to."""


class Session(Protocol):
    """A loaded graph; several threads may call it at once."""

    @property
    def inputs(self) -> frozenset[str]:
        """The names of what it takes."""
        ...

    @property
    def threads(self) -> int:
        """How many threads should call it at once."""
        ...

    @property
    def alone(self) -> bool:
        """Whether texts of one batch move each other's vectors, so that each has to run alone."""
        ...

    @property
    def route(self) -> Mapping[str, Any]:
        """Where and how it runs, for ``run.json``."""
        ...

    def __call__(self, feed: Feed) -> Mapping[str, NDArray[Any]]:
        """Return its outputs by name."""
        ...


def feed(tokens: Sequence[Tokens], pad: int) -> Feed:
    """Return the (n, t) inputs of texts, filled up at their end."""
    shape = (len(tokens), max(1, *(len(ids) for ids, _ in tokens)))
    ids, types, mask = np.full(shape, pad), np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for place, (row, kinds) in enumerate(tokens):
        ids[place, : len(row)], types[place, : len(row)], mask[place, : len(row)] = row, kinds, 1
    positions = np.broadcast_to(np.arange(shape[1]), shape).copy()
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types, "position_ids": positions}


def text_vectors(outputs: Mapping[str, NDArray[Any]], mask: NDArray[np.int64], folder: ExportedFolder) -> Rows:
    """Return the (n, d) vectors of texts out of a graph's outputs, pooled and scaled where the graph does not do it.

    Raises
    ------
    EncoderError
        If no output can be one, or the graph ends before a module of the model that is not had here.
    """
    fit = {name: array for name, array in outputs.items() if not any(part in name.lower() for part in NO_VECTORS)}
    flat = [name for name, array in fit.items() if array.ndim == 2]
    deep = [name for name, array in fit.items() if array.ndim == 3]
    if POOLED in flat or (not deep and len(flat) == 1):
        return np.asarray(outputs[POOLED if POOLED in flat else flat[0]], dtype=np.float32)
    name = next((name for name in (*TOKENS, *deep) if name in deep), "")
    if not name:
        raise EncoderError(
            f"{folder.graph}: none of its outputs ({', '.join(outputs)}) is a vector of a text or of tokens; export "
            "the model with 'embassay export', or with optimum for the task feature-extraction"
        )
    if others := other_modules(folder):
        raise EncoderError(f"{folder.graph}: it ends before {', '.join(others)}, which is not had here")
    rows = pool(outputs[name], mask, folder.modes or ("mean",))
    return unit(rows) if folder.normalize else rows


def unit(rows: Rows) -> Rows:
    """Scale to unit length, zero vectors left as they are, as torch's ``normalize`` does."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), dtype=np.float32)
