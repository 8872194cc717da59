"""Pooling of a model's hidden states into one vector per text; the padding may be on either side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from torch import Tensor

Pooling = Literal["mean", "cls", "max", "last", "mask"]
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


def pool(states: Tensor, mask: Tensor, pooling: Pooling, marked: Tensor | None = None, first: bool = False) -> Tensor:
    """Return the (n, d) float32 vectors of n texts.

    ======  =====================================================================================
    mean    the mean over the text's tokens
    max     the maximum of each coordinate over the text's tokens
    cls     the text's first token
    last    the text's last token
    mask    the mask token of PromptBERT's template (Jiang et al. 2022, section 3): ``marked``
    ======  =====================================================================================

    Parameters
    ----------
    states
        (n, length, d) hidden states; those of padding tokens may have any value, also NaN.
    mask
        (n, length), true for tokens of the text, false for padding.
    marked
        (n, length), true for mask tokens; each text has at least one. Needed only for ``mask``.
    first
        Use the first mask token of a text instead of the last.
    """
    import torch

    states = states.float()
    mask = mask.bool()
    if pooling == "mean":
        total = torch.where(mask[..., None], states, 0.0).sum(dim=1)
        return total / mask.sum(dim=1, keepdim=True)
    if pooling == "max":
        return torch.where(mask[..., None], states, -torch.inf).amax(dim=1)
    candidates = mask
    if marked is not None:
        candidates = marked.bool() & mask
    if pooling == "cls" or (pooling == "mask" and first):
        places = candidates.int().argmax(dim=1)
    else:
        places = candidates.shape[1] - 1 - candidates.flip(1).int().argmax(dim=1)
    return states[torch.arange(len(states), device=states.device), places]
