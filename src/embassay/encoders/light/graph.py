"""The ONNX graph of a transformer: from token ids and positions to the last hidden states.

Attention and GELU are fused operators of ONNX Runtime (domain ``com.microsoft``). The texts of a batch have the same
number of tokens, so there is neither padding nor an attention mask.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.light.architecture import BUCKETS, Architecture

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

Array = NDArray[np.float32]
FUSED = "com.microsoft"
OPSET, FUSED_OPSET, IR_VERSION = 17, 1, 8
"""Versions that ONNX Runtime 1.22 and later read."""
FURTHEST = 128
"""The distance of two tokens from which on MPNet's position bias is the same."""


def build(architecture: Architecture, weights: Mapping[str, Array]) -> tuple[ModelProto, dict[str, Array]]:
    """Return the graph, and the values of its initializers by name.

    The graph has only the shapes of the initializers, so its size does not depend on theirs. Its inputs are
    ``input_ids`` and ``position_ids``, (n, t) int64, and for MPNet ``position_bias``, (1, heads, t, t) float32; its
    output has shape (n, t, d).

    Parameters
    ----------
    weights
        The tensors of :attr:`Architecture.shapes` in float32.
    """
    from onnx import TensorProto, helper

    graph = _Graph(weights)
    positions = weights["embeddings.position_embeddings.weight"]
    if architecture.token_types:
        # A single text has tokens of the first type only, so its embedding is added to every position.
        positions = positions + weights["embeddings.token_type_embeddings.weight"][0]
    graph.node("Gather", [graph.weight("words", weights["embeddings.word_embeddings.weight"]), "input_ids"], "word")
    graph.node("Gather", [graph.weight("positions", positions), "position_ids"], "position")
    graph.node("Add", ["word", "position"], "sum")
    epsilon = architecture.epsilon
    graph.node("LayerNormalization", ["sum", *graph.norm("embeddings.LayerNorm")], "states.0", axis=-1, epsilon=epsilon)
    for number in range(architecture.layers):
        _add_layer(graph, architecture, number)

    sizes: dict[str, tuple[int, list[object]]] = {
        "input_ids": (TensorProto.INT64, ["n", "t"]),
        "position_ids": (TensorProto.INT64, ["n", "t"]),
    }
    if architecture.has_position_bias:
        sizes["position_bias"] = (TensorProto.FLOAT, [1, architecture.heads, "t", "t"])
    inputs = [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in sizes.items()]
    output = f"states.{architecture.layers}"
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", "t", architecture.hidden])]
    initializers = [_declaration(name, array) for name, array in graph.arrays.items()]
    versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, FUSED_OPSET)]
    proto = helper.make_graph(graph.nodes, architecture.model_type, inputs, outputs, initializers)
    return helper.make_model(proto, opset_imports=versions, ir_version=IR_VERSION), graph.arrays


class _Graph:
    """The nodes of a graph, and the arrays of its initializers."""

    def __init__(self, weights: Mapping[str, Array]):
        self._weights = weights
        self.nodes: list[NodeProto] = []
        self.arrays: dict[str, Array] = {}

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> None:
        """Add a node."""
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))

    def weight(self, name: str, array: Array) -> str:
        """Add an initializer and return its name."""
        self.arrays[name] = np.ascontiguousarray(array)
        return name

    def matrix(self, name: str) -> str:
        """Add the (in, out) weights of a linear layer."""
        return self.weight(f"{name}.weight", self._weights[f"{name}.weight"].T)

    def bias(self, *names: str) -> str:
        """Add the bias of one or several linear layers, one after the other."""
        return self.weight(f"{names[0]}.bias", np.concatenate([self._weights[f"{name}.bias"] for name in names]))

    def norm(self, name: str) -> list[str]:
        """Add scale and bias of a LayerNorm."""
        return [self.weight(f"{name}.{part}", self._weights[f"{name}.{part}"]) for part in ("weight", "bias")]


def _add_layer(graph: _Graph, architecture: Architecture, number: int) -> None:
    """Add a transformer layer: attention and a feed-forward network, each with a residual connection and LayerNorm."""
    part = architecture.parts(number)
    epsilon = architecture.epsilon
    states, name = f"states.{number}", f"layer.{number}"
    projections = part["query"], part["key"], part["value"]
    # The fused Attention would project the tokens of each text and head in a product of their own.
    for projection in projections:
        graph.node("MatMul", [states, graph.matrix(projection)], projection)
    attention = [*projections, graph.bias(*projections)]
    if architecture.has_position_bias:
        # The empty name is a mask.
        attention += ["", "position_bias"]
    graph.node("MultiHeadAttention", attention, f"{name}.heads", FUSED, num_heads=architecture.heads)
    graph.node("MatMul", [f"{name}.heads", graph.matrix(part["attended"])], f"{name}.attended")
    _add_residual(
        graph, [f"{name}.attended", states, graph.bias(part["attended"])], part["first_norm"], f"{name}.middle", epsilon
    )
    graph.node("MatMul", [f"{name}.middle", graph.matrix(part["up"])], f"{name}.up")
    graph.node("BiasGelu", [f"{name}.up", graph.bias(part["up"])], f"{name}.active", FUSED)
    graph.node("MatMul", [f"{name}.active", graph.matrix(part["down"])], f"{name}.down")
    _add_residual(
        graph,
        [f"{name}.down", f"{name}.middle", graph.bias(part["down"])],
        part["second_norm"],
        f"states.{number + 1}",
        epsilon,
    )


def _add_residual(graph: _Graph, terms: list[str], norm: str, output: str, epsilon: float) -> None:
    """Add the sum of three terms, the last of them a bias, and its LayerNorm."""
    changed, states, bias = terms
    graph.node("Add", [changed, bias], f"{output}.biased")
    graph.node("Add", [f"{output}.biased", states], f"{output}.sum")
    graph.node("LayerNormalization", [f"{output}.sum", *graph.norm(norm)], output, axis=-1, epsilon=epsilon)


def _declaration(name: str, array: Array) -> TensorProto:
    """Return an initializer without its values, which the runtime takes from memory."""
    from onnx import TensorProto

    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=array.shape)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="in memory")
    return tensor


def position_bias(table: Array, tokens: int) -> Array:
    """Return the (1, heads, tokens, tokens) bias of the attention scores for relative positions.

    As in T5 (Raffel et al. 2020), near positions have a row of the table each; farther ones share rows, in logarithmic
    steps; the two directions have rows of their own.

    Parameters
    ----------
    table
        (:data:`BUCKETS`, heads).
    """
    place = np.arange(tokens)
    # Positive for a token that is attended to from behind it.
    distance = place[:, None] - place[None, :]
    half = BUCKETS // 2
    direction = np.where(distance < 0, half, 0)
    distance = np.abs(distance)
    exact = half // 2
    steps = np.log(np.maximum(distance, 1).astype(np.float32) / exact) / math.log(FURTHEST / exact) * (half - exact)
    far = np.minimum(exact + steps.astype(np.int64), half - 1)
    rows = direction + np.where(distance < exact, distance, far)
    return np.ascontiguousarray(table[rows].transpose(2, 0, 1)[None], dtype=np.float32)
