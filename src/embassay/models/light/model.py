"""A model as its folder describes it: architecture, modules and limits. No weights are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from embassay.core.errors import ModelNotFoundError
from embassay.core.types import JsonObject
from embassay.models.light.architecture import Architecture, NotSupportedError, Shapes
from embassay.models.light.pooling import LEGACY, MODES, configured
from embassay.models.neural.model_files import read_json, tensor_shapes
from embassay.models.neural.modules import modules, own_code, settings_of, transformer_settings

IDENTITY, TANH = "torch.nn.modules.linear.Identity", "torch.nn.modules.activation.Tanh"
"""The activations of a Dense module, by their names in its configuration."""
TRANSFORMER_SETTINGS = {"max_seq_length", "do_lower_case", "transformer_task", "modality_config", "module_output_name"}
POOLING_SETTINGS = {"word_embedding_dimension", "embedding_dimension", "pooling_mode", "include_prompt"}
NORMALIZE_SETTINGS = {"module_input_name", "module_output_name"}
DENSE_SETTINGS = {*NORMALIZE_SETTINGS, "in_features", "out_features", "bias", "activation_function", "use_residual"}
AS_IT_IS = ("PreTrainedTokenizerFast", "TokenizersBackend")
"""Classes of the library that read ``tokenizer.json`` as it is."""


@dataclass(frozen=True)
class Dense:
    """A linear layer after the pooling.

    Attributes
    ----------
    folder
        The folder of its weights.
    """

    folder: Path
    size_in: int
    size_out: int
    has_bias: bool
    has_tanh: bool

    @property
    def shapes(self) -> Shapes:
        """The shape of each of its tensors."""
        shapes: Shapes = {"linear.weight": (self.size_out, self.size_in)}
        if self.has_bias:
            shapes["linear.bias"] = (self.size_out,)
        return shapes


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
        (kind, transformer), *others = modules(folder)
        if _name(kind) != "Transformer":
            raise NotSupportedError(f"its first module is {_name(kind)}")
        if settings_of(folder).get("truncate_dim"):
            raise NotSupportedError("its configuration truncates vectors")
        settings = transformer_settings(transformer)
        _check_settings(transformer / "sentence_bert_config.json", settings, TRANSFORMER_SETTINGS)
        if settings.get("module_output_name", "token_embeddings") != "token_embeddings":
            raise NotSupportedError("its transformer returns no token vectors")
        architecture = _architecture(transformer)

        # A transformer without further modules gets mean pooling, as in the library.
        poolings: tuple[str, ...] = ("mean",)
        if others:
            kind, place = others.pop(0)
            if _name(kind) != "Pooling":
                raise NotSupportedError(f"its second module is {_name(kind)}, not Pooling")
            poolings = _poolings(place / "config.json")
        steps = tuple(_step(kind, place) for kind, place in others)
        return cls(transformer, architecture, poolings, steps, bool(settings.get("do_lower_case")))


def _name(kind: str) -> str:
    """Return the last part of a module's type: ``Pooling``."""
    return kind.rpartition(".")[2]


def _check_settings(path: Path, settings: JsonObject, known: set[str]) -> None:
    """Raise NotSupportedError for a setting that is not known."""
    unknown = settings.keys() - known
    if unknown:
        raise NotSupportedError(f"its {path.name} has the unknown setting {min(unknown)!r}")


def _architecture(folder: Path) -> Architecture:
    """Return the architecture of a transformer's folder, after checking its weights and its tokenizer."""
    architecture = Architecture.of(read_json(folder / "config.json"))
    _check_weights(folder, architecture)
    _check_tokenizer(folder)
    return architecture


def _check_weights(folder: Path, architecture: Architecture) -> None:
    """Check that the files have exactly the tensors that the graph needs, in its sizes."""
    prefix = architecture.family.prefix
    stored = {name.removeprefix(prefix): shape for name, shape in tensor_shapes(folder).items()}
    if not stored:
        raise NotSupportedError("it has no weights in safetensors files")
    architecture.check_names(frozenset(stored))
    for name, shape in architecture.shapes.items():
        if stored[name] != shape:
            raise ModelNotFoundError(
                f"{folder}: the tensor {name!r} has shape {stored[name]}, but config.json says {shape}; "
                "the files belong to different models"
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
    pairs: list[tuple[str, object, object]] = []
    if normalizer.get("type") == "BertNormalizer":
        pairs.append(("do_lower_case", normalizer.get("lowercase"), True))
        pairs.append(("tokenize_chinese_chars", normalizer.get("handle_chinese_chars"), True))
        pairs.append(("strip_accents", normalizer.get("strip_accents"), None))
    if pre_tokenizer.get("type") == "ByteLevel":
        pairs.append(("add_prefix_space", pre_tokenizer.get("add_prefix_space"), False))
    for name, value, default in pairs:
        if settings.get(name, default) != value:
            raise NotSupportedError(f"its tokenizer.json and tokenizer_config.json differ in {name}")


def _poolings(path: Path) -> tuple[str, ...]:
    """Return the modes of a Pooling module."""
    settings = read_json(path)
    if not settings.keys() & {"word_embedding_dimension", "embedding_dimension"}:
        raise NotSupportedError("its pooling has no dimension")
    _check_settings(path, settings, {*POOLING_SETTINGS, *LEGACY})
    if settings.get("include_prompt", True) is not True:
        raise NotSupportedError("its pooling leaves out the prompt")
    modes = configured(settings) or ("mean",)
    if not set(modes) <= set(MODES):
        raise NotSupportedError(f"its pooling_mode is {', '.join(modes)}")
    return modes


def _step(kind: str, folder: Path) -> LaterModule:
    """Return a module after the pooling."""
    name, path = _name(kind), folder / "config.json"
    if name not in ("Dense", "Normalize"):
        raise NotSupportedError(f"it has the module {name}")
    settings = read_json(path)
    for place in ("module_input_name", "module_output_name"):
        if settings.get(place, "sentence_embedding") != "sentence_embedding":
            raise NotSupportedError(f"its module {name} has {place}={settings[place]!r}")
    if name == "Normalize":
        _check_settings(path, settings, NORMALIZE_SETTINGS)
        return "normalize"
    _check_settings(path, settings, DENSE_SETTINGS)
    if settings.get("use_residual"):
        raise NotSupportedError("its module Dense has a residual connection")
    activation = settings.get("activation_function", TANH)
    if activation not in (IDENTITY, TANH):
        raise NotSupportedError(f"its module Dense has the activation {activation}")
    dense = Dense(
        folder, settings["in_features"], settings["out_features"], settings.get("bias", True), activation == TANH
    )
    if tensor_shapes(folder) != dense.shapes:
        raise NotSupportedError(f"{folder}: its weights are no Dense module's in a safetensors file")
    return dense
