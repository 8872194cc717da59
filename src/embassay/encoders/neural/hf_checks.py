"""Checks before a transformers model is loaded: whether its files are complete, and its options consistent."""

from __future__ import annotations

from pathlib import Path

from embassay.encoders.neural.hf_files import config_of, layers_of, special
from embassay.encoders.neural.locations import own_code_of, read_json, without_tokenizer
from embassay.encoders.neural.pooling import Pooling
from embassay.encoders.neural.shared import ModelOptions
from embassay.errors import ModelNotFoundError, SpecError
from embassay.types import JsonObject, Runtime


def check_files(target: str, folder: Path, tokens: Path, runtime: Runtime) -> None:
    """Raise an error if a folder has no transformers model or no tokenizer, or needs code that is not trusted."""
    if (folder / "adapter_config.json").is_file():
        raise ModelNotFoundError(f"encoder {target!r} is an adapter; merge it into its base model and save that")
    config_of(folder)
    for place, needs_no_code in ((folder, _known_to_library), (tokens, _tokenizer_known_to_library)):
        code = own_code_of(place)
        if code and not runtime.trust_remote_code and not needs_no_code(place):
            raise SpecError(
                f"encoder {target!r} brings its own code ({', '.join(code)}); "
                "if you trust it, add --trust-remote-code LABEL"
            )
    if tokens == folder and without_tokenizer(folder):
        raise ModelNotFoundError(
            f"encoder {target!r}: its folder has no tokenizer (tokenizer.json, vocab.txt …); "
            "save it beside the weights, or set tokenizer="
        )


def check_pooling(target: str, options: ModelOptions, pooling: Pooling, config: JsonObject, tokens: Path) -> None:
    """Raise SpecError for a layer that does not exist, and a template without the text or the mask token."""
    layer, layers = options.get("layer", -1), layers_of(config)
    if layers is not None and not -layers - 1 <= layer <= layers:
        raise SpecError(
            f"encoder {target!r}, option 'layer': must be from {-layers - 1} to {layers}, is {layer}; "
            "0 is the embeddings, -1 the last layer"
        )
    template = options.get("template", "")
    if template and template.count("{text}") != 1:
        raise SpecError(f"encoder {target!r}, option 'template': must contain {{text}} exactly once, is {template!r}")
    if pooling != "mask":
        return
    mask = special(tokens, "mask_token")
    if not template:
        wanted = f'template=This sentence : "{{text}}" means {mask or "[MASK]"} .'
        raise SpecError(f"encoder {target!r}: pooling=mask needs a template with the mask token, for example {wanted}")
    if mask is not None and template.count(mask) != 1:
        raise SpecError(
            f"encoder {target!r}, option 'template': must contain the mask token {mask!r} exactly once, is {template!r}"
        )


def _known_to_library(folder: Path) -> bool:
    """Return whether the library itself has this type of model."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return config_of(folder).get("model_type") in CONFIG_MAPPING_NAMES


def _tokenizer_known_to_library(folder: Path) -> bool:
    """Return whether the library itself has the tokenizer of this folder, by its class or by the type of model."""
    if "auto_map" not in read_json(folder / "tokenizer_config.json"):
        return True
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

    if read_json(folder / "config.json").get("model_type") in TOKENIZER_MAPPING_NAMES:
        return True
    name = str(read_json(folder / "tokenizer_config.json").get("tokenizer_class"))
    return any(tokenizer_class_from_name(class_name) for class_name in (name, f"{name}Fast"))
