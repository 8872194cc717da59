"""The ONNX graph of a transformer: from token ids and positions to the last hidden states.

Attention and GELU are fused operators of ONNX Runtime (domain ``com.microsoft``). The texts of a batch have the same
number of tokens, so there is neither padding nor an attention mask.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from embassay.models.light.architecture import BUCKETS, POSITION_BIAS, POSITIONS, TYPES, Architecture

Array = NDArray[np.float32]
FURTHEST = 128
"""The distance of two tokens from which on MPNet's position bias is the same."""
MODEL = """
<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
transformer (int64[n,t] input_ids, int64[n,t] position_ids{bias_input}) => (float[n,t,{hidden}] states_{layers})
<INITIALIZERS>
{{
  word = Gather ("embeddings.word_embeddings.weight", input_ids)
  position = Gather ("embeddings.position_embeddings.weight", position_ids)
  sum = Add (word, position)
  states_0 = LayerNormalization <axis = -1, epsilon = {epsilon}>
    (sum, "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias")
  {nodes}
}}
"""
LAYER = """
  query_{n} = MatMul (states_{n}, "{layer}.attention.self.query.weight")
  key_{n} = MatMul (states_{n}, "{layer}.attention.self.key.weight")
  value_{n} = MatMul (states_{n}, "{layer}.attention.self.value.weight")
  biases_{n} = Concat <axis = 0>
    ("{layer}.attention.self.query.bias", "{layer}.attention.self.key.bias", "{layer}.attention.self.value.bias")
  heads_{n} = com.microsoft.MultiHeadAttention <num_heads = {heads}>
    (query_{n}, key_{n}, value_{n}, biases_{n}{bias})
  projected_{n} = MatMul (heads_{n}, "{layer}.attention.output.dense.weight")
  attended_{n} = Add (projected_{n}, "{layer}.attention.output.dense.bias")
  first_sum_{n} = Add (attended_{n}, states_{n})
  middle_{n} = LayerNormalization <axis = -1, epsilon = {epsilon}>
    (first_sum_{n}, "{layer}.attention.output.LayerNorm.weight", "{layer}.attention.output.LayerNorm.bias")
  wide_{n} = MatMul (middle_{n}, "{layer}.intermediate.dense.weight")
  active_{n} = com.microsoft.BiasGelu (wide_{n}, "{layer}.intermediate.dense.bias")
  narrow_{n} = MatMul (active_{n}, "{layer}.output.dense.weight")
  changed_{n} = Add (narrow_{n}, "{layer}.output.dense.bias")
  second_sum_{n} = Add (changed_{n}, middle_{n})
  states_{next} = LayerNormalization <axis = -1, epsilon = {epsilon}>
    (second_sum_{n}, "{layer}.output.LayerNorm.weight", "{layer}.output.LayerNorm.bias")
"""
"""A layer: attention and a feed-forward network, each with a residual connection and LayerNorm. The fused Attention
would project the tokens of each text and head in a product of their own, and is slower."""


def graph_text(architecture: Architecture) -> str:
    """Return the graph in ONNX's textual form, without the shapes of its initializers.

    Its inputs are ``input_ids`` and ``position_ids``, (n, t) int64, and for MPNet ``position_bias``,
    (1, heads, t, t) float32; its output has shape (n, t, d).
    """
    settings = {"heads": architecture.heads, "epsilon": architecture.epsilon, "bias": "", "bias_input": ""}
    if architecture.has_position_bias:
        # The empty argument is a mask of the keys.
        settings["bias"] = ", , position_bias"
        settings["bias_input"] = f", float[1,{architecture.heads},t,t] position_bias"
    nodes = ""
    for number in range(architecture.layers):
        nodes += LAYER.format(n=number, next=number + 1, layer=f"encoder.layer.{number}", **settings)
    return MODEL.format(nodes=nodes, hidden=architecture.hidden, layers=architecture.layers, **settings)


def needed_tensors(architecture: Architecture) -> frozenset[str]:
    """Return the names, as BERT has them, of the tensors that the graph and its inputs need."""
    names = re.findall(r'"([\w.]+\.(?:weight|bias))"', graph_text(architecture))
    if architecture.family.has_token_types:
        names.append(TYPES)
    if architecture.has_position_bias:
        names.append(POSITION_BIAS)
    return frozenset(names)


def build(architecture: Architecture, weights: Mapping[str, Array]) -> tuple[bytes, dict[str, Array]]:
    """Return the graph, and the values of its initializers by name.

    The graph has only the shapes of the initializers, so its size does not depend on theirs.

    Parameters
    ----------
    weights
        The tensors in float32, by their names in BERT.
    """
    from onnx import parser

    text = graph_text(architecture)
    arrays = {}
    for name, array in weights.items():
        if f'"{name}"' in text:
            arrays[name] = np.ascontiguousarray(array.T if ".layer." in name else array)
    if TYPES in weights:
        # A single text has tokens of the first type only, so its embedding is added to every position.
        arrays[POSITIONS] = arrays[POSITIONS] + weights[TYPES][0]
    # The runtime takes the values from memory, in place of a file.
    declared = [f'float{list(array.shape)} "{name}" = ["location": "memory"]' for name, array in arrays.items()]
    return parser.parse_model(text.replace("INITIALIZERS", ", ".join(declared))).SerializeToString(), arrays


def position_bias(table: Array, tokens: int) -> Array:
    """Return the (1, heads, tokens, tokens) bias of the attention scores for relative positions.

    As in T5 (Raffel et al. 2020), near positions have a row of the table each; farther ones share rows, in logarithmic
    steps; the two directions have rows of their own.

    Parameters
    ----------
    table
        (:data:`BUCKETS`, heads): the tensor :data:`POSITION_BIAS`.
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
    return np.ascontiguousarray(table[rows].transpose(2, 0, 1)[None])
