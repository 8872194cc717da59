"""A loaded graph: its inputs for a batch of texts, and the texts' vectors among its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from embassay.encoders.base import Route
from embassay.encoders.exported.model_folder import ExportedFolder, other_modules
from embassay.encoders.exported.pooling import pool
from embassay.encoders.neural.model_options import unit
from embassay.errors import EncoderError
from embassay.vectors import DenseVectors, Indices

POOLED = "sentence_embedding"
"""The name of an output with one vector per text."""
KNOWN = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
"""Inputs that can be made from texts."""
TOKEN_OUTPUTS = ("token_embeddings", "last_hidden_state")
"""Names of outputs with token vectors; the first that exists is used."""
NO_VECTORS = ("logits", "score", "prob", "label")
"""Parts of the names of outputs that are a model's decisions instead of vectors."""
Feed = Mapping[str, Indices]
Outputs = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Session:
    """A loaded graph; several threads may use it at the same time.

    Attributes
    ----------
    run
        Returns the outputs by name for inputs by name.
    inputs
        The names of its inputs.
    threads
        The number of threads that should use it at the same time.
    route
        Where and how it runs, for ``run.json``.
    alone
        Whether texts of a batch change each other's vectors, so that each text has to be encoded alone.
    """

    run: Callable[[Feed], Outputs] = field(repr=False)
    inputs: frozenset[str]
    threads: int
    route: Route
    alone: bool = False


@dataclass(frozen=True)
class GraphFormat:
    """The graph files of one runtime.

    Attributes
    ----------
    scheme
        The scheme of its specs, for example ``onnx``.
    suffix
        The suffix of a graph's file, for example ``.onnx``.
    places
        Usual paths of a graph in its folder; the first one that exists is used.
    open
        Loads a graph onto a device; called with the graph's file and the name of the device.
    """

    scheme: str
    suffix: str
    places: tuple[str, ...]
    open: Callable[[Path, str], Session]


def feed(ids: Indices) -> Feed:
    """Return the (n, t) int64 inputs of a batch by name, from the token ids of texts of equal length."""
    return {
        "input_ids": ids,
        "attention_mask": np.ones_like(ids),
        # Single texts have tokens of the first segment only.
        "token_type_ids": np.zeros_like(ids),
        "position_ids": np.tile(np.arange(ids.shape[1]), (len(ids), 1)),
    }


def text_vectors(outputs: Outputs, folder: ExportedFolder) -> DenseVectors:
    """Return the (n, d) vectors of texts from a graph's outputs; token vectors are pooled, and scaled if configured.

    Raises
    ------
    EncoderError
        If no output has vectors, or the graph lacks a module of the model that is not implemented here.
    """
    # By their dimensions: (n, d) has a vector for each text, (n, t, d) one for each token.
    of_texts, of_tokens = [], []
    for name, array in outputs.items():
        if any(part in name.lower() for part in NO_VECTORS):
            continue
        if array.ndim == 2:
            of_texts.append(name)
        elif array.ndim == 3:
            of_tokens.append(name)
    if POOLED in of_texts:
        return np.asarray(outputs[POOLED], dtype=np.float32)
    if len(of_texts) == 1 and not of_tokens:
        return np.asarray(outputs[of_texts[0]], dtype=np.float32)
    if not of_tokens:
        raise EncoderError(
            f"{folder.graph}: none of its outputs ({', '.join(outputs)}) is a text vector or a token vector; export "
            "the model with 'embassay export', or with optimum for the task feature-extraction"
        )
    name = next((name for name in TOKEN_OUTPUTS if name in of_tokens), of_tokens[0])
    left_out = other_modules(folder)
    if left_out:
        raise EncoderError(
            f"{folder.graph}: the graph does not include the modules {', '.join(left_out)}, which are not "
            "supported outside it"
        )
    rows = pool(outputs[name], folder.modes or ("mean",))
    if folder.normalize:
        return unit(rows)
    return rows


def cannot_load(graph: Path, library: str, error: Exception) -> EncoderError:
    """Return an error about a graph that a library cannot load, with the library's message on one line."""
    return EncoderError(f"{graph}: cannot be loaded by {library}: {error}")
