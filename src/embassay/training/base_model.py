"""The base model of a domain adaptation: find it, refuse it if it cannot be trained, load it, write it."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.core.errors import EncoderError, MissingExtraError, SpecError, first_line_of
from embassay.core.plugins import ENCODERS
from embassay.core.store.canonical import canonical, write
from embassay.core.types import Runtime
from embassay.models.neural import st
from embassay.models.neural.library import LibraryRunner
from embassay.models.neural.locations import find
from embassay.models.neural.model import Model
from embassay.models.neural.model_files import read_json
from embassay.models.neural.modules import (
    CONFIG,
    DOCUMENT,
    TOKENIZERS,
    modules,
    own_modules,
    settings_of,
    transformer_of,
)
from embassay.run.specs import bind, parse

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Base = Model
"""A sentence-transformers model that can be trained."""
LIBRARIES = ("torch", "transformers", "sentence-transformers", "accelerate")
NEEDED = (*LIBRARIES, "datasets")
TAKEN = ("query_prompt", "document_prompt", "text_prompt", "max_length", "similarity")
"""Options that apply in training too and are written into the trained model."""
TOKENIZER_FILES = (*TOKENIZERS, "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
LIMIT = "sentence_bert_config.json"
"""The file with the number of tokens after which a model truncates texts."""


def find_base(base: str) -> Base:
    """Find the model that is to be trained; nothing is loaded yet.

    Parameters
    ----------
    base
        A sentence-transformers model: a name, or a folder ``./folder``. It may begin with ``st:`` and may be followed
        by the options of :data:`TAKEN`.

    Raises
    ------
    MissingExtraError
        If a library is not installed.
    SpecError
        If it names an encoder that cannot be trained: another kind of encoder, one that brings its own code, one that
        encodes questions and documents with different modules, one without a transformer. For an option that cannot be
        used in training.
    ModelNotFoundError
        If the model is neither on this machine nor on the hub, or lacks its weights.
    """
    if not all(find_spec(name.replace("-", "_")) for name in NEEDED):
        raise MissingExtraError("embassay adapt", "train")
    spec = parse(base, "base")
    where = f"base {spec.head!r}"
    for name in spec.options:
        if name not in TAKEN:
            raise SpecError(f"{where}: option {name!r} cannot be used in training; the base takes {', '.join(TAKEN)}")
    target = spec.head.removeprefix("st:")
    if target in ENCODERS.names() or re.match(r"[a-z][\w-]+:", target):
        raise SpecError(f"{where} is not a sentence-transformers model; name one, or its folder")
    options = bind(st.create, spec.options, where)
    runtime = Runtime()
    folder = find(target, "", runtime).folder
    if foreign := own_modules(folder):
        raise SpecError(f"base {base!r} brings its own code ({', '.join(foreign)}), which training does not run")
    encoder = st.create(target, runtime, **options)
    kind = modules(folder)[0][0].rpartition(".")[2]
    if kind != "Transformer":
        raise SpecError(f"base {base!r} cannot be trained: its first module is {kind}, not a transformer")
    return encoder


def load(encoder: Base, device: str) -> SentenceTransformer:
    """Load a base's weights in float32 onto a device; ``auto`` leaves the choice to the library.

    Raises
    ------
    EncoderError
        If it cannot be loaded.
    """
    import torch
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(
            str(encoder.found.folder),
            device=None if device == "auto" else device,
            model_kwargs={"dtype": torch.float32},
            local_files_only=True,
        )
    except Exception as error:
        raise EncoderError(f"base {encoder.name!r} cannot be loaded: {first_line_of(error)}") from error
    if "max_length" in encoder.options:
        model.max_seq_length = encoder.card.max_tokens
    return model


def live(encoder: Base, model: SentenceTransformer) -> Base:
    """Return an encoder with the base's prompts and the current weights of a model."""
    # A copy without the cached model, because an encoder is frozen and loads its own weights at the first use. The
    # weights in training are those of torch.
    other = replace(encoder, light=None)
    vars(other)["model"] = LibraryRunner(model)
    return other


def write_model(encoder: Base, model: SentenceTransformer, folder: Path) -> None:
    """Write a model with the tokenizer, prompts and limit of its base, as changed by the base's options.

    The library's model card is not written because it quotes sentences.
    """
    limit = model.max_seq_length
    model.save_pretrained(str(folder), create_model_card=False)
    # The library writes a tokenizer that may tokenize differently from the base's files.
    source, written = transformer_of(encoder.found.folder), transformer_of(folder)
    for name in TOKENIZER_FILES:
        (written / name).unlink(missing_ok=True)
        for place in (source / name, encoder.found.folder / name):
            if place.is_file():
                shutil.copyfile(place, written / name)
                break
    # The library stores the limit in the tokenizer only, and the base's tokenizer may have another limit.
    write(written / LIMIT, canonical({**read_json(written / LIMIT), "max_seq_length": limit}))
    # A model is used like its base: with its prompts and similarity.
    own = settings_of(encoder.found.folder).get("prompts") or {}
    # The library looks for a document prompt under the name "document" only.
    prompts = {name: prompt for name, prompt in own.items() if name not in DOCUMENT}
    prompts |= {"query": "", "document": "", **encoder.card.prompts}
    default = "text" if encoder.card.prompts.get("text") else None
    usage = {"prompts": prompts, "default_prompt_name": default}
    if "similarity" in encoder.options:
        usage["similarity_fn_name"] = encoder.options["similarity"]
    write(folder / CONFIG, canonical({**settings_of(folder), **usage}))
