"""Checks before any work: whether a base supports an objective, and whether a device is available.

They read the base's configuration and its tokenizer files; no weights are loaded.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from embassay.core.errors import EncoderError, SpecError, first_line_of
from embassay.models.neural.devices import available_device
from embassay.models.neural.library_messages import quiet
from embassay.models.neural.modules import modules
from embassay.training.base_model import NOISY, Base
from embassay.training.options import Objective

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

HEADS = ("classifier", "summary", "qa", "seq_classif")
"""Name prefixes of dropouts that belong to heads for other tasks."""
ATTENDING = ("cross", "encoder_attn")
"""Substrings in the names of the weights with which a decoder attends to a vector."""


def check_objective(encoder: Base, objective: Objective) -> None:
    """Refuse an objective that a base does not support.

    Raises
    ------
    SpecError
        If the base lacks something that the objective needs.
    """
    with quiet(*NOISY):
        lack = LACKS[objective](encoder, _read(encoder, "AutoConfig"))
    if lack:
        raise SpecError(
            f"base {encoder.target!r}: {objective} needs {lack}; choose another --objective, or --finetune alone"
        )


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


def _mlm(encoder: Base, config: PreTrainedConfig) -> str:
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING

    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
        return f"a masked language model, but {config.model_type!r} is not one"
    if _read(encoder, "AutoTokenizer").mask_token is None:
        return "a mask token, but its tokenizer has none"
    return ""


def _tsdae(encoder: Base, config: PreTrainedConfig) -> str:
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


def _simcse(encoder: Base, config: PreTrainedConfig) -> str:
    # Without dropout the two vectors of a sentence are equal, so there is nothing to learn.
    # The names of the dropouts of a model's own layers differ between architectures.
    for name, value in config.to_dict().items():
        is_of_layers = "drop" in name and "layerdrop" not in name and not name.startswith(HEADS)
        if is_of_layers and isinstance(value, int | float) and value:
            return ""
    return "dropout, but its configuration has none"


LACKS: Mapping[str, Callable[[Base, PreTrainedConfig], str]] = {
    "mlm": _mlm,
    "tsdae": _tsdae,
    "simcse": _simcse,
}
"""For each objective, a function that returns what a base lacks; empty if it lacks nothing."""


def _read(encoder: Base, kind: str) -> PreTrainedConfig | PreTrainedTokenizerBase:
    """Read a base's configuration or tokenizer with transformers."""
    import transformers

    try:
        return getattr(transformers, kind).from_pretrained(modules(encoder.found.folder)[0][1], local_files_only=True)
    except Exception as error:
        raise SpecError(f"base {encoder.target!r} cannot be read: {first_line_of(error)}") from error
