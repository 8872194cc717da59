"""What is refused before a transformers model is loaded: files that do not do, options that do not fit each other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embassay.encoders._hf_files import config_of, layers_of, special
from embassay.encoders._hf_pooling import Pooling
from embassay.encoders._models import read_json, without_tokenizer
from embassay.errors import ModelNotFoundError, SpecError
from embassay.types import Runtime


def check_files(target: str, folder: Path, elsewhere: bool, runtime: Runtime) -> None:
    """Refuse what is no transformers model, has no tokenizer, or cannot be run without code that was not asked for."""
    if (folder / "adapter_config.json").is_file():
        raise ModelNotFoundError(f"encoder {target!r} is an adapter; merge it into its base model and save that")
    config = config_of(folder)
    code = own_code_of(folder)
    if code and not runtime.trust_remote_code and not _known_to_library(config):
        raise SpecError(
            f"encoder {target!r} brings its own code ({', '.join(code)}); "
            "if you trust it, add --trust-remote-code LABEL"
        )
    if not elsewhere and without_tokenizer(folder):
        raise ModelNotFoundError(
            f"encoder {target!r}: its folder has no tokenizer (tokenizer.json, vocab.txt …); "
            "save it beside the weights, or say tokenizer="
        )


def check_pooling(
    target: str, given: Mapping[str, Any], pooling: Pooling, config: Mapping[str, Any], tokens: Path
) -> None:
    """Refuse a layer that there is not, and a template that the text or the mask token is missing from."""
    layer, layers = given.get("layer", -1), layers_of(config)
    if layers is not None and not -layers - 1 <= layer <= layers:
        raise SpecError(
            f"encoder {target!r}, option 'layer': must be from {-layers - 1} to {layers}, is {layer}; "
            "0 are the embeddings, -1 is the last layer"
        )
    template = given.get("template", "")
    if template and template.count("{text}") != 1:
        raise SpecError(f"encoder {target!r}, option 'template': must hold {{text}} once, is {template!r}")
    if pooling != "mask":
        return
    mask = special(tokens, "mask_token")
    if not template:
        wanted = f'template=This sentence : "{{text}}" means {mask or "[MASK]"} .'
        raise SpecError(f"encoder {target!r}: pooling=mask needs a template with the mask token, such as {wanted}")
    if mask is not None and template.count(mask) != 1:
        raise SpecError(
            f"encoder {target!r}, option 'template': must hold the mask token {mask!r} once, is {template!r}"
        )


def own_code_of(folder: Path) -> tuple[str, ...]:
    """Return the classes of a model's own, in its ``auto_map``, that may run when it is loaded."""
    maps = read_json(folder / "config.json").get("auto_map")
    return tuple(str(name) for name in maps.values()) if isinstance(maps, dict) else ()


def _known_to_library(config: Mapping[str, Any]) -> bool:
    """Say whether the library has a model of this type itself."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return config.get("model_type") in CONFIG_MAPPING_NAMES
