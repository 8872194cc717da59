"""A sentence-transformers model as a graph from token ids to the text's vector, for onnxruntime or OpenVINO.

All its modules are in the graph (transformer, pooling, dense layers, scaling), so nothing has to be done after it.
"""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from embassay.encoders.neural.runner import PROBES
from embassay.encoders.neural.shared import ModelOptions
from embassay.encoders.neural.st import SentenceTransformersEncoder
from embassay.errors import EncoderError, SpecError
from embassay.export.int8 import compress_weights, quantize_dynamically
from embassay.types import JsonObject

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor

Runtime = Literal["onnx", "openvino"]
GRAPH: Mapping[Runtime, str] = {"onnx": "model.onnx", "openvino": "openvino_model.xml"}
LIBRARIES: Mapping[Runtime, tuple[str, ...]] = {"onnx": ("onnxruntime",), "openvino": ("openvino",)}
OPSET = 17
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_graph(encoder: SentenceTransformersEncoder, folder: Path, to: Runtime, int8: bool) -> JsonObject:
    """Write a model's graph and tokenizer into a folder.

    The graph is traced by torch's exporter and takes the (n, t) int64 ``input_ids``, ``attention_mask`` and, where the
    model is given them, ``token_type_ids``; its output ``sentence_embedding`` is (n, d) float32.

    Parameters
    ----------
    folder
        An empty folder.
    int8
        Keep weights in 8 bits: for ONNX dynamic quantisation, activations too; for OpenVINO the weights only.

    Returns
    -------
    The facts for ``embassay.json``.

    Raises
    ------
    SpecError
        For an option of the encoder that a graph cannot have.
    EncoderError
        If the model takes more than tokens, has no fast tokenizer, or cannot be traced.
    """
    for name, wanted in (("dtype", "float32"), ("vectors", "float32")):
        if encoder.given.get(name, wanted) != wanted:
            raise SpecError(f"encoder {encoder.name!r}, option {name!r}: leave it out; a graph is exported in float32")
    model = encoder.load("cpu").eval()
    features = _features(model, encoder)
    graph = folder / GRAPH[to]
    traced = graph if to == "onnx" else folder / "traced.onnx"
    _trace(model, features, encoder.given, traced)
    try:
        if to == "openvino":
            _convert(traced, graph, int8)
        elif int8:
            quantize_dynamically(graph)
    except (RuntimeError, ValueError) as error:
        free = shutil.disk_usage(folder).free
        raise EncoderError(
            f"{to} cannot convert or write the model's graph ({free / 1e6:,.0f} MB free in the folder): "
            f"{_first_line(error)}"
        ) from error
    if not hasattr(model.tokenizer, "backend_tokenizer"):
        raise EncoderError(
            f"encoder {encoder.name!r} has no fast tokenizer (tokenizer.json), which an exported graph needs"
        )
    model.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    libraries = ("torch", "transformers", "sentence-transformers", *LIBRARIES[to])
    return {
        "graph": graph.name,
        "runtime": to,
        "int8": int8,
        "dim": encoder.given.get("dim") or int(model.get_embedding_dimension()),
        "max_length": model.max_seq_length,
        "pad": model.tokenizer.pad_token_id or 0,
        "modules": [type(module).__name__ for module in model],
        "pooling": _pooling(model),
        "normalize": bool(encoder.given.get("normalize")) or any(type(m).__name__ == "Normalize" for m in model),
        "made_with": {name: version(name) for name in libraries},
    }


def _features(model: SentenceTransformer, encoder: SentenceTransformersEncoder) -> dict[str, Tensor]:
    """Return what the model is given for a few texts, padding among it."""
    if any(getattr(module, "include_prompt", True) is False for module in model) and encoder.card.prompts:
        raise EncoderError(f"encoder {encoder.name!r} leaves its prompt out of the pooling, which cannot be exported")
    features = model.preprocess(list(PROBES))
    tensors = {name: value for name, value in features.items() if hasattr(value, "shape")}
    others = sorted(set(tensors) - set(INPUTS))
    if others:
        raise EncoderError(
            f"encoder {encoder.name!r} takes {', '.join(others)} besides tokens, which cannot be exported"
        )
    return {name: tensors[name] for name in INPUTS if name in tensors}


def _trace(model: SentenceTransformer, features: Mapping[str, Tensor], given: ModelOptions, path: Path) -> None:
    """Write the ONNX graph of a model, with the cut and the scaling that were asked for."""
    import torch

    names, dim, scaled = list(features), given.get("dim"), bool(given.get("normalize"))

    class Whole(torch.nn.Module):  # type: ignore[misc]
        """From the inputs, in their order, to the text's vector."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Tensor) -> Tensor:
            rows = self.model(dict(zip(names, tensors, strict=True)))["sentence_embedding"][:, :dim]
            return torch.nn.functional.normalize(rows, p=2, dim=1) if scaled else rows

    axes = {name: {0: "batch", 1: "tokens"} for name in names} | {"sentence_embedding": {0: "batch"}}
    try:
        with _quiet(), torch.inference_mode():
            torch.onnx.export(
                Whole().eval(),
                tuple(features.values()),
                str(path),
                input_names=names,
                output_names=["sentence_embedding"],
                dynamic_axes=axes,
                opset_version=OPSET,
                # The newer exporter gives the same vectors, takes ten times as long and needs onnxscript.
                dynamo=False,
            )
    except OSError:
        # The disk is at fault, not the model: the folder's writer says so.
        raise
    except Exception as error:
        raise EncoderError(f"the model cannot be exported: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _convert(traced: Path, graph: Path, int8: bool) -> None:
    """Write an ONNX graph as OpenVINO's, and remove it."""
    import openvino

    model = openvino.Core().read_model(str(traced))
    if int8:
        compress_weights(model)
    openvino.save_model(model, str(graph), compress_to_fp16=False)
    del model
    traced.unlink()


def _pooling(model: SentenceTransformer) -> list[str]:
    """Return the modes of the model's pooling, for people."""
    for module in model:
        modes = getattr(module, "pooling_mode", None)
        if modes:
            return [modes] if isinstance(modes, str) else list(modes)
    return [""]


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the exporter's warnings about what it traces: the graph is compared with the model afterwards."""
    log = logging.getLogger("torch.onnx")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(before)
