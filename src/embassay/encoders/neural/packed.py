"""A BERT encoder without padding: the tokens of a batch are one long matrix.

A padded batch spends its time on padding: of sentences of mixed length, 41 % at 32 a batch, 73 % at 256. Here linear
layers see real tokens only, and attention runs over texts of equal length together. Several threads may call it at
once.

The linear layers are oneDNN's, in float32 and in half precision. Their result for a row does not depend on how many
other rows there are or on where it stands among them, bit by bit; that of numpy's and of torch's own products does on
some processors. So a text has the same vector in every batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

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

    def __init__(self, model: Any):
        """Lay out the weights of a ``transformers`` model of one of the ``FAMILIES``, on its CPU."""
        config = model.config
        self._heads = config.num_attention_heads
        self._embeddings = model.embeddings
        roberta = not type(model).__name__.startswith("Bert")
        self._first = int(model.embeddings.padding_idx) + 1 if roberta else 0
        self._layers = [_Layer(layer) for layer in model.encoder.layer]

    @staticmethod
    def fits(model: Any) -> bool:
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

    def __call__(self, ids: Sequence[np.ndarray]) -> tuple[Any, ...]:
        """Return the (length, d) token embeddings of each text; texts of equal length have to lie together."""
        import torch

        lengths = [len(text) for text in ids]
        groups = [(length, len(list(same))) for length, same in groupby(lengths)]
        kinds, back = self._embedded(ids, lengths)
        x = kinds[back]
        for number, layer in enumerate(self._layers):
            # Equal tokens at equal positions are still the same before the first attention: projected once.
            qkv = layer.project(x) if number else torch.index_select(layer.project(kinds), 0, back)
            x = layer(x, self._attention(qkv, groups))
        return tuple(x.split(lengths))

    def _embedded(self, ids: Sequence[np.ndarray], lengths: Sequence[int]) -> tuple[Any, Any]:
        """Return the (kinds, d) embeddings of each token at each position, and which of them each token has.

        Texts have many in common; until the first attention they need to be looked at only once.
        """
        import torch

        tokens = np.concatenate(ids).astype(np.int64)
        positions = np.concatenate([np.arange(n, dtype=np.int64) for n in lengths]) + self._first
        longest = int(positions.max(initial=0)) + 1
        kinds, back = np.unique(tokens * longest + positions, return_inverse=True)
        token, position, place = map(torch.from_numpy, (*np.divmod(kinds, longest), back))
        e = self._embeddings
        x = e.word_embeddings(token) + e.position_embeddings(position) + e.token_type_embeddings.weight[0]
        return e.LayerNorm(x), place

    def _attention(self, qkv: Any, groups: Sequence[tuple[int, int]]) -> Any:
        """Return the (tokens, d) attended values of (tokens, 3d) queries, keys and values."""
        import torch

        out = qkv.new_empty(len(qkv), qkv.shape[1] // 3)
        for rows, length, number in _spans(groups):
            shape = (number, length, 3, self._heads, -1)
            q, k, v = qkv[rows].view(shape).permute(2, 0, 3, 1, 4)
            into = out[rows].view(number, length, self._heads, -1).transpose(1, 2)
            if length > SHORT:
                into.copy_(torch.nn.functional.scaled_dot_product_attention(q, k, v))
                continue
            weights = _product(q, k.transpose(-1, -2)).mul_(q.shape[-1] ** -0.5).softmax(-1)
            _product(weights, v, into)
        return out


def _product(a: Any, b: Any, out: Any = None) -> Any:
    """Return a @ b of many small matrices; of float32 by numpy, which copies no matrix that lies in a larger one."""
    import torch

    if a.dtype != torch.float32:
        return torch.matmul(a, b) if out is None else out.copy_(torch.matmul(a, b))
    found = np.matmul(a.numpy(), b.numpy(), out=None if out is None else out.numpy())
    return torch.from_numpy(found)


class _Layer:
    """One layer: attention, then a feed-forward network, each added to its input and normalised."""

    def __init__(self, layer: Any):
        attention, output = layer.attention.self, layer.attention.output
        self._qkv = _Linear(attention.query, attention.key, attention.value)
        self._out, self._after_attention = _Linear(output.dense), output.LayerNorm
        self._wide, self._narrow = _Linear(layer.intermediate.dense), _Linear(layer.output.dense)
        self._after = layer.output.LayerNorm

    def project(self, x: Any) -> Any:
        """Return the (tokens, 3d) queries, keys and values."""
        return self._qkv(x)

    def __call__(self, x: Any, attended: Any) -> Any:
        x = self._after_attention(self._out.added(attended, x))
        return self._after(self._narrow.added(self._wide.activated(x), x))


class _Linear:
    """One or several linear layers of the same input, their weights laid out for oneDNN."""

    def __init__(self, *layers: Any):
        import torch

        weight = torch.cat([layer.weight.detach() for layer in layers]).contiguous()
        self._bias = torch.cat([layer.bias.detach() for layer in layers])
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS)
        self._run = torch.ops.mkldnn._linear_pointwise
        # Without AVX-512 oneDNN's GELU takes longer than torch's own does after the product.
        self._fuses = bool(getattr(torch.cpu, "_is_avx512_supported", lambda: False)())

    def __call__(self, x: Any) -> Any:
        return self._run(x, self._weight, self._bias, "none", [], "")

    def activated(self, x: Any) -> Any:
        """Return GELU of the layer of x."""
        import torch

        if self._fuses:
            return self._run(x, self._weight, self._bias, ACTIVATION, [], "none")
        return torch.ops.aten.gelu_(self(x))

    def added(self, x: Any, other: Any) -> Any:
        """Return the layer of x, and ``other`` added to it."""
        return self._run.binary(x, other, self._weight, self._bias, "add")


def _spans(groups: Sequence[tuple[int, int]]) -> Iterator[tuple[slice, int, int]]:
    start = 0
    for length, number in groups:
        yield slice(start, start + length * number), length, number
        start += length * number
