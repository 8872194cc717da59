"""The content of a ``SentenceTransformer`` in memory, for its fingerprint."""

from __future__ import annotations

import hashlib
import json
from typing import Any

LIBRARIES = {"sentence_transformers", "transformers", "torch"}
"""Libraries whose modules can be fingerprinted by their weights and settings; the code of others is unknown."""
SETTINGS = ("max_seq_length", "truncate_dim", "default_prompt_name", "prompts")
"""Attributes of a loaded model, outside its modules, that change vectors."""
OF_FOLDER = ("_name_or_path", "transformers_version")
"""Settings that differ for the same model in another folder, or with another version of the library."""


def content_of(model: Any) -> str:
    """Return a hash of the weights, modules, tokenizer and settings of an object; empty if they cannot be known.

    They can for a ``SentenceTransformer`` that runs on torch with a tokenizer that can be written as JSON, if all its
    modules are classes of sentence-transformers, transformers or torch, and all its tensors are plain.
    """
    if type(model).__name__ != "SentenceTransformer" or type(model).__module__.partition(".")[0] not in LIBRARIES:
        return ""
    tokenizer = getattr(model.tokenizer, "backend_tokenizer", model.tokenizer)
    libraries = {type(module).__module__.partition(".")[0] for module in model.modules()}
    # Buffers that are not saved with a model, such as positions, also affect its vectors.
    tensors = {**dict(model.named_buffers()), **model.state_dict()}
    # Quantised tensors, for example, have scales that a hash of their values would miss.
    are_plain = all(str(t.layout) == "torch.strided" and not (t.is_meta or t.is_quantized) for t in tensors.values())
    if not (libraries <= LIBRARIES and are_plain and hasattr(tokenizer, "to_str") and model.get_backend() == "torch"):
        return ""
    import torch

    # Each call of the model sets these two; the limit itself is in max_seq_length.
    settings: list[object] = [{**json.loads(tokenizer.to_str()), "truncation": None, "padding": None}, repr(model)]
    settings += [getattr(model.tokenizer, "truncation_side", ""), *(getattr(model, name) for name in SETTINGS)]
    for module in model.modules():
        for owner, method in ((module, "get_config_dict"), (getattr(module, "config", None), "to_dict")):
            if hasattr(owner, method):
                settings.append({n: v for n, v in getattr(owner, method)().items() if n not in OF_FOLDER})
    digest = hashlib.sha256(repr(settings).encode())
    for name, tensor in sorted(tensors.items()):
        numbers = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(numbers.view(torch.uint8).numpy().data)
    return digest.hexdigest()
