"""The unfolding recursive autoencoder, over the trees of many texts at once, a forest.

    encode, bottom-up        p = tanh(W_e [c₁; c₂] + b_e)               (optionally p/‖p‖)
    unfold, top-down         [c₁'; c₂'] = tanh(W_d p + b_d)
    loss                     Σ over merges Σ over the words below it ‖x − x'‖²  +  λ (‖W_e‖² + ‖W_d‖²)

All unfolded vectors that are the same number of steps below their merge are computed together. Every merge is unfolded
down to all the words below it.

Source: Socher, Huang, Pennington, Ng, Manning (2011), "Dynamic pooling and unfolding recursive autoencoders for
paraphrase detection", sections 2.2 and 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from embassay.models.static.trees import Merges

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
        Whether each merged vector is scaled to unit length.
    """

    fold: Tensor
    fold_bias: Tensor
    unfold: Tensor
    unfold_bias: Tensor
    normalize: bool = False


def encode(words: Tensor, merges: Merges, matrices: Matrices) -> list[Tensor]:
    """Return the (d,) vectors of the nodes of a forest: those of the words, then those of the merges from the last on.

    So a node is an index into them: word k, or merge −1 − k.

    Parameters
    ----------
    words
        The (L, d) vectors of the words.
    """
    import torch

    vectors = [*words.unbind(), *[words] * len(merges)]
    for place, (left, right) in enumerate(merges):
        pair = torch.cat([vectors[left], vectors[right]])
        merged = torch.tanh(torch.nn.functional.linear(pair, matrices.fold, matrices.fold_bias))
        vectors[-1 - place] = torch.nn.functional.normalize(merged, dim=0) if matrices.normalize else merged
    return vectors


def unfolding_loss(words: Tensor, merges: Merges, matrices: Matrices) -> Tensor:
    """Return Σ over merges Σ over the words below it ‖x − x'‖² of a forest; a scalar.

    Parameters
    ----------
    words
        The (L, d) vectors of the words. Their coordinates must be between −1 and 1, the range of tanh.
    """
    import torch

    loss = words.new_zeros(())
    nodes = [-1 - place for place in range(len(merges))]
    vectors = encode(words, merges, matrices)
    above = torch.stack([vectors[node] for node in nodes])
    while nodes:
        pairs = torch.tanh(torch.nn.functional.linear(above, matrices.unfold, matrices.unfold_bias))
        children = [child for node in nodes for child in merges[-1 - node]]
        below = pairs.view(-1, words.shape[1])
        is_word = torch.tensor(children) >= 0
        targets = words[[child for child in children if child >= 0]]
        loss = loss + (below[is_word] - targets).square().sum()
        nodes = [child for child in children if child < 0]
        above = below[~is_word]
    return loss


def penalty(matrices: Matrices) -> Tensor:
    """Return ‖W_e‖² + ‖W_d‖² without the biases; a scalar."""
    return matrices.fold.square().sum() + matrices.unfold.square().sum()
