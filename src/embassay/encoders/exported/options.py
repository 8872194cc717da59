"""The options that exported models share, checked."""

from __future__ import annotations

from typing import Any, Literal

from embassay.encoders.checks import check_whole
from embassay.types import Runtime, check_device

Pooling = Literal["mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]


def checked(place: str, runtime: Runtime, device: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given: those that are not None, False or, but for prompts, empty.

    Raises
    ------
    SpecError
        For a length or a number of dimensions under 1, and for what names no device.
    """
    check_whole(place, **{name: options.get(name) for name in ("max_length", "dim")})
    check_device(device or runtime.device)
    return {
        name: value
        for name, value in options.items()
        if value not in (None, False) and (value != "" or name.endswith("_prompt"))
    }
