"""The unfolding recursive autoencoder, over many trees at once.

    encode, bottom-up        p = tanh(W_e [c₁; c₂] + b_e)               (optionally p/‖p‖)
    unfold, top-down         [c₁'; c₂'] = tanh(W_d p + b_d)
    loss                     Σ over inner nodes Σ over the words below it ‖x − x'‖²  +  λ (‖W_e‖² + ‖W_d‖²)

Every inner node is unfolded down to all the words below it. All nodes of the same height are computed together, and so
are all unfolded vectors that are the same number of steps below their node.

Source: Socher, Huang, Pennington, Ng, Manning (2011), "Dynamic pooling and unfolding recursive autoencoders for
paraphrase detection", sections 2.2 and 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from embassay.core.vectors import Indices
from embassay.models.static.tree_plans import TreePlan

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Matrices:
    """The learnt matrices of the autoencoder.

    Attributes
    ----------
    fold, fold_bias
        (d, 2d) and (d,): W_e and b_e.
    unfold, unfold_bias
        (2d, d) and (2d,): W_d and b_d.
    normalize
        Whether each encoded inner node is scaled to unit length.
    """

    fold: Tensor
    fold_bias: Tensor
    unfold: Tensor
    unfold_bias: Tensor
    normalize: bool = False


def encode(plan: TreePlan, leaves: Tensor, matrices: Matrices) -> Tensor:
    """Return the (m, d) vectors of all inner nodes from the (L, d) vectors of the words, both in the plan's order."""
    import torch

    words_by_height = leaves.split(plan.sizes)
    # Vectors whose parent is not computed yet; at first none.
    waiting = leaves[:0]
    vectors = [leaves[:0]]
    # The first words have no parent, so they are in no level.
    for nodes, words in zip(plan.levels, words_by_height[1:], strict=True):
        pool = torch.cat([words, waiting])
        # Left and right child of each node, side by side.
        pairs = _rows(pool, nodes.children).view(-1, 2 * leaves.shape[1])
        merged = torch.tanh(torch.nn.functional.linear(pairs, matrices.fold, matrices.fold_bias))
        if matrices.normalize:
            merged = torch.nn.functional.normalize(merged)
        waiting = _rows(torch.cat([merged, pool]), nodes.waiting)
        vectors.append(merged)
    return torch.cat(vectors)


def roots(plan: TreePlan, leaves: Tensor, matrices: Matrices) -> Tensor:
    """Return (n, d) vectors of texts: the root of each tree, the word of a text of one word, zero for an empty text."""
    import torch

    inner = encode(plan, leaves, matrices)
    # Texts without words have the index −1, which is this last row.
    zero = leaves.new_zeros((1, leaves.shape[1]))
    nodes = torch.cat([leaves, inner, zero])
    return nodes[torch.from_numpy(plan.roots)]


def unfolding_loss(plan: TreePlan, leaves: Tensor, matrices: Matrices) -> Tensor:
    """Return Σ over inner nodes Σ over the words below it ‖x − x'‖², over all texts of the plan; a scalar.

    Parameters
    ----------
    leaves
        (L, d) vectors of the words in the plan's order. Their coordinates must be between −1 and 1, the range of tanh.
    """
    import torch

    above = encode(plan, leaves, matrices)
    loss = leaves.new_zeros(())
    for step in plan.steps:
        pairs = torch.tanh(torch.nn.functional.linear(above, matrices.unfold, matrices.unfold_bias))
        below = pairs.view(-1, leaves.shape[1])
        errors = _rows(below, step.words) - _rows(leaves, step.targets)
        loss = loss + errors.square().sum()
        above = _rows(below, step.inner)
    return loss


def penalty(matrices: Matrices) -> Tensor:
    """Return ‖W_e‖² + ‖W_d‖² without the biases; a scalar."""
    return matrices.fold.square().sum() + matrices.unfold.square().sum()


def _rows(matrix: Tensor, rows: Indices) -> Tensor:
    """Return rows of a matrix. Unlike indexing, this sums gradients in the same order each time."""
    import torch

    return torch.nn.functional.embedding(torch.from_numpy(rows), matrix)
