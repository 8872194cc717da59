"""A loaded graph: its inputs for a batch of texts, and the texts' vectors among its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from embassay.core.errors import EncoderError
from embassay.core.processes.cores import cores
from embassay.core.vectors import DenseVectors, Indices
from embassay.models.base import Route
from embassay.models.exported.model_folder import ExportedFolder, other_modules
from embassay.models.exported.pooling import pool
from embassay.models.neural.derived import unit

POOLED = "sentence_embedding"
"""The name of an output with one vector per text."""
KNOWN = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
"""Inputs that can be made from texts."""
DYNAMIC = b"DynamicQuantizeLinear"
"""The operator that quantises by the range of a whole batch, so that texts change each other's vectors."""
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


def open_graph(graph: Path, device: str) -> Session:
    """Load a graph. On a CPU, each batch runs on one thread, and several batches run at the same time.

    Raises
    ------
    EncoderError
        If the device is not supported, or this onnxruntime cannot read the graph.
    """
    import onnxruntime

    provider, options = _provider(device, onnxruntime.get_available_providers())
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(graph), settings, providers=[(provider, options)])
    except Exception as error:
        raise EncoderError(f"{graph}: cannot be loaded by onnxruntime: {error}") from None
    names = [node.name for node in session.get_outputs()]

    def run(feed: Feed) -> Outputs:
        return dict(zip(names, session.run(names, dict(feed)), strict=True))

    device, threads = "cuda", 1
    if provider == "CPUExecutionProvider":
        device, threads = "cpu", cores()
    # If activations are quantised by the range of a whole batch, texts change each other's vectors.
    alone = _is_dynamic(graph)
    inputs = frozenset(node.name for node in session.get_inputs())
    return Session(
        run, inputs, threads, {"device": device, "backend": provider, "threads": threads, "alone": alone}, alone
    )


def _provider(device: str, available: list[str]) -> tuple[str, dict[str, str]]:
    """Return the name and the options of onnxruntime's provider for a device."""
    kind, _, number = device.partition(":")
    if kind == "cuda":
        if "CUDAExecutionProvider" not in available:
            raise EncoderError(f"device {device!r} is not available: this onnxruntime has no CUDA support")
        return "CUDAExecutionProvider", {"device_id": number or "0"}
    if kind not in ("auto", "cpu"):
        raise EncoderError(f"device {device!r} is not supported by onnxruntime here; use cpu or cuda")
    return "CPUExecutionProvider", {}


def _is_dynamic(graph: Path) -> bool:
    """Return whether a graph quantises dynamically. Names of operators are plain text in the file."""
    with graph.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(DYNAMIC) >= 0


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
            "the model with optimum for the task feature-extraction"
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
