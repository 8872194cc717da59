"""The model that domain adaptation starts from: found, refused where it cannot be trained, loaded, written again."""

from __future__ import annotations

import json
import logging
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from embassay.encoders.neural import st
from embassay.encoders.neural.locations import TOKENIZERS, find, modules, own_modules, read_json
from embassay.encoders.neural.prompts import DOCUMENT
from embassay.encoders.neural.runner import RunnerOptions
from embassay.encoders.neural.st import SentenceTransformersEncoder
from embassay.encoders.neural.st_runner import SentenceTransformersRunner
from embassay.errors import EncoderError, MissingExtraError, SpecError, UnknownNameError
from embassay.plugins import ENCODERS
from embassay.run.specs import bind, parse
from embassay.store.hashes import FileHashes
from embassay.training.settings import Settings
from embassay.types import Runtime

LIBRARIES = ("torch", "transformers", "sentence-transformers", "accelerate")
NEEDED = ("torch", "transformers", "sentence_transformers", "accelerate", "datasets")
WHY = {
    "api": "the weights of a service are not here",
    "hf": "name the model, or its folder, without the scheme hf:",
    "onnx": "an exported graph cannot learn; name the model that it was exported from",
    "openvino": "an exported graph cannot learn; name the model that it was exported from",
    "words": "embassay train words trains word vectors",
    "paragraphs": "embassay train paragraphs trains paragraph vectors",
    "urae": "embassay train urae trains autoencoders",
}
"""What to do instead, for encoders of other kinds."""
TAKEN = ("query_prompt", "document_prompt", "text_prompt", "max_length", "similarity")
"""Options that hold in training too and are written into the trained model."""
REFUSED = {
    "revision": "have that revision on this machine and name its folder",
    "dim": "all dimensions are trained; give it to what assays the model",
    "dtype": "weights are trained in float32; give it to what assays the model",
    "device": "where training runs is an option of its own, --device",
    "normalize": "vectors are trained as the model makes them; give it to what assays the model",
    "vectors": "vectors are trained whole; give it to what assays the model",
}
"""What to do instead, for options that do not hold in training."""
TOKENIZER_FILES = (*TOKENIZERS, "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
LIMIT = "sentence_bert_config.json"
"""The file with the number of tokens after which a model truncates texts."""
NOISY = ("transformers", "sentence_transformers", "accelerate", "datasets")
PERCENTILE = 99
"""The percentile of the texts' lengths at which they are truncated in training."""


def find_base(base: str) -> SentenceTransformersEncoder:
    """Find the model that is to be trained; nothing is loaded yet.

    Parameters
    ----------
    base
        A sentence-transformers model by name, or a folder: ``./folder``; ``st:`` may stand before it, and options after
        it: those of :data:`TAKEN`.

    Raises
    ------
    MissingExtraError
        If a library is not installed.
    SpecError
        If it names an encoder that cannot be trained: another kind of encoder, one that brings its own code, one that
        takes questions and documents through different modules, one without a transformer. For an option that does
        not hold in training.
    ModelNotFoundError
        If it is neither on this machine nor to be had, or lacks its weights.
    """
    if not all(find_spec(name) for name in NEEDED):
        raise MissingExtraError("embassay adapt", "train")
    target, options = _read(base)
    hashes = FileHashes(None)
    found = find(target, "", hashes)
    if foreign := own_modules(found.folder):
        raise SpecError(f"base {base!r} brings its own code ({', '.join(foreign)}), which is not run in training")
    encoder = st.create(target, Runtime(sha256=hashes), **options)
    kind = modules(found.folder)[0][0].rpartition(".")[2]
    if kind != "Transformer":
        raise SpecError(f"base {base!r} cannot be trained here: it begins with {kind}, not with a transformer")
    return encoder


def load(encoder: SentenceTransformersEncoder, settings: Settings) -> Any:
    """Load a base's weights in float32 onto the device of the settings.

    Raises
    ------
    EncoderError
        If it cannot be loaded, or the device is not there.
    """
    import torch
    from sentence_transformers import SentenceTransformer

    kind = settings.device
    missing = {"cuda": not torch.cuda.is_available(), "mps": not torch.backends.mps.is_available()}
    if missing.get(kind):
        raise EncoderError(f"the device {kind!r} was asked for, but torch sees none; leave --device out")
    try:
        model = SentenceTransformer(
            str(encoder.found.folder),
            device=None if kind == "auto" else kind,
            model_kwargs={"dtype": torch.float32},
            local_files_only=True,
        )
    except Exception as error:
        reason = first_line(error)
        raise EncoderError(f"base {encoder.target!r} cannot be loaded: {reason}") from error
    if "max_length" in encoder.given:
        model.max_seq_length = encoder.card.max_tokens
    return model


def first_line(error: Exception) -> str:
    """Return the first line of an error's message that holds anything, else its type."""
    lines = (line.strip() for line in str(error).split("\n"))
    return next(filter(None, lines), type(error).__name__)


def live(encoder: SentenceTransformersEncoder, model: Any) -> SentenceTransformersEncoder:
    """Return an encoder with the base's prompts that encodes with the weights that a model has now."""
    # A copy without the cached runners: an encoder is frozen, and loads its own weights at the first use.
    other = replace(encoder)
    prompts = [encoder.card.prompts.get(role, "") for role in ("query", "document", "text")]
    vars(other)["_runners"] = [SentenceTransformersRunner(model, RunnerOptions(prompts)).fastest()]
    return other


def lengths(model: Any, texts: Sequence[str], prompt: str = "") -> list[int]:
    """Return the number of tokens of each text with its prompt, not truncated."""
    numbers: list[int] = []
    for start in range(0, len(texts), 1024):
        part = [prompt + text for text in texts[start : start + 1024]]
        token_ids = model.tokenizer(part, truncation=False, padding=False)["input_ids"]
        numbers += map(len, token_ids)
    return numbers


def truncation(model: Any, tokens: Sequence[int]) -> int:
    """Return after how many tokens texts are truncated in training: the 99th percentile, at most the model's limit."""
    percentile = int(np.ceil(np.percentile(tokens, PERCENTILE)))
    return min(percentile, model.max_seq_length or percentile)


def write_model(encoder: SentenceTransformersEncoder, model: Any, folder: Path) -> None:
    """Write a model with its base's own tokenizer, prompts and limit, and what the base's options say instead.

    The library's card is not written: it quotes sentences.
    """
    limit = model.max_seq_length
    model.save_pretrained(str(folder), create_model_card=False)
    # The library writes a tokenizer that may cut texts in another way than the base's files.
    source, written = modules(encoder.found.folder)[0][1], modules(folder)[0][1]
    for name in TOKENIZER_FILES:
        (written / name).unlink(missing_ok=True)
        for place in (source / name, encoder.found.folder / name):
            if place.is_file():
                shutil.copyfile(place, written / name)
                break
    # The library keeps the limit in the tokenizer alone, where that of the base may say another.
    _write_json(written / LIMIT, {**read_json(written / LIMIT), "max_seq_length": limit})
    _write_json(folder / st.CONFIG, {**read_json(folder / st.CONFIG), **_usage(encoder)})


def versions() -> dict[str, str]:
    """Return the versions of the libraries that decide what a training comes to."""
    return {name: version(name) for name in LIBRARIES}


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries from writing to the terminal meanwhile; errors are still raised."""
    from transformers.utils import logging as transformers_logging

    loggers = [logging.getLogger(name) for name in NOISY]
    before = [logger.level for logger in loggers]
    bar = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
        if bar:
            transformers_logging.enable_progress_bar()


def _usage(encoder: SentenceTransformersEncoder) -> dict[str, Any]:
    """Return what a configuration has to say so that a model is used as its base is: prompts and similarity."""
    config, given = read_json(encoder.found.folder / st.CONFIG), encoder.given
    roles = encoder.card.prompts
    prompts = dict(config.get("prompts") or {})
    if "document_prompt" in given:
        for name in DOCUMENT:
            prompts.pop(name, None)
    # Also where the base calls its document prompt otherwise: the library itself looks for "document" alone.
    prompts["query"] = roles.get("query", "")
    prompts["document"] = roles.get("document", "")
    default, text_prompt = config.get("default_prompt_name"), roles.get("text", "")
    if prompts.get(default) != text_prompt:
        default = None
        if text_prompt:
            default = "text"
            prompts["text"] = text_prompt
    usage = {"prompts": prompts, "default_prompt_name": default}
    if "similarity" in given:
        usage["similarity_fn_name"] = given["similarity"]
    return usage


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _read(base: str) -> tuple[str, dict[str, Any]]:
    """Return the model's name and options; refuse another kind of encoder, and an option that does not hold here."""
    spec = parse(base, "base")
    if spec.label is not None:
        raise SpecError(f"base {base!r}: it is called base and takes no other label; leave out {spec.label}=")
    for name in spec.options:
        if name in REFUSED:
            raise SpecError(f"base {spec.head!r}, option {name!r} is not taken in training: {REFUSED[name]}")
    if unknown := set(spec.options).difference(TAKEN):
        raise UnknownNameError(f"option of base {spec.head!r}", min(unknown), TAKEN)
    return _target(spec.head), bind(st.create, spec.options, f"base {spec.head!r}")


def _target(base: str) -> str:
    """Return the name of a sentence-transformers model without ``st:``; refuse another kind of encoder."""
    scheme = re.match(r"([a-z][\w-]+):", base)
    kind = "st"
    if scheme:
        kind = scheme[1]
    elif base in ENCODERS.names():
        kind = base
    if kind == "st":
        return base.removeprefix("st:")
    reason = WHY.get(kind, "it has no weights that an objective could train")
    raise SpecError(f"base {base!r} is no sentence-transformers model: {reason}")
