"""The content of a ``SentenceTransformer`` in memory, for its fingerprint."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

LIBRARIES = {"sentence_transformers", "transformers", "torch"}
"""Libraries whose modules can be fingerprinted by their weights and settings; the code of others is unknown."""
SETTINGS = ("max_seq_length", "truncate_dim", "default_prompt_name", "prompts")
"""Attributes of a loaded model, outside its modules, that change vectors."""
OF_FOLDER = ("_name_or_path", "transformers_version")
"""Settings that differ for the same model in another folder, or with another version of the library."""


def has_known_content(model: SentenceTransformer) -> bool:
    """Return whether an object is a ``SentenceTransformer`` whose content can be fingerprinted.

    It can if the model runs on torch with a tokenizer that can be written as JSON, all its modules are classes of
    sentence-transformers, transformers or torch, and all its tensors are plain.
    """
    if type(model).__name__ != "SentenceTransformer" or type(model).__module__.partition(".")[0] not in LIBRARIES:
        return False
    has_tokenizer = hasattr(getattr(model.tokenizer, "backend_tokenizer", model.tokenizer), "to_str")
    libraries = {type(module).__module__.partition(".")[0] for module in model.modules()}
    # Quantised tensors, for example, have scales that a hash of their values would miss.
    are_plain = all(
        str(tensor.layout) == "torch.strided" and not (tensor.is_meta or tensor.is_quantized)
        for tensor in (*model.buffers(), *model.parameters())
    )
    return model.get_backend() == "torch" and has_tokenizer and libraries <= LIBRARIES and are_plain


def hash_content(model: SentenceTransformer) -> str:
    """Return a hash of the content of a ``SentenceTransformer``: weights, modules, tokenizer, settings."""
    import torch

    tokenizer = json.loads(getattr(model.tokenizer, "backend_tokenizer", model.tokenizer).to_str())
    # Each call of the model sets these two; the limit itself is in max_seq_length.
    settings: list[object] = [{**tokenizer, "truncation": None, "padding": None}, repr(model)]
    settings += [getattr(model.tokenizer, name, None) for name in ("padding_side", "truncation_side")]
    settings += [getattr(model, name, None) for name in SETTINGS]
    for module in model.modules():
        for read in ("get_config_dict", "to_dict"):
            source = module if read == "get_config_dict" else getattr(module, "config", None)
            if hasattr(source, read):
                settings.append({n: v for n, v in getattr(source, read)().items() if n not in OF_FOLDER})
    digest = hashlib.sha256(repr(settings).encode())
    # Buffers that are not saved with a model, such as positions, also affect its vectors.
    for name, tensor in sorted({**dict(model.named_buffers()), **model.state_dict()}.items()):
        numbers = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(numbers.view(torch.uint8).numpy().data)
    return digest.hexdigest()
