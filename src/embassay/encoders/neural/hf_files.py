"""What a model's files say of it before it is loaded: encoder or decoder, layers, length, special tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from embassay.encoders.neural.locations import (
    TOKENIZERS,
    Found,
    cached_folder,
    download,
    find_offline,
    has_tokenizer,
    hub_files,
    read_json,
    repositories,
)
from embassay.errors import ModelNotFoundError
from embassay.store.paths import source_path
from embassay.types import JsonObject

Kind = Literal["encoder", "decoder", "both"]
"""``both`` has two halves, of which the encoder is taken."""
CAUSAL = ("ForCausalLM", "LMHeadModel", "DoubleHeadsModel")
"""How the names of decoders' classes end."""
TWO_HALVES = ("t5", "mt5", "umt5", "longt5", "t5gemma", "bart", "mbart", "pegasus", "marian", "m2m_100", "prophetnet")
READ_BOTH_WAYS = (
    "albert bert camembert deberta deberta-v2 distilbert electra ernie eurobert jina_bert longformer modernbert mpnet "
    "nomic_bert roberta xlm-roberta xlnet"
).split()
"""Encoders, told without asking the library, which takes seconds to be imported."""
AFTER_PADDING = (
    "camembert data2vec-text ibert layoutlmv3 lilt longformer luke markuplm mpnet roberta roberta-prelayernorm "
    "xlm-roberta xlm-roberta-xl xmod"
).split()
"""Models whose positions begin after the padding index, so that they read fewer tokens than they have positions."""
LOOKED_UP = (*AFTER_PADDING, "albert", "bert", "distilbert", "electra")
"""Models whose positions are rows of a table: no setting lets them read more."""
POSITIONS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_context_length", "max_seq_len")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_transformer_layers", "num_layers", "encoder_layers")
ABSURD = 10**7
"""A tokenizer that names no limit says 10^30."""
TOKENIZER_FILES = (*TOKENIZERS, "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json")
"""Files that a tokenizer is made from; the library looks the kind of tokenizer up in the model's configuration."""
DECODER_PARTS = ("decoder.", "model.decoder.", "lm_head.")


def config_of(folder: Path) -> JsonObject:
    """Return a model's configuration; of a model with several parts, that of its text part.

    Raises
    ------
    ModelNotFoundError
        If there is none: it is not a model that ``transformers`` reads.
    """
    config = read_json(folder / "config.json")
    if "model_type" not in config and "architectures" not in config and "auto_map" not in config:
        raise ModelNotFoundError(
            f"{folder}: not a transformers model: its config.json names neither model_type nor architectures"
        )
    text = config.get("text_config")
    return {**config, **text} if isinstance(text, dict) else config


def kind_of(config: JsonObject, folder: Path) -> Kind:
    """Say what a model is; the library is asked only where the configuration does not tell."""
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


def layers_of(config: JsonObject) -> int | None:
    """Return how many layers a model has; None where its configuration does not say."""
    return _first_number(config, LAYERS)


def limit_of(config: JsonObject, tokenizer: Path, requested: int | None) -> int | None:
    """Return after how many tokens texts are cut; None where nothing sets a limit.

    Never more than the model has positions; within that what was asked for, else what the tokenizer says.
    """
    positions = positions_of(config)
    limit = requested
    if not limit:
        length = read_json(tokenizer / "tokenizer_config.json").get("model_max_length")
        if isinstance(length, int | float) and 0 < length < ABSURD:
            limit = int(length)
    return min([n for n in (positions, limit) if n], default=None)


def positions_of(config: JsonObject) -> int | None:
    """Return how many tokens a model has positions for; None where its configuration sets no limit."""
    positions = _first_number(config, POSITIONS) or 0
    if config.get("model_type") in AFTER_PADDING:
        # MPNet's padding index is 1 whatever its configuration says; the others' is, where it is not said.
        padding = 1 if config.get("model_type") == "mpnet" else config.get("pad_token_id", 1)
        positions -= int(padding or 0) + 1
    return positions if positions > 0 else None


def _first_number(config: JsonObject, names: Sequence[str]) -> int | None:
    """Return the value of the first of some names under which a configuration has a whole number."""
    for name in names:
        if isinstance(config.get(name), int):
            return int(config[name])
    return None


def special(tokenizer: Path, name: str) -> str | None:
    """Return a special token (``mask_token``, ``pad_token``) that a tokenizer's files name; None where they do not."""
    for file in ("tokenizer_config.json", "special_tokens_map.json"):
        token = read_json(tokenizer / file).get(name)
        token = token.get("content") if isinstance(token, dict) else token
        if isinstance(token, str):
            return token
    return None


def find_tokenizer(target: str, sha256: Callable[[Path], str]) -> Found:
    """Find a tokenizer that lies apart from its model: a folder, the hub's cache, the hub; weights are not fetched.

    Raises
    ------
    ModelNotFoundError
        If it is neither on this machine nor to be had.
    """
    if target.startswith(("/", "./", "../", "~")):
        folder = source_path(target)
        if not has_tokenizer(folder):
            raise ModelNotFoundError(f"{folder}: no tokenizer (tokenizer.json, vocab.txt …)")
        return Found(folder, "local folder")
    for repository in repositories(target):
        cached = cached_folder(repository, "")
        if cached and has_tokenizer(cached):
            return Found(cached, cached.name)
    model = find_offline(target, "", sha256)
    if model:
        return model
    for repository in repositories(target):
        files = hub_files(repository, "", target, "tokenizer=")
        if files:
            folder = download(repository, "", tuple(filter(of_tokenizer, files)))
            return Found(folder, folder.name)
    raise ModelNotFoundError(f"tokenizer {target!r}: no such model on the hub")


def of_tokenizer(name: str) -> bool:
    """Say whether a tokenizer may be made from a file: what it has learnt, its settings, code of its own."""
    return name in TOKENIZER_FILES or name.endswith((".tiktoken", ".py"))


def _kind_in_library(folder: Path) -> Kind:
    """Ask the library what a model is: one that it has as a causal language model, and not as a masked one."""
    from transformers import AutoConfig
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    try:
        config = AutoConfig.from_pretrained(str(folder), local_files_only=True)
    except (ValueError, OSError):
        # What is wrong is said when the model is loaded.
        return "encoder"
    if getattr(config, "is_encoder_decoder", False):
        return "both"
    causal = config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return "decoder" if causal and config.model_type not in MODEL_FOR_MASKED_LM_MAPPING_NAMES else "encoder"
