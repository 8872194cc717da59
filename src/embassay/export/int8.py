"""Quantisation of graphs to 8 bits: a quarter of the size, slightly different vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from openvino import Model

LEAST = 4_096
"""Weight matrices with fewer values are not quantised."""
STEPS = 127
SHORT = 1e-30
"""The smallest scale, for channels of zeros."""


def quantize_dynamically(graph: Path) -> None:
    """Quantise an ONNX graph in place: weights now, with a scale per channel, and activations when the graph runs.

    Weights are unsigned, because products of signed weights can saturate on processors without VNNI, and vectors would
    then depend on the machine.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared, small = graph.with_name("prepared.onnx"), graph.with_name("small.onnx")
    quant_pre_process(str(graph), str(prepared), skip_optimization=True, skip_symbolic_shape=True)
    quantize_dynamic(str(prepared), str(small), weight_type=QuantType.QUInt8, per_channel=True)
    prepared.unlink()
    small.replace(graph)


def compress_weights(model: Model) -> None:
    """Replace the large weight matrices of an OpenVINO graph by 8-bit weights with a scale per channel, in place.

    Each (a, b) matrix of a product or a lookup becomes signed integers times a float32 scale. Each output of a product
    and each row of a lookup table has its own scale.
    """
    from openvino import opset13 as ops

    for node in model.get_ops():
        if node.get_type_name() not in ("MatMul", "Gather"):
            continue
        place = 1
        if node.get_type_name() == "Gather":
            place = 0
        source = node.input_value(place).get_node()
        if source.get_type_name() != "Constant" or source.get_element_type().to_string() != "f32":
            continue
        weights = np.array(source.get_data())
        if weights.ndim != 2 or weights.size < LEAST:
            continue
        # A lookup table, or a transposed matrix, has an output in each row, otherwise in each column.
        has_outputs_in_rows = place == 0 or node.get_attributes()["transpose_b"]
        whole, scale = round_to_int8(weights, axis=1 if has_outputs_in_rows else 0)
        small = ops.convert(ops.constant(whole), "f32")
        node.input(place).replace_source_output(ops.multiply(small, ops.constant(scale)).output(0))


def round_to_int8(weights: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return integers and scales, along ``axis``, whose product equals the (a, b) weights up to half a step."""
    largest = np.abs(weights).max(axis=axis, keepdims=True)
    scale = np.maximum(largest, SHORT) / STEPS
    whole = np.rint(weights / scale).astype(np.int8)
    return whole, scale.astype(np.float32)
