"""What the files of a model say: the modules of sentence-transformers, prompts, limits, dimensions, its own code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embassay.core.errors import ModelNotFoundError, begun
from embassay.core.types import JsonObject
from embassay.models.base import Prompts
from embassay.models.neural.model_files import read_json

CONFIG = "config_sentence_transformers.json"
DOCUMENT = ("document", "passage", "corpus")
"""Names of document prompts in configurations, in the order of preference.

Empty prompts are skipped. sentence-transformers 6.2 adds ``"document": ""`` to every configuration that it loads or
saves, and its ``encode_document`` uses the first of these names that exists. So it ignores a prompt named ``passage``,
although the model was trained with it and the library's documentation promises to use it.
"""
CODE_MAPS = ("config.json", "tokenizer_config.json", "processor_config.json", "preprocessor_config.json")
"""Files whose ``auto_map`` names classes of the model's own code."""
TRANSFORMER_SETTINGS = tuple(
    f"sentence_{kind}_config.json" for kind in "bert roberta distilbert camembert albert xlm-roberta xlnet".split()
)
"""The files in which sentence-transformers 6 looks for the settings of a transformer; it reads the first one."""
TOKENIZERS = (
    "tokenizer.json vocab.txt vocab.json merges.txt tokenizer.model sentencepiece.bpe.model spiece.model spm.model"
).split()
"""Files with a tokenizer's vocabulary; a tokenizer has at least one of them."""
AFTER_PADDING = (
    "camembert data2vec-text ibert layoutlmv3 lilt longformer luke markuplm mpnet roberta roberta-prelayernorm "
    "xlm-roberta xlm-roberta-xl xmod"
).split()
"""Model types whose positions begin after the padding index, so they read fewer tokens than they have positions."""
LOOKED_UP = (*AFTER_PADDING, "albert", "bert", "distilbert", "electra")
"""Model types with a table of position embeddings: no setting lets them read more tokens than its rows."""
POSITIONS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_context_length", "max_seq_len")
RELATIVE = ("t5", "mt5", "umt5")
"""Model types that read any number of tokens, although their configurations may have a number of positions."""
ABSURD = 10**7
"""Larger limits mean "no limit": a tokenizer without a limit has 10^30."""


def modules(folder: Path) -> tuple[tuple[str, Path], ...]:
    """Return (type, folder) of each module in ``modules.json``; without that file, one Transformer in the folder.

    Raises
    ------
    ModelNotFoundError
        If an entry has no type.
    """
    # The file holds a list, which read_json returns under an empty name.
    entries = read_json(folder / "modules.json").get("") or [{"type": "sentence_transformers.models.Transformer"}]
    try:
        return tuple((str(entry["type"]), folder / str(entry.get("path") or "")) for entry in entries)
    except (KeyError, TypeError, AttributeError):
        raise ModelNotFoundError(f"{folder / 'modules.json'}: a module has no 'type'") from None


def transformer_of(folder: Path) -> Path:
    """Return the folder of a model's first module: its transformer and tokenizer."""
    return modules(folder)[0][1]


def own_modules(folder: Path) -> tuple[str, ...]:
    """Return the types of the modules that are not part of sentence-transformers."""
    return tuple(kind for kind, _ in modules(folder) if not kind.startswith("sentence_transformers."))


def own_code(folder: Path) -> tuple[str, ...]:
    """Return the model's own code that may run when it is loaded: types of modules, contents of ``auto_map``."""
    code = [*own_modules(folder)]
    for _, place in modules(folder):
        code += [str(read_json(place / file).get("auto_map") or "") for file in CODE_MAPS]
    return tuple(filter(None, dict.fromkeys(code)))


def has_tokenizer(folder: Path) -> bool:
    """Return whether a folder contains the vocabulary of a tokenizer, or code that may read one of any name."""
    patterns = (*TOKENIZERS, "*.tiktoken", "tokenization_*.py")
    return any(any(folder.glob(pattern)) for pattern in patterns)


