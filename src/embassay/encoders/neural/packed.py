"""A BERT encoder without padding: the tokens of a batch are one long matrix.

A padded batch spends its time on padding: of sentences of mixed length, 41 % at 32 a batch, 73 % at 256. Here linear
layers see real tokens only, and attention runs over texts of equal length together. Several threads may call it at
once.

The linear layers are oneDNN's, in float32 and in half precision. Their result for a row does not depend on how many
other rows there are or on where it stands among them, bit by bit; that of numpy's and of torch's own products does on
some processors. So a text has the same vector in every batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Linear, Module
    from transformers import PreTrainedModel

FAMILIES = ("BertModel", "RobertaModel", "XLMRobertaModel", "CamembertModel")
"""Models whose layers are those of BERT; positions of the last three start after the padding index."""
ACTIVATION = "gelu"
ROWS = 512
"""Rows that oneDNN lays weights out for; others are served too."""
SHORT = 64
"""Tokens of a text up to which two plain products are faster than torch's attention in tiles."""
PRODUCTS = ("_linear_pointwise", "_reorder_linear_weight")
"""The operators of torch that run oneDNN's linear layers."""


class PackedBert:
    """The token embeddings of a BERT model, for texts that lie one after the other."""

    def __init__(self, model: PreTrainedModel):
        """Lay out the weights of a ``transformers`` model of one of the ``FAMILIES``, on its CPU."""
        config = model.config
        self._heads = config.num_attention_heads
        self._embeddings = model.embeddings
        roberta = not type(model).__name__.startswith("Bert")
        self._first = int(model.embeddings.padding_idx) + 1 if roberta else 0
        self._layers = [_Layer(layer) for layer in model.encoder.layer]

    @staticmethod
    def fits(model: PreTrainedModel) -> bool:
        """Say whether a model is one that this can run: its family, activation, positions, device and this torch."""
        import torch

        config = model.config
        plain = (
            type(model).__name__ in FAMILIES
            and config.hidden_act == ACTIVATION
            and getattr(config, "position_embedding_type", None) in (None, "absolute")
            and not getattr(config, "is_decoder", False)
        )
        on_cpu = next(model.parameters()).device.type == "cpu"
        has_products = torch.backends.mkldnn.is_available() and all(hasattr(torch.ops.mkldnn, n) for n in PRODUCTS)
        return plain and on_cpu and has_products

    def __call__(self, ids: Sequence[np.ndarray]) -> tuple[Tensor, ...]:
        """Return the (length, d) token embeddings of each text; texts of equal length have to lie together."""
        import torch

        lengths = [len(text) for text in ids]
        kinds, kind_of_token = self._embedded(ids, lengths)
        x = kinds[kind_of_token]
        # Equal tokens at equal positions are still the same before the first attention: projected once.
        qkv = torch.index_select(self._layers[0].project(kinds), 0, kind_of_token)
        for number, layer in enumerate(self._layers):
            if number > 0:
                qkv = layer.project(x)
            x = layer(x, self._attention(qkv, lengths))
        return tuple(x.split(lengths))

    def _embedded(self, ids: Sequence[np.ndarray], lengths: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return the (kinds, d) embeddings of each token at each position, and the kind of each token.

        Texts have many kinds in common; until the first attention each needs to be computed only once.
        """
        import torch

        tokens = np.concatenate(ids).astype(np.int64)
        positions = np.concatenate([np.arange(n, dtype=np.int64) for n in lengths]) + self._first
        # One number for each pair of a token and a position.
        stride = int(positions.max(initial=0)) + 1
        kinds, kind_of_token = np.unique(tokens * stride + positions, return_inverse=True)
        token, position = np.divmod(kinds, stride)
        layers = self._embeddings
        x = layers.word_embeddings(torch.from_numpy(token))
        x = x + layers.position_embeddings(torch.from_numpy(position)) + layers.token_type_embeddings.weight[0]
        return layers.LayerNorm(x), torch.from_numpy(kind_of_token)

    def _attention(self, qkv: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return the (tokens, d) attended values of (tokens, 3d) queries, keys and values."""
        import torch

        out = qkv.new_empty(len(qkv), qkv.shape[1] // 3)
        start = 0
        for length, same in groupby(lengths):
            count = len(list(same))
            rows = slice(start, start + length * count)
            start = rows.stop
            q, k, v = qkv[rows].view(count, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
            attended = out[rows].view(count, length, self._heads, -1).transpose(1, 2)
            if length > SHORT:
                attended.copy_(torch.nn.functional.scaled_dot_product_attention(q, k, v))
            else:
                scores = _product(q, k.transpose(-1, -2)).mul_(q.shape[-1] ** -0.5)
                _product(scores.softmax(-1), v, attended)
        return out


def _product(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
    """Return a @ b of many small matrices; of float32 by numpy, which copies no matrix that lies in a larger one."""
    import torch

    if a.dtype == torch.float32:
        return torch.from_numpy(np.matmul(a.numpy(), b.numpy(), out=None if out is None else out.numpy()))
    product = torch.matmul(a, b)
    return product if out is None else out.copy_(product)


class _Layer:
    """One layer: attention, then a feed-forward network, each added to its input and normalised."""

    def __init__(self, layer: Module):
        attention = layer.attention.self
        self._qkv = _Linear(attention.query, attention.key, attention.value)
        self._attention_output = _Linear(layer.attention.output.dense)
        self._attention_norm = layer.attention.output.LayerNorm
        self._intermediate = _Linear(layer.intermediate.dense)
        self._output = _Linear(layer.output.dense)
        self._output_norm = layer.output.LayerNorm

    def project(self, x: Tensor) -> Tensor:
        """Return the (tokens, 3d) queries, keys and values."""
        return self._qkv(x)

    def __call__(self, x: Tensor, attended: Tensor) -> Tensor:
        x = self._attention_norm(self._attention_output.added(attended, x))
        return self._output_norm(self._output.added(self._intermediate.activated(x), x))


class _Linear:
    """One or several linear layers of the same input, their weights laid out for oneDNN."""

    def __init__(self, *layers: Linear):
        import torch

        weight = torch.cat([layer.weight.detach() for layer in layers]).contiguous()
        self._bias = torch.cat([layer.bias.detach() for layer in layers])
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS)
        self._run = torch.ops.mkldnn._linear_pointwise
        # Without AVX-512 oneDNN's GELU takes longer than torch's own does after the product.
        self._fuses = bool(getattr(torch.cpu, "_is_avx512_supported", lambda: False)())

    def __call__(self, x: Tensor) -> Tensor:
        return self._run(x, self._weight, self._bias, "none", [], "")

    def activated(self, x: Tensor) -> Tensor:
        """Return GELU of the layer of x."""
        import torch

        if self._fuses:
            return self._run(x, self._weight, self._bias, ACTIVATION, [], "none")
        return torch.ops.aten.gelu_(self(x))

    def added(self, x: Tensor, other: Tensor) -> Tensor:
        """Return the layer of x, and ``other`` added to it."""
        return self._run.binary(x, other, self._weight, self._bias, "add")
