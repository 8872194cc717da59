"""What can be known before any work: which objectives a base can be pre-trained by, and whether a device is there.

Told by the base's configuration and its tokenizer's files; no weights are loaded.
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
"""How the names of those dropouts begin that stand before heads for other tasks."""
ATTENDING = ("cross", "encoder_attn")
"""What the weights are called by which a decoder attends to a vector."""


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
        if not (lack := LACKS[objective](encoder, config)):
            return
        others = [name for name in OBJECTIVES if name != objective and not LACKS[name](encoder, config)]
    advice = f"take {' or '.join(others)}" if others else "no objective is for it; fine-tune it alone: --finetune"
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
    """Look whether the decoder that the loss would make of it has weights that attend to the vector."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

    lack = f"a decoder that attends to the sentence's vector, and {config.model_type!r} has none"
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        return lack
    decoding = copy.deepcopy(config)
    decoding.is_decoder = decoding.add_cross_attention = True
    with torch.device("meta"):  # its shape alone, without memory for weights
        decoder = AutoModelForCausalLM.from_config(decoding)
    attends = any(part in name for name, _ in decoder.named_parameters() for part in ATTENDING)
    return "" if attends else lack


def _simcse(encoder: SentenceTransformersEncoder, config: Any) -> str:
    return "" if any(_dropouts(config.to_dict())) else "dropout, and its configuration has none"


def _dropouts(config: Mapping[str, Any]) -> Iterator[float]:
    """Yield the dropouts of a model's own layers, however their names are spelt."""
    for name, value in config.items():
        if "drop" in name and "layerdrop" not in name and not name.startswith(HEADS) and isinstance(value, int | float):
            yield float(value)


LACKS: Mapping[str, Callable[[SentenceTransformersEncoder, Any], str]] = {
    "mlm": _mlm,
    "tsdae": _tsdae,
    "simcse": _simcse,
}
"""What says what a base lacks for an objective; empty where it lacks nothing."""


def _read(encoder: SentenceTransformersEncoder, kind: str) -> Any:
    """Read a base's configuration or tokenizer by transformers."""
    import transformers

    try:
        return getattr(transformers, kind).from_pretrained(modules(encoder.found.folder)[0][1], local_files_only=True)
    except Exception as error:
        raise SpecError(f"base {encoder.target!r} cannot be read: {first_line(error)}") from error
