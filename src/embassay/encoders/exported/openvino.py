"""A model exported to OpenVINO, in float32 or with int8 weights: openvino:FOLDER.

The folder is one that ``embassay export`` wrote, or one as optimum writes it and the hub has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Literal

import numpy as np

from embassay.encoders.exported.encoder import ExportedEncoder
from embassay.encoders.exported.graph import Feed, cannot_load
from embassay.encoders.exported.loading import GraphFormat, Pooling, load_folder
from embassay.engine.cores import cores
from embassay.errors import EncoderError
from embassay.types import Runtime

if TYPE_CHECKING:
    from openvino import CompiledModel, InferRequest

TARGET = "FOLDER"
EXTRA = "openvino"
REQUIRES = ("openvino", "tokenizers")


@dataclass(frozen=True)
class OpenVinoSession:
    """A graph that OpenVINO has compiled.

    Attributes
    ----------
    requests
        A request for each thread; a thread that runs a batch takes one and puts it back.
    alone
        False: weights are compressed, activations are not.
    """

    model: CompiledModel
    threads: int
    requests: SimpleQueue[InferRequest] = field(repr=False)
    alone: bool = False

    @classmethod
    def of(cls, graph: Path, device: str) -> OpenVinoSession:
        """Compile a graph, in float32 throughout; one thread runs a batch, and several run batches side by side.

        Raises
        ------
        EncoderError
            If another device is asked for, or the file is no graph that this OpenVINO reads.
        """
        if device.partition(":")[0] not in ("auto", "cpu"):
            raise EncoderError(f"device {device!r} is not supported by openvino here; use cpu")
        import openvino

        threads = cores()
        settings = {
            "INFERENCE_PRECISION_HINT": "f32",
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": threads,
        }
        try:
            model = openvino.Core().compile_model(str(graph), "CPU", settings)
        except Exception as error:
            raise cannot_load(graph, "OpenVINO", error) from None
        requests: SimpleQueue[InferRequest] = SimpleQueue()
        for _ in range(threads):
            requests.put(model.create_infer_request())
        return cls(model, threads, requests)

    @cached_property
    def inputs(self) -> frozenset[str]:
        """The names of what the graph takes."""
        return frozenset(name for port in self.model.inputs for name in port.get_names())

    @property
    def route(self) -> Mapping[str, object]:
        """The device, and how the batches are spread."""
        return {"device": "cpu", "backend": "OpenVINO", "threads": self.threads}

    def __call__(self, feed: Feed) -> Mapping[str, np.ndarray]:
        """Return the outputs by name."""
        request = self.requests.get()
        outputs = {}
        try:
            request.infer(dict(feed))
            for port in self.model.outputs:
                # The request's own memory is overwritten by the next batch.
                rows = np.array(request.get_tensor(port).data)
                for name in sorted(port.get_names()):
                    outputs[name] = rows
        finally:
            self.requests.put(request)
        return outputs


GRAPHS = GraphFormat("openvino", ".xml", ("openvino_model.xml", "openvino/openvino_model.xml"), OpenVinoSession.of)


def create(
    target: str,
    runtime: Runtime,
    *,
    file: str = "",
    pooling: Pooling | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    text_prompt: str | None = None,
    max_length: int | None = None,
    dim: int | None = None,
    device: str = "",
    normalize: bool = False,
    similarity: Literal["cosine", "dot"] | None = None,
) -> ExportedEncoder:
    """Read the folder's configuration; the graph is loaded when the first text is encoded.

    Parameters
    ----------
    file
        The graph's ``.xml`` file, if the folder has several.
    pooling
        How token vectors are pooled, if the graph returns token vectors and the folder has no pooling configuration.
    query_prompt, document_prompt, text_prompt
        Prompt put before each text of that role, instead of the one in the folder.
    max_length
        Truncate texts after this many tokens; by default the model's own limit.
    dim
        Keep only this many leading dimensions.
    device
        ``cpu`` only; the run's device by default.
    normalize
        Scale vectors to unit length.
    similarity
        Similarity of queries and documents; by default the model's own, else cosine.

    Raises
    ------
    ModelNotFoundError
        If the folder, its graph, its tokenizer or a part of its configuration is missing or damaged.
    """
    options = {
        "file": file,
        "pooling": pooling,
        "query_prompt": query_prompt,
        "document_prompt": document_prompt,
        "text_prompt": text_prompt,
        "max_length": max_length,
        "dim": dim,
        "normalize": normalize,
        "similarity": similarity,
    }
    return load_folder(GRAPHS, target, runtime, device, options)