def class_of(folder: Path) -> str:
    """Return the class of sentence-transformers that a model was saved with; empty without ``modules.json``."""
    if not (folder / "modules.json").is_file():
        return ""
    return str(read_json(folder / CONFIG).get("model_type", "SentenceTransformer"))


def settings_of(folder: Path, kind: str = "SentenceTransformer") -> JsonObject:
    """Return a model's configuration for sentence-transformers: prompts and similarity.

    It is empty for a model of another class than ``kind``: the library uses the transformer of such a model only.
    """
    return read_json(folder / CONFIG) if class_of(folder) == kind else {}


def default_pooling(folder: Path) -> str:
    """Return the pooling that the library adds to a transformer without one."""
    config = read_json(transformer_of(folder) / "config.json")
    architectures = config.get("architectures") or [""]
    is_causal = architectures[0].endswith("ForCausalLM") and config.get("is_causal", True)
    return "last-token" if is_causal else "mean"


def transformer_settings(folder: Path) -> JsonObject:
    """Return the settings of sentence-transformers beside a transformer: its limit, lower-casing and outputs."""
    return next(filter(None, (read_json(folder / name) for name in TRANSFORMER_SETTINGS)), {})


def configured_prompts(settings: JsonObject) -> Prompts:
    """Return the prompt of each role in a model's configuration; empty if it has none."""
    prompts = settings.get("prompts") or {}
    documents = filter(None, map(prompts.get, DOCUMENT))
    return {
        "text": prompts.get(settings.get("default_prompt_name")) or "",
        "query": prompts.get("query") or "",
        "document": next(documents, ""),
    }


def missing_prompts(prompts: Mapping[str, str]) -> str:
    """Return which prompts of a model are of no role; an empty text if it has none.

    Parameters
    ----------
    prompts
        The prompts by their names in its configuration.
    """
    named = [f"{name} ({begun(prompt)!r})" for name, prompt in prompts.items() if prompt]
    return f"the model's files name prompts that are not used: {', '.join(named)}" if named else ""


def unprompted_texts(prompts: Mapping[Any, str]) -> list[str]:
    """Return a warning if a model, whose prompts are given by role, has one for queries and none for plain texts."""
    if not prompts.get("query") or prompts.get("text"):
        return []
    return ["the model has a prompt for queries but none for plain texts; plain texts are encoded without a prompt"]


def token_limit(folder: Path, max_length: int | None = None) -> int | None:
    """Return the number of tokens after which a model truncates texts; None for no limit.

    Parameters
    ----------
    max_length
        The limit that replaces the model's own.
    """
    transformer = transformer_of(folder)
    limit: int | None = transformer_settings(transformer).get("max_seq_length")
    if limit and not max_length and read_json(transformer / "config.json").get("model_type") not in LOOKED_UP:
        return limit
    # A longer text would have positions without an embedding.
    return transformer_limit(transformer, transformer, max_length or limit)


def transformer_limit(folder: Path, tokenizer: Path, limit: int | None) -> int | None:
    """Return the number of tokens that a transformer reads at most; None for no limit.

    It is the limit that is set, otherwise the tokenizer's, and at most the number of positions of the model.

    Parameters
    ----------
    tokenizer
        The folder of the tokenizer.
    """
    config = read_json(folder / "config.json")
    config |= config.get("text_config") or {}
    length = limit or read_json(tokenizer / "tokenizer_config.json").get("model_max_length") or 0
    limits = [int(length)]
    positions = [config[name] for name in POSITIONS if isinstance(config.get(name), int)]
    if positions and config.get("model_type") not in RELATIVE:
        # Those up to the padding token's are never used.
        limits.append(positions[0] - padding_id(config) - 1)
    return min((number for number in limits if 0 < number < ABSURD), default=None)


def padding_id(config: JsonObject) -> int:
    """Return the id of the padding token, after which a transformer's positions begin; −1 if they begin at 0."""
    if config.get("model_type") not in AFTER_PADDING:
        return -1
    # MPNet always uses 1, whatever its configuration contains.
    return 1 if config["model_type"] == "mpnet" else int(config.get("pad_token_id", 1) or 0)
