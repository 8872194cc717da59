"""The configuration of sentence-transformers in a model's folder: its modules, their dimensions, and its settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from embassay.core.errors import ModelNotFoundError
from embassay.core.types import JsonObject
from embassay.models.base import Prompts
from embassay.models.exported.pooling import configured
from embassay.models.neural.hf_files import LOOKED_UP, limit_of, positions_of
from embassay.models.neural.locations import has_tokenizer, read_json
from embassay.models.neural.prompts import by_role

CONFIG = "config_sentence_transformers.json"
CODE_MAPS = ("config.json", "tokenizer_config.json", "processor_config.json", "preprocessor_config.json")
"""Files whose ``auto_map`` names classes of the model's own code."""


def modules(folder: Path) -> tuple[tuple[str, Path], ...]:
    """Return (type, folder) of each module in ``modules.json``; without that file, one Transformer in the folder.

    Raises
    ------
    ModelNotFoundError
        If an entry has no type.
    """
    # The file holds a list, which read_json returns under an empty name.
    entries = read_json(folder / "modules.json").get("", ())
    if not entries:
        return (("sentence_transformers.models.Transformer", folder),)
    typed_folders = []
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
            raise ModelNotFoundError(f"{folder / 'modules.json'}: a module has no 'type'")
        typed_folders.append((entry["type"], folder / str(entry.get("path") or "")))
    return tuple(typed_folders)


def own_modules(folder: Path) -> tuple[str, ...]:
    """Return the types of the modules that are not part of sentence-transformers."""
    return tuple(kind for kind, _ in modules(folder) if not kind.startswith("sentence_transformers."))


def own_code(folder: Path) -> tuple[str, ...]:
    """Return the names of a model's own code that may run when it is loaded: module types, classes in ``auto_map``."""
    names = [*own_modules(folder)]
    # Several modules may be in one folder; it is read once.
    places = dict.fromkeys(place for _, place in modules(folder))
    for place in places:
        names += own_code_of(place)
    return tuple(names)


def own_code_of(folder: Path) -> tuple[str, ...]:
    """Return the classes that a model's or tokenizer's folder names in the ``auto_map`` of its files."""
    names: list[str] = []
    for file in CODE_MAPS:
        names += _names(read_json(folder / file).get("auto_map"))
    return tuple(dict.fromkeys(names))


def _names(listed: object) -> Iterator[str]:
    """Yield the class names in an ``auto_map``. A tokenizer has a list of two, of which one may be None."""
    if isinstance(listed, str):
        yield listed
    elif isinstance(listed, dict):
        for part in listed.values():
            yield from _names(part)
    elif isinstance(listed, list):
        for part in listed:
            yield from _names(part)


def check_tokenizer(target: str, folder: Path, advice: str = "") -> None:
    """Raise ModelNotFoundError if a transformer has no tokenizer. The library would then use an empty one.

    Parameters
    ----------
    advice
        The end of the message: what else would help.
    """
    kind, module_folder = modules(folder)[0]
    if not kind.endswith(".Transformer"):
        return
    for place in (folder, module_folder):
        # A tokenizer with code of its own may have files of any name.
        if has_tokenizer(place) or any(place.glob("tokenization_*.py")):
            return
    raise ModelNotFoundError(
        f"encoder {target!r}: its folder has no tokenizer (tokenizer.json, vocab.txt …); save it beside the "
        f"weights{advice}"
    )


def settings_of(folder: Path) -> JsonObject:
    """Return a model's configuration for sentence-transformers: prompts and similarity."""
    return read_json(folder / CONFIG)


def configured_prompts(folder: Path) -> Prompts:
    """Return the prompt of each role in a model's configuration; empty if it has none."""
    settings = settings_of(folder)
    return by_role(settings.get("prompts") or {}, settings.get("default_prompt_name"))


def configured_similarity(folder: Path) -> str:
    """Return the similarity in a model's configuration; cosine if it has none."""
    return str(settings_of(folder).get("similarity_fn_name") or "cosine")


def token_limit(folder: Path) -> int | None:
    """Return the number of tokens after which a model truncates texts; None for no limit."""
    transformer = modules(folder)[0][1]
    config = read_json(transformer / "config.json")
    limit: int | None = read_json(transformer / "sentence_bert_config.json").get("max_seq_length")
    if not limit:
        return limit_of(config, transformer, None)
    if config.get("model_type") in LOOKED_UP:
        # A longer text would have positions without an embedding.
        return min(limit, positions_of(config) or limit)
    return limit


def dimensions(folder: Path) -> int | None:
    """Return the number of dimensions of a model's vectors; None if its configuration does not tell it."""
    dim: int | None = None
    for kind, place in modules(folder):
        config = read_json(place / "config.json")
        if kind.endswith(".Pooling"):
            of_tokens = config.get("embedding_dimension") or config.get("word_embedding_dimension")
            # The vectors of several ways to pool are concatenated.
            dim = int(of_tokens or 0) * len(configured(config)) or None
        elif kind.endswith(".Dense"):
            dim = config.get("out_features")
        elif not kind.endswith((".Transformer", ".Normalize", ".Dropout")):
            return None
    return dim
