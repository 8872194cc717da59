"""Writing a sentence-transformers model as a graph from token ids to text vectors, for onnxruntime or OpenVINO.

The graph contains all modules of the model: transformer, pooling, dense layers, scaling.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from embassay.encoders.neural.library_messages import quiet
from embassay.encoders.neural.model_options import ModelOptions
from embassay.encoders.neural.runner import PROBES
from embassay.encoders.neural.st import SentenceTransformersEncoder
from embassay.errors import EncoderError, SpecError, first_line_of
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

    The graph is traced by torch's exporter. Its inputs are (n, t) int64 ``input_ids``, ``attention_mask`` and, if the
    model has them, ``token_type_ids``; its output ``sentence_embedding`` is (n, d) float32.

    Parameters
    ----------
    folder
        An empty folder.
    int8
        Quantise to 8 bits: weights and, dynamically, activations for ONNX; only weights for OpenVINO.

    Returns
    -------
    The facts for ``embassay.json``.

    Raises
    ------
    SpecError
        For an option of the encoder that a graph does not support.
    EncoderError
        If the model has inputs other than tokens, has no fast tokenizer, or cannot be traced.
    """
    for name, wanted in (("dtype", "float32"), ("vectors", "float32")):
        if encoder.options.explicit.get(name, wanted) != wanted:
            raise SpecError(f"encoder {encoder.name!r}, option {name!r}: leave it out; a graph is exported in float32")
    model = encoder.load("cpu").eval()
    features = _features(model, encoder)
    graph = folder / GRAPH[to]
    traced = folder / "traced.onnx"
    if to == "onnx":
        traced = graph
    _trace(model, features, encoder.options, traced)
    try:
        if to == "openvino":
            _convert(traced, graph, int8)
        elif int8:
            quantize_dynamically(graph)
    except (RuntimeError, ValueError) as error:
        free = shutil.disk_usage(folder).free
        raise EncoderError(
            f"{to} cannot convert or write the model's graph ({free / 1e6:,.0f} MB free in the folder): "
            f"{first_line_of(error)}"
        ) from error
    if not hasattr(model.tokenizer, "backend_tokenizer"):
        raise EncoderError(
            f"encoder {encoder.name!r} has no fast tokenizer (tokenizer.json), which an exported graph needs"
        )
    model.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    modules = [type(module).__name__ for module in model]
    libraries = ("torch", "transformers", "sentence-transformers", *LIBRARIES[to])
    return {
        "graph": graph.name,
        "runtime": to,
        "int8": int8,
        "dim": encoder.options.dim or int(model.get_embedding_dimension()),
        "max_length": model.max_seq_length,
        "pad": model.tokenizer.pad_token_id or 0,
        "modules": modules,
        "pooling": _pooling(model),
        "normalize": encoder.options.normalize or "Normalize" in modules,
        "made_with": {name: version(name) for name in libraries},
    }


def _features(model: SentenceTransformer, encoder: SentenceTransformersEncoder) -> dict[str, Tensor]:
    """Return the model's (n, t) inputs for a few texts of different lengths."""
    leaves_prompt_out = any(getattr(module, "include_prompt", True) is False for module in model)
    if leaves_prompt_out and encoder.card.prompts:
        raise EncoderError(f"encoder {encoder.name!r} leaves its prompt out of the pooling, which cannot be exported")
    features = model.preprocess(list(PROBES))
    # Features that are not tensors are not inputs of the network.
    tensors = {name: value for name, value in features.items() if hasattr(value, "shape")}
    # The encoder of exported models can only make tokens of a text, no other inputs.
    others = sorted(set(tensors) - set(INPUTS))
    if others:
        raise EncoderError(
            f"encoder {encoder.name!r} takes {', '.join(others)} besides tokens, which cannot be exported"
        )
    return {name: tensors[name] for name in INPUTS if name in tensors}


def _trace(model: SentenceTransformer, features: Mapping[str, Tensor], options: ModelOptions, path: Path) -> None:
    """Write the ONNX graph of a model, with the dimensions and the scaling of the encoder's options."""
    import torch

    names = list(features)
    dim = options.dim
    normalize = options.normalize

    class Whole(torch.nn.Module):  # type: ignore[misc]
        """The model with its inputs as positional arguments, as the exporter needs them."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Tensor) -> Tensor:
            inputs = dict(zip(names, tensors, strict=True))
            outputs = self.model(inputs)
            rows = outputs["sentence_embedding"][:, :dim]
            # First cut, then scaled, as sentence-transformers does.
            if normalize:
                rows = torch.nn.functional.normalize(rows, p=2, dim=1)
            return rows

    axes = {name: {0: "batch", 1: "tokens"} for name in names}
    axes["sentence_embedding"] = {0: "batch"}
    try:
        with quiet("torch.onnx"), warnings.catch_warnings(), torch.inference_mode():
            # Warnings about tracing: the graph is compared with the model afterwards.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                Whole().eval(),
                tuple(features.values()),
                str(path),
                input_names=names,
                output_names=["sentence_embedding"],
                dynamic_axes=axes,
                opset_version=OPSET,
                # The newer exporter takes ten times as long, needs onnxscript, and gives the same vectors.
                dynamo=False,
            )
    except OSError:
        # Reported by the folder's writer, because the disk is the problem, not the model.
        raise
    except Exception as error:
        raise EncoderError(f"the model cannot be exported: {first_line_of(error)}") from error


def _convert(traced: Path, graph: Path, int8: bool) -> None:
    """Convert an ONNX graph to OpenVINO's format, and remove the ONNX file."""
    import openvino

    model = openvino.Core().read_model(str(traced))
    if int8:
        compress_weights(model)
    openvino.save_model(model, str(graph), compress_to_fp16=False)
    del model
    traced.unlink()


def _pooling(model: SentenceTransformer) -> list[str]:
    """Return the modes of the model's pooling, for the record."""
    for module in model:
        modes = getattr(module, "pooling_mode", None)
        if modes:
            if isinstance(modes, str):
                return [modes]
            return list(modes)
    return [""]
