"""Vectors of twelve tiny models, whose weights are drawn by numpy: torch draws others in another release."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

from embassay.core.types import Runtime
from embassay.models.light.architecture import FAMILIES
from embassay.run.resolve import load_encoder
from encoders.test_hf import write
from encoders.test_light import LIMIT, tokenizer_of

WIDTH, DIM = 32, 12
SCALE = 0.3
"""Far from the values that libraries begin with, 0 and 1, which would hide a mistake."""
CLASSES = ("LlamaModel", "MistralForCausalLM", "Qwen2Model", "GPT2LMHeadModel", "T5EncoderModel", "BartModel")
"""Classes of transformers that only torch runs."""
TEXTS = ("the shop is not open .", "It rains", "the old baker sleeps near the river and it rains and it rains .", "")


def architectures() -> dict[str, Any]:
    """Return the vectors of each model: each family on the light route and by torch, the others by torch."""
    vectors: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for family in FAMILIES:
            model = write_sentence_transformer(Path(folder) / family, family)
            for backend in ("light", "torch"):
                vectors[f"{family}|{backend}"] = rows_of(str(model), backend)
        for name in CLASSES:
            model = write(Path(folder) / name, name)
            redraw(getattr(transformers, name).from_pretrained(model)).save_pretrained(model)
            vectors[f"{name}|torch"] = rows_of(f"hf:{model}", "torch")
    return vectors


def rows_of(spec: str, backend: str) -> list[list[float]]:
    """Return the vectors of the texts; decoders refuse an empty text, so it is left out there."""
    texts = [text for text in TEXTS if text or not spec.startswith("hf:")]
    return load_encoder(spec, Runtime(backend=backend, device="cpu")).encode(texts).astype(float).tolist()


def write_sentence_transformer(folder: Path, family: str) -> Path:
    """Write a model of a family with mean pooling and a Dense module, and return its folder."""
    tokenizer = tokenizer_of(family)
    tokenizer.save_pretrained(folder / "raw")
    sizes = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.AutoConfig.for_model(
        family, **sizes, vocab_size=len(tokenizer), max_position_embeddings=LIMIT + 2
    )
    setattr(config, "hidden_dim" if family == "distilbert" else "intermediate_size", 48)
    config.pad_token_id = tokenizer.pad_token_id
    redraw(transformers.AutoModel.from_config(config)).save_pretrained(folder / "raw")
    modules = [Transformer(str(folder / "raw")), Pooling(WIDTH, "mean"), redraw(Dense(WIDTH, DIM)), Normalize()]
    model = SentenceTransformer(modules=modules, device="cpu")
    model.max_seq_length = LIMIT
    model.save_pretrained(str(folder / "model"), create_model_card=False)
    return folder / "model"


def redraw(model: torch.nn.Module) -> Any:
    """Draw all weights of a model anew and return it."""
    rng = np.random.default_rng(0)
    for _, weight in sorted(model.named_parameters()):
        weight.data = torch.tensor(SCALE * rng.standard_normal(tuple(weight.shape)), dtype=torch.float32)
    return model
