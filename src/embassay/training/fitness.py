"""Checks before any work: whether a base supports an objective, and whether a device is available.

They read the base's configuration and its tokenizer files; no weights are loaded.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from embassay.core.errors import EncoderError, SpecError, UnknownNameError, first_line_of
from embassay.models.neural.library import available_device, quiet
from embassay.models.neural.model import Model
from embassay.models.neural.modules import modules
from embassay.training.base_model import NOISY
from embassay.training.settings import OBJECTIVES

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

HEADS = ("classifier", "summary", "qa", "seq_classif")
"""Name prefixes of dropouts that belong to heads for other tasks."""
ATTENDING = ("cross", "encoder_attn")
"""Substrings in the names of the weights with which a decoder attends to a vector."""


def check_objective(encoder: Model, objective: str) -> None:
    """Refuse an objective that a base does not support.

    Raises
    ------
    UnknownNameError
        If there is no such objective.
    SpecError
        If the base lacks something that the objective needs. The message names the objectives that it supports.
    """
    if objective not in OBJECTIVES:
        raise UnknownNameError("objective", objective, OBJECTIVES)
    with quiet(*NOISY):
        config = _read(encoder, "AutoConfig")
        lack = LACKS[objective](encoder, config)
        if not lack:
            return
        other_objectives = [name for name in OBJECTIVES if name != objective]
        possible = [name for name in other_objectives if not LACKS[name](encoder, config)]
    advice = "it supports no objective; use --finetune alone"
    if possible:
        advice = f"use {' or '.join(possible)}"
    raise SpecError(f"base {encoder.target!r}: {objective} needs {lack}; {advice}")


def check_device(device: str) -> None:
    """Refuse a device that torch does not see.

    Raises
    ------
    SpecError
        If the device is not available.
    """
    if device in ("auto", "cpu"):
        return
    try:
        available_device(device)
    except EncoderError as error:
        raise SpecError(str(error)) from None


def _mlm(encoder: Model, config: PreTrainedConfig) -> str:
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING

    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
        return f"a masked language model, but {config.model_type!r} is not one"
    masks = _read(encoder, "AutoTokenizer").mask_token is not None
    if masks:
        return ""
    return "a mask token, but its tokenizer has none"


def _tsdae(encoder: Model, config: PreTrainedConfig) -> str:
    """Return what is missing if the decoder that the loss makes from the base cannot attend to a vector."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

    lack = f"a decoder that attends to the sentence's vector, but {config.model_type!r} has none"
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        return lack
    decoding = copy.deepcopy(config)
    decoding.is_decoder = decoding.add_cross_attention = True
    # On the meta device a model has shapes and names, but its weights take no memory.
    with torch.device("meta"):
        decoder = AutoModelForCausalLM.from_config(decoding)
    # Not every architecture makes weights for the setting add_cross_attention.
    for name, _ in decoder.named_parameters():
        if any(part in name for part in ATTENDING):
            return ""
    return lack


def _simcse(encoder: Model, config: PreTrainedConfig) -> str:
    # Without dropout the two vectors of a sentence are equal, so there is nothing to learn.
    if any(_dropouts(config.to_dict())):
        return ""
    return "dropout, but its configuration has none"


def _dropouts(config: Mapping[str, object]) -> Iterator[float]:
    """Yield the dropouts of a model's own layers; their names differ between architectures."""
    for name, value in config.items():
        of_layers = "drop" in name and "layerdrop" not in name and not name.startswith(HEADS)
        if of_layers and isinstance(value, int | float):
            yield float(value)


LACKS: Mapping[str, Callable[[Model, PreTrainedConfig], str]] = {
    "mlm": _mlm,
    "tsdae": _tsdae,
    "simcse": _simcse,
}
"""For each objective, a function that returns what a base lacks; empty if it lacks nothing."""


def _read(encoder: Model, kind: str) -> PreTrainedConfig | PreTrainedTokenizerBase:
    """Read a base's configuration or tokenizer with transformers."""
    import transformers

    try:
        return getattr(transformers, kind).from_pretrained(modules(encoder.found.folder)[0][1], local_files_only=True)
    except Exception as error:
        raise SpecError(f"base {encoder.target!r} cannot be read: {first_line_of(error)}") from error
