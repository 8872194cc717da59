"""A model that the light route can run, as its folder describes it. No weights are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import ModelNotFoundError
from embassay.core.types import JsonObject
from embassay.models.light.architecture import BUFFERS, HEADS, POSITIONS, WORDS, Architecture, NotSupportedError
from embassay.models.light.graph import needed_tensors
from embassay.models.light.pipeline import Pipeline
from embassay.models.neural.model_files import read_json, tensors
from embassay.models.neural.modules import own_code, settings_of, transformer_of

AS_IT_IS = ("PreTrainedTokenizerFast", "TokenizersBackend")
"""Classes of the library that read ``tokenizer.json`` as it is."""
MADE = (
    ["BertNormalizer", "BertPreTokenizer"],
    ["ByteLevel"],
    ["Precompiled", "WhitespaceSplit", "Metaspace"],
    ["WhitespaceSplit", "Metaspace"],
)
"""The normalizers and pre-tokenizers that all other classes make, whatever ``tokenizer.json`` says."""
SPACES = {"Regex": " {2,}"}
"""What a normalizer of XLM-R and CamemBERT replaces; without effect, because texts are split at spaces."""
NORMALIZER = {
    "do_lower_case": ("lowercase", True),
    "tokenize_chinese_chars": ("handle_chinese_chars", True),
    "strip_accents": ("strip_accents", None),
}
"""For each setting of ``tokenizer_config.json``, its name in the normalizer of ``tokenizer.json``, and the default."""


@dataclass(frozen=True)
class LightModel:
    """A model that the light route can run: the folder of its transformer and tokenizer, and what it computes."""

    folder: Path
    architecture: Architecture
    pipeline: Pipeline

    @classmethod
    def of(cls, folder: Path) -> LightModel:
        """Read a model's folder.

        Raises
        ------
        NotSupportedError
            If the model has a part that the light route does not have, or that is unknown.
        ModelNotFoundError
            If a file is damaged, or the weights have other sizes than the configuration.
        """
        if own_code(folder):
            raise NotSupportedError("it brings its own code")
        if settings_of(folder).get("truncate_dim"):
            raise NotSupportedError("its configuration truncates vectors")
        transformer = transformer_of(folder)
        pipeline = Pipeline.of(folder)
        architecture = Architecture.of(read_json(transformer / "config.json"))
        _check_weights(transformer, architecture)
        _check_tokenizer(transformer)
        return cls(transformer, architecture, pipeline)


def _check_weights(folder: Path, architecture: Architecture) -> None:
    """Check that the files have all tensors that the graph needs, and no others that could have an effect."""
    shapes = {architecture.name_in_bert(name): tuple(tensor.get_shape()) for name, tensor in tensors(folder)}
    needed = needed_tensors(architecture)
    if not shapes:
        raise NotSupportedError("it has no weights in safetensors files")
    if needed - shapes.keys():
        raise NotSupportedError(f"its weights lack the tensor {min(needed - shapes.keys())!r}")
    for name in sorted(shapes.keys() - needed):
        if name not in BUFFERS and not name.startswith(HEADS):
            raise NotSupportedError(f"its weights have the unknown tensor {name!r}")
    # The runtime refuses other tensors that do not fit each other.
    for name, rows in ((WORDS, architecture.vocabulary), (POSITIONS, architecture.positions)):
        if shapes[name] != (rows, architecture.hidden):
            raise ModelNotFoundError(
                f"{folder}: the tensor {name!r} has shape {shapes[name]}, but config.json says "
                f"{(rows, architecture.hidden)}; the files belong to different models"
            )


def _check_tokenizer(folder: Path) -> None:
    """Raise NotSupportedError if the library would not use the tokenizer as it is in ``tokenizer.json``."""
    tokenizer = read_json(folder / "tokenizer.json")
    if not tokenizer:
        raise NotSupportedError("it has no tokenizer.json")
    if not tokenizer.get("post_processor"):
        raise NotSupportedError("its tokenizer adds no special tokens, so an empty text has no tokens")
    settings = read_json(folder / "tokenizer_config.json")
    truncation = tokenizer.get("truncation") or {}
    if "left" in (settings.get("truncation_side"), str(truncation.get("direction")).lower()):
        raise NotSupportedError("its tokenizer truncates texts at the beginning")
    added = {token["content"] for token in tokenizer.get("added_tokens") or ()}
    if missing := _special_tokens(settings) - added:
        raise NotSupportedError(f"its tokenizer.json lacks the special token {min(missing)!r}")
    if settings.get("tokenizer_class") in AS_IT_IS:
        return
    if differing := _differing_parts(tokenizer, settings):
        raise NotSupportedError(f"its tokenizer.json and tokenizer_config.json differ in {', '.join(differing)}")


def _differing_parts(tokenizer: JsonObject, settings: JsonObject) -> list[str]:
    """Return what the other classes, which make the tokenizer from its vocabulary and settings, do not read."""
    normalizer, pre_tokenizer = tokenizer.get("normalizer") or {}, tokenizer.get("pre_tokenizer") or {}
    differing = []
    if [*_types(normalizer), *_types(pre_tokenizer)] not in MADE:
        differing.append("normalizer or pre_tokenizer")
    if normalizer.get("type") == "BertNormalizer":
        for name, (name_here, default) in NORMALIZER.items():
            if settings.get(name, default) != normalizer.get(name_here):
                differing.append(name)
    has_space = settings.get("add_prefix_space", False)
    if pre_tokenizer.get("type") == "ByteLevel" and pre_tokenizer.get("add_prefix_space") != has_space:
        differing.append("add_prefix_space")
    return differing


def _special_tokens(settings: JsonObject) -> set[str]:
    """Return the tokens of ``tokenizer_config.json`` that the library adds to a tokenizer without them."""
    tokens = [value for name, value in settings.items() if name.endswith("_token")]
    for name in ("extra_special_tokens", "additional_special_tokens"):
        tokens += settings.get(name) or ()
    # Other values are switches such as add_bos_token, or tokens with settings of their own.
    return {token for token in tokens if isinstance(token, str)}


def _types(part: JsonObject) -> list[str]:
    """Return the types of a normalizer or pre-tokenizer, or of its parts, without those that only remove spaces."""
    parts = part.get("normalizers") or part.get("pretokenizers") or [part]
    return [part["type"] for part in parts if part and part["type"] != "Strip" and part.get("pattern") != SPACES]
