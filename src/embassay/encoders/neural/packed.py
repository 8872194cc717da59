"""A BERT encoder without padding: the tokens of all texts of a batch form one long matrix.

In a padded batch of sentences of mixed length, much of the work is padding: 41 % with 32 texts, 73 % with 256. Here
the linear layers only compute real tokens, and attention is computed for all texts of equal length together. Several
threads may call it at the same time.

The linear layers use oneDNN, in float32 and in half precision. Its result for a row does not depend on the number or
the order of the other rows, bit by bit, so a text has the same vector in every batch. Products of numpy and torch do
not have this property on some processors.
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
"""Models with the layers of BERT. The positions of the last three start after the padding index."""
ACTIVATION = "gelu"
ROWS = 512
"""Number of rows for which oneDNN optimises the layout of weights; other numbers work too."""
SHORT = 64
"""For texts of up to this many tokens, two plain products are faster than torch's tiled attention."""
PRODUCTS = ("_linear_pointwise", "_reorder_linear_weight")
"""The operators of torch for oneDNN's linear layers."""


class PackedBert:
    """The layers of a BERT model, for batches of concatenated texts."""

    def __init__(self, model: PreTrainedModel):
        """Prepare the weights of a ``transformers`` model of one of the :data:`FAMILIES`, which is on the CPU."""
        config = model.config
        self._heads = config.num_attention_heads
        self._embeddings = model.embeddings
        # The number of the first position: RoBERTa's positions start after the padding index, BERT's at 0.
        self._first = 0
        if not type(model).__name__.startswith("Bert"):
            self._first = int(model.embeddings.padding_idx) + 1
        self._layers = [_Layer(layer) for layer in model.encoder.layer]

    @staticmethod
    def fits(model: PreTrainedModel) -> bool:
        """Return whether this class supports a model: its family, activation, positions and device, and this torch."""
        import torch

        config = model.config
        if type(model).__name__ not in FAMILIES or config.hidden_act != ACTIVATION:
            return False
        has_absolute_positions = getattr(config, "position_embedding_type", None) in (None, "absolute")
        if not has_absolute_positions or getattr(config, "is_decoder", False):
            return False
        if next(model.parameters()).device.type != "cpu" or not torch.backends.mkldnn.is_available():
            return False
        # The operators are private to torch, so another version may lack them.
        return all(hasattr(torch.ops.mkldnn, name) for name in PRODUCTS)

    def __call__(self, ids: Sequence[np.ndarray]) -> tuple[Tensor, ...]:
        """Return the (length, d) last hidden states of each text; texts of equal length must be adjacent."""
        import torch

        lengths = [len(text) for text in ids]
        kinds, kind_of_token = self._embedded(ids, lengths)
        x = kinds[kind_of_token]
        # Before the first attention, equal tokens at equal positions are the same: each is projected only once.
        qkv = torch.index_select(self._layers[0].project(kinds), 0, kind_of_token)
        for number, layer in enumerate(self._layers):
            if number > 0:
                qkv = layer.project(x)
            x = layer(x, self._attention(qkv, lengths))
        return tuple(x.split(lengths))

    def _embedded(self, ids: Sequence[np.ndarray], lengths: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return the (kinds, d) embeddings of each distinct pair of token and position, and the pair of each token.

        Texts have many such pairs in common, and until the first attention each is computed only once.
        """
        import torch

        tokens = np.concatenate(ids).astype(np.int64)
        positions = np.concatenate([np.arange(n, dtype=np.int64) for n in lengths]) + self._first
        # One number for each pair of a token and a position, so that unique() can be used.
        stride = int(positions.max(initial=0)) + 1
        kinds, kind_of_token = np.unique(tokens * stride + positions, return_inverse=True)
        token, position = np.divmod(kinds, stride)
        embeddings = self._embeddings
        words = embeddings.word_embeddings(torch.from_numpy(token))
        places = embeddings.position_embeddings(torch.from_numpy(position))
        summed = words + places + embeddings.token_type_embeddings.weight[0]
        return embeddings.LayerNorm(summed), torch.from_numpy(kind_of_token)

    def _attention(self, qkv: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return the (tokens, d) self-attention within each text of (tokens, 3d) queries, keys and values."""
        import torch

        out = qkv.new_empty(len(qkv), qkv.shape[1] // 3)
        start = 0
        for length, texts in groupby(lengths):
            count = len(list(texts))
            rows = slice(start, start + length * count)
            start = rows.stop
            # (3, texts, heads, length, d / heads)
            q, k, v = qkv[rows].view(count, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
            # A view of the output, so that results are written without another copy.
            attended = out[rows].view(count, length, self._heads, -1).transpose(1, 2)
            if length > SHORT:
                attended.copy_(torch.nn.functional.scaled_dot_product_attention(q, k, v))
            else:
                scale = q.shape[-1] ** -0.5
                scores = _product(q, k.transpose(-1, -2)).mul_(scale)
                _product(scores.softmax(-1), v, attended)
        return out


def _product(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
    """Return a @ b for batches of small matrices, written into ``out`` if given.

    For float32 it uses numpy, which does not copy matrices that are views of larger ones.
    """
    import torch

    if a.dtype == torch.float32:
        destination = None
        if out is not None:
            destination = out.numpy()
        return torch.from_numpy(np.matmul(a.numpy(), b.numpy(), out=destination))
    product = torch.matmul(a, b)
    if out is None:
        return product
    return out.copy_(product)


class _Layer:
    """One transformer layer: attention and a feed-forward network, each with a residual connection and LayerNorm."""

    def __init__(self, layer: Module):
        attention = layer.attention.self
        self._qkv = _Linear(attention.query, attention.key, attention.value)
        self._attention_output = _Linear(layer.attention.output.dense)
        self._attention_norm = layer.attention.output.LayerNorm
        self._intermediate = _Linear(layer.intermediate.dense)
        self._output = _Linear(layer.output.dense)
        self._output_norm = layer.output.LayerNorm

    def project(self, x: Tensor) -> Tensor:
        """Return the (tokens, 3d) queries, keys and values of (tokens, d) inputs."""
        return self._qkv(x)

    def __call__(self, x: Tensor, attended: Tensor) -> Tensor:
        """Return the layer's (tokens, d) output, from its input and the attended values."""
        x = self._attention_norm(self._attention_output.added(attended, x))
        return self._output_norm(self._output.added(self._intermediate.activated(x), x))


class _Linear:
    """One or several linear layers with the same input, as one product of oneDNN."""

    def __init__(self, *layers: Linear):
        import torch

        weight = torch.cat([layer.weight.detach() for layer in layers]).contiguous()
        self._bias = torch.cat([layer.bias.detach() for layer in layers])
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS)
        self._run = torch.ops.mkldnn._linear_pointwise
        # Without AVX-512, oneDNN's fused GELU is slower than torch's GELU after the product.
        self._fuses = bool(getattr(torch.cpu, "_is_avx512_supported", lambda: False)())

    def __call__(self, x: Tensor) -> Tensor:
        return self._run(x, self._weight, self._bias, "none", [], "")

    def activated(self, x: Tensor) -> Tensor:
        """Return GELU of the layer's output for x."""
        import torch

        if self._fuses:
            return self._run(x, self._weight, self._bias, ACTIVATION, [], "none")
        return torch.ops.aten.gelu_(self(x))

    def added(self, x: Tensor, other: Tensor) -> Tensor:
        """Return the layer's output for x plus ``other``."""
        return self._run.binary(x, other, self._weight, self._bias, "add")
