"""Checks before any work: by which objectives a base can be pre-trained, and whether a device exists.

They read the base's configuration and its tokenizer's files; no weights are loaded.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from embassay.encoders.neural.locations import modules
from embassay.encoders.neural.shared import there
from embassay.encoders.neural.st import SentenceTransformersEncoder
from embassay.errors import EncoderError, SpecError, UnknownNameError
from embassay.training.base_model import first_line, quiet
from embassay.training.settings import OBJECTIVES

HEADS = ("classifier", "summary", "qa", "seq_classif")
"""Beginnings of the names of dropouts before heads for other tasks."""
ATTENDING = ("cross", "encoder_attn")
"""Parts of the names of the weights by which a decoder attends to a vector."""


def check_objective(encoder: SentenceTransformersEncoder, objective: str) -> None:
    """Refuse an objective that a base cannot be trained by.

    Raises
    ------
    UnknownNameError
        If there is no such objective.
    SpecError
        If the base lacks what it needs, with the objectives that it lacks nothing for.
    """
    if objective not in OBJECTIVES:
        raise UnknownNameError("objective", objective, OBJECTIVES)
    with quiet():
        config = _read(encoder, "AutoConfig")
        lack = LACKS[objective](encoder, config)
        if not lack:
            return
        possible = [name for name in OBJECTIVES if name != objective and not LACKS[name](encoder, config)]
    advice = f"take {' or '.join(possible)}" if possible else "no objective is for it; fine-tune it alone: --finetune"
    raise SpecError(f"base {encoder.target!r}: {objective} needs {lack}; {advice}")


def check_device(device: str) -> None:
    """Refuse a device that torch does not see.

    Raises
    ------
    SpecError
        If it is not there.
    """
    if device in ("auto", "cpu"):
        return
    try:
        there(device)
    except EncoderError as error:
        raise SpecError(str(error)) from None


def _mlm(encoder: SentenceTransformersEncoder, config: Any) -> str:
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING

    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
        return f"a masked language model, and {config.model_type!r} is none"
    masks = _read(encoder, "AutoTokenizer").mask_token is not None
    return "" if masks else "a token that masks words, and its tokenizer has none"


def _tsdae(encoder: SentenceTransformersEncoder, config: Any) -> str:
    """Return what is missing if the decoder that the loss would make of the base cannot attend to the vector."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

    lack = f"a decoder that attends to the sentence's vector, and {config.model_type!r} has none"
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        return lack
    decoding = copy.deepcopy(config)
    decoding.is_decoder = decoding.add_cross_attention = True
    # On the meta device a model has shapes and names, and takes no memory for weights.
    with torch.device("meta"):
        decoder = AutoModelForCausalLM.from_config(decoding)
    attends = any(part in name for name, _ in decoder.named_parameters() for part in ATTENDING)
    return "" if attends else lack


def _simcse(encoder: SentenceTransformersEncoder, config: Any) -> str:
    return "" if any(_dropouts(config.to_dict())) else "dropout, and its configuration has none"


def _dropouts(config: Mapping[str, Any]) -> Iterator[float]:
    """Yield the dropouts of a model's own layers, whose names differ from one architecture to another."""
    for name, value in config.items():
        of_layers = "drop" in name and "layerdrop" not in name and not name.startswith(HEADS)
        if of_layers and isinstance(value, int | float):
            yield float(value)


LACKS: Mapping[str, Callable[[SentenceTransformersEncoder, Any], str]] = {
    "mlm": _mlm,
    "tsdae": _tsdae,
    "simcse": _simcse,
}
"""For each objective a function that returns what a base lacks; empty if it lacks nothing."""


def _read(encoder: SentenceTransformersEncoder, kind: str) -> Any:
    """Read a base's configuration or tokenizer by transformers."""
    import transformers

    try:
        return getattr(transformers, kind).from_pretrained(modules(encoder.found.folder)[0][1], local_files_only=True)
    except Exception as error:
        raise SpecError(f"base {encoder.target!r} cannot be read: {first_line(error)}") from error
