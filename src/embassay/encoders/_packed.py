"""A BERT encoder without padding: the tokens of a batch are one long matrix.

A padded batch spends its time on padding: of sentences of mixed length, 41 % at 32 a batch, 73 % at 256. Here linear
layers see real tokens only, and attention runs over texts of equal length together. Several threads may call it at
once, each with rooms of its own for what lies between the layers: memory that is taken anew costs as much as a layer's
additions. In float32 the products are numpy's, whose kernels are at least as fast as any of torch's on one core; in
half precision they are oneDNN's, which also puts bias and residual sum into the product, and GELU.
"""

from __future__ import annotations

import threading
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


class PackedBert:
    """The token embeddings of a BERT model, for texts that lie one after the other."""

    def __init__(self, model: Any):
        """Lay out the weights of a ``transformers`` model of one of the ``FAMILIES``, on its CPU."""
        config = model.config
        self._heads, self._width, self._inner = config.num_attention_heads, config.hidden_size, config.intermediate_size
        self._embeddings = model.embeddings
        roberta = not type(model).__name__.startswith("Bert")
        self._first = int(model.embeddings.padding_idx) + 1 if roberta else 0
        self._layers = [_Layer(layer) for layer in model.encoder.layer]
        self._own = threading.local()

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
        if not plain or next(model.parameters()).device.type != "cpu":
            return False
        if model.dtype == torch.float32:
            return True
        names = ("_linear_pointwise", "_reorder_linear_weight")
        return torch.backends.mkldnn.is_available() and all(hasattr(torch.ops.mkldnn, name) for name in names)

    def __call__(self, ids: Sequence[np.ndarray]) -> tuple[Any, ...]:
        """Return the (length, d) token embeddings of each text; texts of equal length have to lie together."""
        import torch

        lengths = [len(text) for text in ids]
        groups = [(length, len(list(same))) for length, same in groupby(lengths)]
        kinds, back = self._embedded(ids, lengths)
        first, x = self._layers[0].project(kinds, kinds.new_empty(len(kinds), 3 * self._width)), kinds[back]
        rooms = self._rooms(x)
        for number, layer in enumerate(self._layers):
            triple = layer.project(x, rooms[0]) if number else torch.index_select(first, 0, back, out=rooms[0])
            x = layer(x, self._attention(triple, groups, rooms[1]), rooms)
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

    def _rooms(self, x: Any) -> tuple[Any, ...]:
        """Return this thread's room for queries, keys and values; for a result as wide as x; for the inner layer."""
        widths = (3 * self._width, self._width, self._inner)
        known = getattr(self._own, "rooms", None)
        if known is None or len(known[0]) < len(x):
            self._own.rooms = known = tuple(x.new_empty((len(x), width)) for width in widths)
        return tuple(room[: len(x)] for room in known)

    def _attention(self, qkv: Any, groups: Sequence[tuple[int, int]], out: Any) -> Any:
        """Fill in and return the (tokens, d) attended values of (tokens, 3d) queries, keys and values."""
        import torch

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
        own, output = layer.attention.self, layer.attention.output
        linear = _Linear if str(layer.output.dense.weight.dtype) == "torch.float32" else _HalfLinear
        self._qkv = linear(own.query, own.key, own.value)
        self._out, self._after_attention = linear(output.dense), output.LayerNorm
        self._wide, self._narrow = linear(layer.intermediate.dense), linear(layer.output.dense)
        self._after = layer.output.LayerNorm

    def project(self, x: Any, out: Any) -> Any:
        """Return the (tokens, 3d) queries, keys and values."""
        return self._qkv(x, out)

    def __call__(self, x: Any, attended: Any, rooms: tuple[Any, ...]) -> Any:
        triple, same, wide = rooms
        # The queries have been read by now: their room is free for a result.
        x = self._after_attention(self._out.added(attended, x, triple.view(-1)[: x.numel()].view_as(x)))
        return self._after(self._narrow.added(self._wide.activated(x, wide), x, same))


class _Linear:
    """One or several linear layers of the same input, in float32, by numpy; the result is written where it is told."""

    def __init__(self, *layers: Any):
        import torch

        self._weight = torch.cat([layer.weight.detach() for layer in layers]).T.contiguous().numpy()
        self._bias = torch.cat([layer.bias.detach() for layer in layers])

    def __call__(self, x: Any, out: Any) -> Any:
        np.matmul(x.numpy(), self._weight, out=out.numpy())
        return out.add_(self._bias)

    def activated(self, x: Any, out: Any) -> Any:
        """Return GELU of the layer of x."""
        import torch

        return torch.ops.aten.gelu_(self(x, out))

    def added(self, x: Any, other: Any, out: Any) -> Any:
        """Return the layer of x, and ``other`` added to it."""
        return self(x, out).add_(other)


class _HalfLinear:
    """The same in half precision, its weights laid out for oneDNN; takes memory of its own."""

    def __init__(self, *layers: Any):
        import torch

        weight = torch.cat([layer.weight.detach() for layer in layers]).contiguous()
        self._bias = torch.cat([layer.bias.detach() for layer in layers])
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS)
        self._run = torch.ops.mkldnn._linear_pointwise
        # Without AVX-512 oneDNN's GELU takes longer than torch's own does after the product.
        self._fuses = bool(getattr(torch.cpu, "_is_avx512_supported", lambda: False)())

    def __call__(self, x: Any, out: Any) -> Any:
        return self._run(x, self._weight, self._bias, "none", [], "")

    def activated(self, x: Any, out: Any) -> Any:
        """Return GELU of the layer of x."""
        import torch

        if self._fuses:
            return self._run(x, self._weight, self._bias, ACTIVATION, [], "none")
        return torch.nn.functional.gelu(self(x, out))

    def added(self, x: Any, other: Any, out: Any) -> Any:
        """Return the layer of x, and ``other`` added to it."""
        return self._run.binary(x, other, self._weight, self._bias, "add")


def _spans(groups: Sequence[tuple[int, int]]) -> Iterator[tuple[slice, int, int]]:
    start = 0
    for length, number in groups:
        yield slice(start, start + length * number), length, number
        start += length * number
