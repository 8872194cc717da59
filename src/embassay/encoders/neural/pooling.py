"""From a model's hidden states to one vector for each text, whatever side the padding is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from torch import Tensor

Pooling = Literal["mean", "cls", "max", "last", "mask"]
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


def pool(states: Tensor, mask: Tensor, pooling: Pooling, marked: Tensor | None = None, first: bool = False) -> Tensor:
    """Return the (n, d) float32 vectors of n texts.

    ======  =====================================================================================
    mean    the mean over the text's own tokens
    max     the largest of each coordinate over the text's own tokens
    cls     the text's first token
    last    the text's last token
    mask    the mask token of PromptBERT's template (Jiang et al. 2022, section 3): ``marked``
    ======  =====================================================================================

    Parameters
    ----------
    states
        (n, length, d) hidden states; those of padding may be anything, also NaN.
    mask
        (n, length), true where a token is the text's own.
    marked
        (n, length), true at mask tokens, of which there is one at least in each text; needed for ``mask`` only.
    first
        Take the first mask token, not the last.
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
