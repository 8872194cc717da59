"""A model as its folder describes it: architecture, modules and limits. No weights are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from embassay.core.errors import ModelNotFoundError
from embassay.core.types import JsonObject
from embassay.models.light.architecture import (
    BUFFERS,
    HEADS,
    POSITIONS,
    WORDS,
    Architecture,
    NotSupportedError,
    check_settings,
)
from embassay.models.light.graph import tensors
from embassay.models.light.pooling import LEGACY, MODES, configured
from embassay.models.neural.model_files import SAFE, headers, read_json
from embassay.models.neural.modules import modules, own_code, settings_of, transformer_settings

IDENTITY, TANH = "torch.nn.modules.linear.Identity", "torch.nn.modules.activation.Tanh"
"""The activations of a Dense module, by their names in its configuration."""
KNOWN = {
    "Transformer": {"max_seq_length", "do_lower_case", "transformer_task", "modality_config"},
    "Pooling": {"word_embedding_dimension", "embedding_dimension", "pooling_mode", *LEGACY},
    "Dense": {"in_features", "out_features", "bias", "activation_function"},
    "Normalize": set[str](),
}
"""The settings of each module that may have any value."""
FIXED: dict[str, JsonObject] = {
    "Transformer": {"module_output_name": "token_embeddings"},
    "Pooling": {"include_prompt": True},
    "Dense": {
        "module_input_name": "sentence_embedding",
        "module_output_name": "sentence_embedding",
        "use_residual": False,
    },
    "Normalize": {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"},
}
"""The settings of each module that may have one value only."""
AS_IT_IS = ("PreTrainedTokenizerFast", "TokenizersBackend")
"""Classes of the library that read ``tokenizer.json`` as it is."""
NORMALIZER = {
    "do_lower_case": ("lowercase", True),
    "tokenize_chinese_chars": ("handle_chinese_chars", True),
    "strip_accents": ("strip_accents", None),
}
"""For each setting of ``tokenizer_config.json``, its name in the normalizer of ``tokenizer.json``, and the default."""


@dataclass(frozen=True)
class Dense:
    """A linear layer after the pooling: the folder of its weights, and whether tanh follows."""

    folder: Path
    has_tanh: bool


LaterModule = Dense | Literal["normalize"]


@dataclass(frozen=True)
class LightModel:
    """A model that the light route can run.

    Attributes
    ----------
    folder
        The folder of the transformer and its tokenizer.
    poolings
        The modes of the pooling; their vectors are concatenated.
    steps
        The modules after the pooling, in their order.
    lower
        Whether texts are lower-cased, whatever the tokenizer does.
    """

    folder: Path
    architecture: Architecture
    poolings: tuple[str, ...]
    steps: tuple[LaterModule, ...]
    lower: bool

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
        places = [place for _, place in modules(folder)]
        names = [kind.rpartition(".")[2] for kind, _ in modules(folder)]
        is_pooled = names[:2] in (["Transformer"], ["Transformer", "Pooling"])
        if not is_pooled or not set(names[2:]) <= {"Dense", "Normalize"}:
            raise NotSupportedError(f"its modules are {', '.join(names)}")
        transformer = places[0]
        settings = [transformer_settings(transformer), *(read_json(place / "config.json") for place in places[1:])]
        for name, values in zip(names, settings, strict=True):
            check_settings(f"module {name}", values, KNOWN[name], FIXED[name])
        architecture = Architecture.of(read_json(transformer / "config.json"))
        _check_weights(transformer, architecture)
        _check_tokenizer(transformer)

        # A transformer without further modules gets mean pooling, as in the library.
        poolings = (configured(settings[1]) if len(names) > 1 else ()) or ("mean",)
        if not set(poolings) <= set(MODES):
            raise NotSupportedError(f"its pooling_mode is {', '.join(poolings)}")
        steps: list[LaterModule] = []
        for name, place, values in zip(names[2:], places[2:], settings[2:], strict=True):
            steps.append("normalize" if name == "Normalize" else _dense(place, values))
        return cls(transformer, architecture, poolings, tuple(steps), bool(settings[0].get("do_lower_case")))


def _check_weights(folder: Path, architecture: Architecture) -> None:
    """Check that the files have all tensors that the graph needs, and no others that could have an effect."""
    shapes = {architecture.name_in_bert(name): shape for name, (_, shape) in headers(folder).items()}
    needed = tensors(architecture)
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
    if settings.get("tokenizer_class") in AS_IT_IS:
        return
    # Other classes make the tokenizer from its vocabulary and from these settings.
    normalizer = tokenizer.get("normalizer") or {}
    pre_tokenizer = tokenizer.get("pre_tokenizer") or {}
    differing = []
    if normalizer.get("type") == "BertNormalizer":
        for name, (name_here, default) in NORMALIZER.items():
            if settings.get(name, default) != normalizer.get(name_here):
                differing.append(name)
    has_space = settings.get("add_prefix_space", False)
    if pre_tokenizer.get("type") == "ByteLevel" and pre_tokenizer.get("add_prefix_space") != has_space:
        differing.append("add_prefix_space")
    if differing:
        raise NotSupportedError(f"its tokenizer.json and tokenizer_config.json differ in {', '.join(differing)}")


def _dense(folder: Path, settings: JsonObject) -> Dense:
    """Return a Dense module."""
    activation = settings.get("activation_function", TANH)
    if activation not in (IDENTITY, TANH):
        raise NotSupportedError(f"its module Dense has the activation {activation}")
    if not (folder / SAFE[0]).is_file():
        raise NotSupportedError("its module Dense has no weights in a safetensors file")
    return Dense(folder, activation == TANH)
