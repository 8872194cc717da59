"""A model exported to OpenVINO, in float32 or with int8 weights: openvino:FOLDER.

The folder is one that ``embassay export`` wrote, or one as optimum writes it and the hub has it.
"""

from __future__ import annotations

from functools import cache, wraps
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from embassay.encoders.exported.encoder import ExportedEncoder, load_folder
from embassay.encoders.exported.graph import Feed, GraphFormat, Outputs, Session, cannot_load
from embassay.engine.cores import cores
from embassay.errors import EncoderError
from embassay.types import Runtime

if TYPE_CHECKING:
    from openvino import Core, InferRequest

TARGET = "FOLDER"
EXTRA = "openvino"
REQUIRES = ("openvino", "tokenizers")


@cache
def _core() -> Core:
    """Return the one runtime of this process.

    A runtime gives the main thread a stack of its own for signals, and takes it back when it goes. If a second one goes
    after the first, the freed stack stays in use, and Ctrl-C ends the process with a segmentation fault.
    """
    import openvino

    return openvino.Core()


def open_graph(graph: Path, device: str) -> Session:
    """Compile a graph that computes in float32. Each batch runs on one thread, and several run at the same time.

    Raises
    ------
    EncoderError
        If the device is not the CPU, or this OpenVINO cannot read the graph.
    """
    if device.partition(":")[0] not in ("auto", "cpu"):
        raise EncoderError(f"device {device!r} is not supported by openvino here; use cpu")
    threads = cores()
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": threads,
    }
    try:
        model = _core().compile_model(str(graph), "CPU", settings)
    except Exception as error:
        raise cannot_load(graph, "OpenVINO", error) from None
    # One inference request per thread. A thread takes one for a batch and puts it back.
    requests: SimpleQueue[InferRequest] = SimpleQueue()
    for _ in range(threads):
        requests.put(model.create_infer_request())

    def run(feed: Feed) -> Outputs:
        request = requests.get()
        outputs = {}
        try:
            request.infer(dict(feed))
            for port in model.outputs:
                # Copied, because the next batch overwrites the memory of the request.
                rows = np.array(request.get_tensor(port).data)
                for name in sorted(port.get_names()):
                    outputs[name] = rows
        finally:
            requests.put(request)
        return outputs

    inputs = frozenset(name for port in model.inputs for name in port.get_names())
    return Session(run, inputs, threads, {"device": "cpu", "backend": "OpenVINO", "threads": threads})


GRAPHS = GraphFormat("openvino", ".xml", ("openvino_model.xml", "openvino/openvino_model.xml"), open_graph)


# The options of a spec are read from the signature of this function, which wraps() copies.
@wraps(load_folder)
def create(target: str, runtime: Runtime, **options: Any) -> ExportedEncoder:
    """Return the encoder; the options and errors are those of :func:`load_folder`."""
    return load_folder(GRAPHS, target, runtime, **options)
