"""The content of a ``SentenceTransformer`` in memory, for its fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from embassay.core.types import content_hash

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase

LIBRARIES = {"sentence_transformers", "transformers", "torch"}
"""Libraries whose modules can be fingerprinted by their weights and settings; the code of others is unknown."""
SETTINGS = ("max_seq_length", "truncate_dim", "default_prompt_name", "prompts")
"""Attributes of a loaded model, outside its modules, that change vectors."""


def has_known_content(model: SentenceTransformer) -> bool:
    """Return whether an object is a ``SentenceTransformer`` whose content can be fingerprinted.

    It can if the model runs on torch, its tokenizer can be written as JSON, all its modules are classes of
    sentence-transformers, transformers or torch, and all its tensors are plain.
    """
    if type(model).__name__ != "SentenceTransformer" or _library(model) != "sentence_transformers":
        return False
    if model.get_backend() != "torch" or not hasattr(_tokens_of(model), "to_str"):
        return False
    libraries = {_library(module) for module in model.modules()}
    if not libraries <= LIBRARIES:
        return False
    # Quantised tensors, for example, have scales that a hash of their values would miss.
    return all(map(_is_plain, _tensors(model).values()))


def hash_content(model: SentenceTransformer) -> str:
    """Return a hash of the content of a ``SentenceTransformer``: weights, modules, tokenizer, settings."""
    tokenizer = json.loads(_tokens_of(model).to_str())
    # Each call of the model sets these two; the limit itself is in max_seq_length.
    tokenizer.pop("truncation", None)
    tokenizer.pop("padding", None)
    sides = [getattr(model.tokenizer, name, None) for name in ("padding_side", "truncation_side")]
    settings = repr([getattr(model, name, None) for name in SETTINGS])
    architectures = []
    for module in model.modules():
        config = getattr(module, "config", None)
        if config is not None and hasattr(config, "to_json_string"):
            architecture = json.loads(config.to_json_string())
            # These differ for the same model in another folder or with another version of the library.
            architecture.pop("_name_or_path", None)
            architecture.pop("transformers_version", None)
            architectures.append(architecture)
    layers = [repr(model), *(repr(module.get_config_dict()) for module in model if hasattr(module, "get_config_dict"))]
    return content_hash([_hash_tensors(_tensors(model)), layers, architectures, tokenizer, sides, settings])


def _tensors(model: SentenceTransformer) -> dict[str, Tensor]:
    # Buffers that are not saved with a model, such as positions, also affect its vectors.
    return {**dict(model.named_buffers()), **model.state_dict()}


def _tokens_of(model: SentenceTransformer) -> Tokenizer:
    tokenizer: PreTrainedTokenizerBase = getattr(model, "tokenizer", None)
    backend: Tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    return backend


def _library(thing: object) -> str:
    """Return the package that the class of an object is from."""
    return type(thing).__module__.partition(".")[0]


def _is_plain(tensor: Tensor) -> bool:
    """Return whether a tensor's bytes contain all of its values."""
    return str(getattr(tensor, "layout", "")) == "torch.strided" and not (tensor.is_meta or tensor.is_quantized)


def _hash_tensors(tensors: Mapping[str, Tensor]) -> str:
    """Return a hash of the names, types, shapes and bytes of tensors, whatever their order and device."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        numbers = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(numbers.view(torch.uint8).numpy().data)
    return digest.hexdigest()
