"""The ONNX graph of a transformer: from token ids and positions to the last hidden states.

Attention and GELU are fused operators of ONNX Runtime (domain ``com.microsoft``). The texts of a batch have the same
number of tokens, so there is neither padding nor an attention mask.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from embassay.models.light.architecture import BUCKETS, POSITIONS, TYPES, WORDS, Architecture

Array = NDArray[np.float32]
FURTHEST = 128
"""The distance of two tokens from which on MPNet's position bias is the same."""
MODEL = """
<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
transformer (int64[n,t] input_ids, int64[n,t] position_ids{bias_input}) => (float[n,t,{hidden}] states_{layers})
<INITIALIZERS>
{{
  word = Gather ("{words}", input_ids)
  position = Gather ("{positions}", position_ids)
  sum = Add (word, position)
  states_0 = LayerNormalization <axis = -1, epsilon = {epsilon}>
    (sum, "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias")
  {nodes}
}}
"""
LAYER = """
  query_{n} = MatMul (states_{n}, "{query}.weight")
  key_{n} = MatMul (states_{n}, "{key}.weight")
  value_{n} = MatMul (states_{n}, "{value}.weight")
  heads_{n} = com.microsoft.MultiHeadAttention <num_heads = {heads}>
    (query_{n}, key_{n}, value_{n}, "{query}.biases"{bias})
  projected_{n} = MatMul (heads_{n}, "{attended}.weight")
  attended_{n} = Add (projected_{n}, "{attended}.bias")
  first_sum_{n} = Add (attended_{n}, states_{n})
  middle_{n} = LayerNormalization <axis = -1, epsilon = {epsilon}>
    (first_sum_{n}, "{first_norm}.weight", "{first_norm}.bias")
  wide_{n} = MatMul (middle_{n}, "{up}.weight")
  active_{n} = com.microsoft.BiasGelu (wide_{n}, "{up}.bias")
  narrow_{n} = MatMul (active_{n}, "{down}.weight")
  changed_{n} = Add (narrow_{n}, "{down}.bias")
  second_sum_{n} = Add (changed_{n}, middle_{n})
  states_{next} = LayerNormalization <axis = -1, epsilon = {epsilon}>
    (second_sum_{n}, "{second_norm}.weight", "{second_norm}.bias")
"""
"""A layer: attention and a feed-forward network, each with a residual connection and LayerNorm. The fused Attention
would project the tokens of each text and head in a product of their own, and is slower."""


def build(architecture: Architecture, weights: Mapping[str, Array]) -> tuple[bytes, dict[str, Array]]:
    """Return the graph, and the values of its initializers by name.

    The graph has only the shapes of the initializers, so its size does not depend on theirs. Its inputs are
    ``input_ids`` and ``position_ids``, (n, t) int64, and for MPNet ``position_bias``, (1, heads, t, t) float32; its
    output has shape (n, t, d).

    Parameters
    ----------
    weights
        The tensors of :attr:`Architecture.shapes` in float32.
    """
    from onnx import parser

    arrays = {}
    for name, array in weights.items():
        is_of_layer = ".layer." in name
        arrays[name] = np.ascontiguousarray(array.T if is_of_layer else array)
    if architecture.token_types:
        # A single text has tokens of the first type only, so its embedding is added to every position.
        arrays[POSITIONS] = arrays[POSITIONS] + arrays[TYPES][0]
    settings = {"heads": architecture.heads, "epsilon": architecture.epsilon, "bias": "", "bias_input": ""}
    if architecture.has_position_bias:
        # The empty argument is a mask of the keys.
        settings["bias"] = ", , position_bias"
        settings["bias_input"] = f", float[1,{architecture.heads},t,t] position_bias"
    nodes = ""
    for number in range(architecture.layers):
        parts = architecture.parts(number)
        biases = [weights[f"{parts[name]}.bias"] for name in ("query", "key", "value")]
        arrays[f"{parts['query']}.biases"] = np.concatenate(biases)
        nodes += LAYER.format(n=number, next=number + 1, **parts, **settings)
    text = MODEL.format(
        words=WORDS,
        positions=POSITIONS,
        nodes=nodes,
        hidden=architecture.hidden,
        layers=architecture.layers,
        **settings,
    )
    arrays = {name: array for name, array in arrays.items() if f'"{name}"' in text}
    # The runtime takes the values from memory, in place of a file.
    declared = [f'float{list(array.shape)} "{name}" = ["location": "memory"]' for name, array in arrays.items()]
    text = text.replace("INITIALIZERS", ", ".join(declared))
    return parser.parse_model(text).SerializeToString(), arrays


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
