"""Properties of a model that its files contain: encoder or decoder, layers, length, special tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from embassay.core.errors import ModelNotFoundError
from embassay.core.store.paths import source_path
from embassay.core.types import JsonObject, Runtime
from embassay.models.neural.locations import (
    LOCAL_FOLDER,
    TOKENIZERS,
    ModelFiles,
    cached_folder,
    download,
    find_offline,
    has_tokenizer,
    hub_files,
    is_path,
    read_json,
    repositories,
)

ModelKind = Literal["encoder", "decoder", "both"]
"""``both``: an encoder with a decoder, of which only the encoder is used."""
CAUSAL = ("ForCausalLM", "LMHeadModel", "DoubleHeadsModel")
"""Suffixes of the class names of decoders."""
TWO_HALVES = ("t5", "mt5", "umt5", "longt5", "t5gemma", "bart", "mbart", "pegasus", "marian", "m2m_100", "prophetnet")
READ_BOTH_WAYS = (
    "albert bert camembert deberta deberta-v2 distilbert electra ernie eurobert jina_bert longformer modernbert mpnet "
    "nomic_bert roberta xlm-roberta xlnet"
).split()
"""Model types of encoders, listed here because importing the library takes seconds."""
AFTER_PADDING = (
    "camembert data2vec-text ibert layoutlmv3 lilt longformer luke markuplm mpnet roberta roberta-prelayernorm "
    "xlm-roberta xlm-roberta-xl xmod"
).split()
"""Model types whose positions begin after the padding index, so they read fewer tokens than they have positions."""
LOOKED_UP = (*AFTER_PADDING, "albert", "bert", "distilbert", "electra")
"""Model types with a table of position embeddings: no setting lets them read more tokens than its rows."""
POSITIONS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_context_length", "max_seq_len")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_transformer_layers", "num_layers", "encoder_layers")
DIMENSIONS = ("hidden_size", "n_embd", "d_model")
"""The names of three numbers in configurations; the first that a configuration has is used."""
ABSURD = 10**7
"""Larger limits mean "no limit": a tokenizer without a limit has 10^30."""
TOKENIZER_FILES = (*TOKENIZERS, "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json")
"""Files of a tokenizer. The library looks up the kind of tokenizer in the model's configuration."""
DECODER_PARTS = ("decoder.", "model.decoder.", "lm_head.")


def config_of(folder: Path) -> JsonObject:
    """Return a model's configuration; for a model with several parts, merged with that of its text part.

    Raises
    ------
    ModelNotFoundError
        If there is none, so that ``transformers`` cannot load the model.
    """
    config = read_json(folder / "config.json")
    if "model_type" not in config and "architectures" not in config and "auto_map" not in config:
        raise ModelNotFoundError(
            f"{folder}: not a transformers model: its config.json names neither model_type nor architectures"
        )
    text = config.get("text_config")
    if isinstance(text, dict):
        return {**config, **text}
    return config


def kind_of(config: JsonObject, folder: Path) -> ModelKind:
    """Return whether a model is an encoder, a decoder or both.

    The library is imported only if the configuration does not contain the answer.
    """
    classes = [str(name) for name in config.get("architectures") or ()]
    model_type = config.get("model_type")
    if config.get("is_encoder_decoder") or (model_type in TWO_HALVES and config.get("is_encoder_decoder") is None):
        return "both"
    if config.get("use_bidirectional_attention") or config.get("is_causal") is False:
        return "encoder"
    if config.get("is_decoder") or (any(c.endswith(CAUSAL) for c in classes) and model_type != "xlnet"):
        return "decoder"
    if model_type in READ_BOTH_WAYS or any("MaskedLM" in c for c in classes) or "auto_map" in config:
        return "encoder"
    return _kind_in_library(folder)


def limit_of(config: JsonObject, tokenizer: Path, requested: int | None) -> int | None:
    """Return the number of tokens after which texts are truncated; None for no limit.

    It is the requested limit, otherwise the tokenizer's, and at most the number of positions of the model.
    """
    positions = positions_of(config)
    limit = requested
    if not limit:
        length = read_json(tokenizer / "tokenizer_config.json").get("model_max_length")
        if isinstance(length, int | float) and 0 < length < ABSURD:
            limit = int(length)
    return min([n for n in (positions, limit) if n], default=None)


def positions_of(config: JsonObject) -> int | None:
    """Return the number of tokens that a model has positions for; None if its configuration sets no limit."""
    positions = first_number(config, POSITIONS) or 0
    if config.get("model_type") in AFTER_PADDING:
        padding = config.get("pad_token_id", 1)
        if config.get("model_type") == "mpnet":
            # MPNet always uses 1, whatever its configuration contains.
            padding = 1
        positions -= int(padding or 0) + 1
    if positions > 0:
        return positions
    return None


def first_number(config: JsonObject, names: Sequence[str]) -> int | None:
    """Return the value of the first of these names that is a whole number in the configuration; None if none is."""
    for name in names:
        if isinstance(config.get(name), int):
            return int(config[name])
    return None


def mask_token(tokenizer: Path) -> str | None:
    """Return the mask token of a tokenizer; None if its files do not name it."""
    for file in ("tokenizer_config.json", "special_tokens_map.json"):
        token = read_json(tokenizer / file).get("mask_token")
        if isinstance(token, dict):
            token = token.get("content")
        if isinstance(token, str):
            return token
    return None


def find_tokenizer(target: str, runtime: Runtime) -> ModelFiles:
    """Find a tokenizer without its model: in a folder, the hub's cache or the hub. No weights are downloaded.

    Raises
    ------
    ModelNotFoundError
        If it is neither on this machine nor on the hub.
    """
    folder = source_path(target)
    if has_tokenizer(folder):
        return ModelFiles(folder, LOCAL_FOLDER)
    if is_path(target):
        raise ModelNotFoundError(f"{folder}: no tokenizer (tokenizer.json, vocab.txt …)")
    for repository in repositories(target):
        cached = cached_folder(repository, "")
        if cached and has_tokenizer(cached):
            return ModelFiles(cached, cached.name)
    model = find_offline(target, "", runtime)
    if model:
        return model
    for repository in repositories(target):
        files = hub_files(repository, "", target, "tokenizer=")
        if files:
            folder = download(repository, "", tuple(filter(of_tokenizer, files)))
            return ModelFiles(folder, folder.name)
    raise ModelNotFoundError(f"tokenizer {target!r}: no such model on the hub")


def of_tokenizer(name: str) -> bool:
    """Return whether a file may belong to a tokenizer: its vocabulary, its settings, or its own code."""
    return name in TOKENIZER_FILES or name.endswith((".tiktoken", ".py"))


def _kind_in_library(folder: Path) -> ModelKind:
    """Return the kind of a model by the library's tables: a decoder is a causal but not a masked language model."""
    from transformers import AutoConfig
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    try:
        config = AutoConfig.from_pretrained(str(folder), local_files_only=True)
    except (ValueError, OSError):
        # The error is raised again when the model is loaded.
        return "encoder"
    if getattr(config, "is_encoder_decoder", False):
        return "both"
    is_causal = config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    is_masked = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if is_causal and not is_masked:
        return "decoder"
    return "encoder"
