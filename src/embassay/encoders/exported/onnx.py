"""A model exported to ONNX, in float32 or int8, run by onnxruntime: onnx:FOLDER.

The folder is one that ``embassay export`` wrote, or one as optimum writes it and the hub has it.
"""

from __future__ import annotations

from functools import wraps
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from embassay.encoders.exported.encoder import ExportedEncoder, load_folder
from embassay.encoders.exported.graph import Feed, GraphFormat, Outputs, Session, cannot_load
from embassay.engine.cores import cores
from embassay.errors import EncoderError
from embassay.types import Runtime

TARGET = "FOLDER"
EXTRA = "onnx"
REQUIRES = ("onnxruntime", "tokenizers")
DYNAMIC = b"DynamicQuantizeLinear"
"""The operator that quantises by the range of a whole batch, so that texts change each other's vectors."""


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
        raise cannot_load(graph, "onnxruntime", error) from None
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


GRAPHS = GraphFormat("onnx", ".onnx", ("model.onnx", "onnx/model.onnx"), open_graph)


# The options of a spec are read from the signature of this function, which wraps() copies.
@wraps(load_folder)
def create(target: str, runtime: Runtime, **options: Any) -> ExportedEncoder:
    """Return the encoder; the options and errors are those of :func:`load_folder`."""
    return load_folder(GRAPHS, target, runtime, **options)
