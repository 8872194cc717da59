"""A sentence-transformers model: by name, or ./folder; the default scheme.

A model is described by its files; it is loaded when the first text is encoded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from embassay.core.errors import EncoderError, ModelNotFoundError, SpecError, begun
from embassay.core.types import Runtime, content_hash
from embassay.core.vectors import Similarity
from embassay.models.base import Prompts
from embassay.models.light.choice import check_installed, choose_route
from embassay.models.light.model import LightModel
from embassay.models.neural.devices import available_device, check_place, device_map
from embassay.models.neural.encoder import NeuralEncoder, check_code, check_no_adapter
from embassay.models.neural.hf_loading import check_stored
from embassay.models.neural.library_messages import quiet, reason
from embassay.models.neural.locations import LOCAL_FOLDER, PUBLISHED_WEIGHTS, find, find_offline, read_json
from embassay.models.neural.model_files import SAFE, folder_files
from embassay.models.neural.model_options import ModelOptions
from embassay.models.neural.modules import (
    check_tokenizer,
    configured_prompts,
    configured_similarity,
    dimensions,
    modules,
    own_code,
    own_modules,
    settings_of,
    token_limit,
)
from embassay.models.neural.prompts import overlooked
from embassay.models.neural.st_runner import SentenceTransformersRunner
from embassay.models.neural.tokenizer_files import check_limit, read_tokenizer

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase

EXTRA = "light"
REQUIRES = ("huggingface_hub",)
"""What finds the files of a model; the packages that run it depend on the model."""
TARGET = "MODEL or ./FOLDER"
LIBRARIES = {"sentence_transformers", "transformers", "torch"}
"""Libraries whose modules can be fingerprinted by their weights and settings; the code of others is unknown."""
SETTINGS = ("max_seq_length", "truncate_dim", "default_prompt_name", "prompts")
"""Attributes of a loaded model, outside its modules, that change vectors."""


def create(
    target: str,
    runtime: Runtime,
    *,
    revision: str = "",
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    text_prompt: str | None = None,
    max_length: int | None = None,
    dim: int | None = None,
    dtype: Literal["float32", "float16", "bfloat16"] = "float32",
    device: str = "",
    normalize: bool = False,
    similarity: Similarity | None = None,
    vectors: Literal["float32", "int8", "binary"] = "float32",
) -> SentenceTransformersEncoder:
    """Find the model's files and describe it; nothing is loaded yet.

    Parameters
    ----------
    revision
        A branch, tag or commit of the hub's repository.
    query_prompt, document_prompt, text_prompt
        Prompt put before each text of that role, instead of the one in the model's configuration.
    max_length
        Truncate texts after this many tokens; by default the model's own limit.
    dim
        Keep only this many leading dimensions (for Matryoshka models).
    dtype
        Precision of the weights and of the arithmetic.
    device
        Where to run: ``cpu``, ``cuda:0`` …; the run's device by default.
    normalize
        Scale vectors to unit length.
    similarity
        Similarity of queries and documents; by default the model's own, else cosine.
    vectors
        Quantisation: ``int8`` rounds each vector to 255 steps of its largest coordinate, ``binary`` keeps only signs.

    Raises
    ------
    ModelNotFoundError
        If the model is not available, or its folder does not say how tokens become a vector.
    SpecError
        If an option does not fit the model, or the model needs code of its own.
    """
    options = ModelOptions(
        revision=revision,
        query_prompt=query_prompt,
        document_prompt=document_prompt,
        text_prompt=text_prompt,
        max_length=max_length,
        dim=dim,
        dtype=dtype,
        normalize=normalize,
        similarity=similarity,
        vectors=vectors,
    )
    options.check(f"encoder {target!r}")
    check_place(device or runtime.device, runtime.backend)
    found = find(target, revision, runtime)
    _check_code(target, found.folder, runtime)
    _check_pooling(target, found.folder)
    options.check_dimensions(f"encoder {target!r}", dimensions(found.folder))
    device = device or runtime.device
    light, why_not = choose_route(target, lambda: LightModel.of(found.folder), runtime.backend, device, dtype)
    return SentenceTransformersEncoder(target, found, runtime, device, options, light, why_not)


def at_hand(target: str, runtime: Runtime) -> bool:
    """Return whether a model's files are on this machine; torch is not imported.

    Raises
    ------
    MissingExtraError
        If nothing that could run the model is installed.
    """
    check_installed(target)
    return find_offline(target, "", runtime) is not None


@dataclass(frozen=True)
class SentenceTransformersEncoder(NeuralEncoder):
    """A sentence-transformers model; it is loaded when the first text is encoded.

    Attributes
    ----------
    why_not_light
        A note on why the light route does not run the model; empty if it does, or if a setting decided.
    """

    scheme = "st"
    why_not_light: str = field(default="", repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all files of the model and of all options that change vectors."""
        folder = self.folder
        files = self.runtime.hashes(folder, folder_files(folder))
        explicit = self.options.explicit
        settings = {name: explicit.get(name) for name in ("dim", "normalize", "max_length", "vectors")}
        runs_own_code = bool(self.runtime.trust_remote_code and own_code(folder))
        return content_hash(["st", files, self.prompts, settings, self.options.dtype, runs_own_code])

    def name_of_weights(self) -> str:
        """Return what papers call the model of a local folder; empty if its weights are not known, or with options."""
        weights = self.folder / SAFE[0]
        if self.found.revision == LOCAL_FOLDER and not self.options.explicit and weights.is_file():
            digest = self.runtime.sha256(weights)
            return next((name for name, known in PUBLISHED_WEIGHTS.items() if known == digest), "")
        return ""

    @property
    def _configured_prompts(self) -> Prompts:
        return configured_prompts(self.folder)

    def _known_prompts(self) -> str:
        prompts = settings_of(self.folder).get("prompts") or {}
        named = [f"{name} ({begun(prompt)!r})" for name, prompt in prompts.items() if prompt]
        if not named:
            return super()._known_prompts()
        return f"the model's files name prompts that are not used: {', '.join(named)}"

    @property
    def _model_similarity(self) -> str:
        return configured_similarity(self.folder)

    @property
    def _model_limit(self) -> int | None:
        return token_limit(self.folder)

    def _runner_of(self, model: SentenceTransformer) -> SentenceTransformersRunner:
        prompts = tuple(self.prompts.values())
        dtype, backend = self.options.dtype, self.runtime.backend
        return SentenceTransformersRunner(model=model, prompts=prompts, dtype=dtype, backend=backend).fastest()

    def _warnings(self) -> list[str]:
        warnings = []
        if self.why_not_light:
            warnings.append(self.why_not_light)
        if not (self.folder / "modules.json").is_file():
            warnings.append("the model has no modules.json: mean pooling is used")
        warnings += self._code_warnings(own_code(self.folder))
        prompt_name = overlooked(settings_of(self.folder).get("prompts") or {})
        if prompt_name and self.options.document_prompt is None:
            warnings.append(
                f"the model's prompt for documents is named {prompt_name!r}: it is used here, but not by "
                "encode_document of sentence-transformers"
            )
        return warnings

    def load(self, device: str) -> SentenceTransformer:
        """Load the model."""
        from sentence_transformers import SentenceTransformer
        from transformers import PreTrainedModel

        placed = device_map(device)
        # The library ignores the device of a model that it places itself.
        one_device = None if placed else available_device(device)
        try:
            with quiet():
                model = SentenceTransformer(
                    str(self.folder),
                    device=one_device,
                    trust_remote_code=self.runtime.trust_remote_code,
                    truncate_dim=self.options.dim,
                    model_kwargs={"dtype": self.options.dtype, "device_map": placed},
                    local_files_only=True,
                )
            limit = self.max_tokens
            if limit and limit != model.max_seq_length:
                model.max_seq_length = limit
        except Exception as error:
            raise EncoderError(f"the model cannot be loaded: {reason(error)}") from error
        if isinstance(getattr(model[0], "model", None), PreTrainedModel):
            check_stored(model[0].model, modules(self.folder)[0][1])
            check_limit(limit, len(model.tokenizer("")["input_ids"]))
        return model

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        for folder in (self.folder, modules(self.folder)[0][1]):
            if (folder / "tokenizer.json").is_file():
                return read_tokenizer(folder)
        raise EncoderError(
            f"{self.target} has no tokenizer.json, so its tokens cannot be counted without loading the model"
        )


def has_known_content(model: SentenceTransformer) -> bool:
    """Return whether an object is a ``SentenceTransformer`` whose content can be fingerprinted.

    It can if the model runs on torch, its tokenizer can be written as JSON, all its modules are classes of
    sentence-transformers, transformers or torch, and all its tensors are plain.
    """
    if type(model).__name__ != "SentenceTransformer" or _library(model) != "sentence_transformers":
        return False
    if model.get_backend() != "torch" or not hasattr(_tokens_of(model), "to_str"):
        return False
    libraries = {_library(module) for module in model.modules()}
    if not libraries <= LIBRARIES:
        return False
    # Quantised tensors, for example, have scales that a hash of their values would miss.
    return all(map(_is_plain, _tensors(model).values()))


def hash_content(model: SentenceTransformer) -> str:
    """Return a hash of the content of a ``SentenceTransformer``: weights, modules, tokenizer, settings."""
    tokenizer = json.loads(_tokens_of(model).to_str())
    # Each call of the model sets these two; the limit itself is in max_seq_length.
    tokenizer.pop("truncation", None)
    tokenizer.pop("padding", None)
    sides = [getattr(model.tokenizer, name, None) for name in ("padding_side", "truncation_side")]
    settings = repr([getattr(model, name, None) for name in SETTINGS])
    architectures = []
    for module in model.modules():
        config = getattr(module, "config", None)
        if config is not None and hasattr(config, "to_json_string"):
            architecture = json.loads(config.to_json_string())
            # These differ for the same model in another folder or with another version of the library.
            architecture.pop("_name_or_path", None)
            architecture.pop("transformers_version", None)
            architectures.append(architecture)
    layers = [repr(model), *(repr(module.get_config_dict()) for module in model if hasattr(module, "get_config_dict"))]
    return content_hash([_hash_tensors(_tensors(model)), layers, architectures, tokenizer, sides, settings])


def _tensors(model: SentenceTransformer) -> dict[str, Tensor]:
    # Buffers that are not saved with a model, such as positions, also affect its vectors.
    return {**dict(model.named_buffers()), **model.state_dict()}


def _tokens_of(model: SentenceTransformer) -> Tokenizer:
    tokenizer: PreTrainedTokenizerBase = getattr(model, "tokenizer", None)
    backend: Tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    return backend


def _library(thing: object) -> str:
    """Return the package that the class of an object is from."""
    return type(thing).__module__.partition(".")[0]


def _is_plain(tensor: Tensor) -> bool:
    """Return whether a tensor's bytes contain all of its values."""
    return str(getattr(tensor, "layout", "")) == "torch.strided" and not (tensor.is_meta or tensor.is_quantized)


def _hash_tensors(tensors: Mapping[str, Tensor]) -> str:
    """Return a hash of the names, types, shapes and bytes of tensors, whatever their order and device."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        numbers = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(numbers.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _check_code(target: str, folder: Path, runtime: Runtime) -> None:
    """Raise SpecError for a model with its own code, unless it is trusted, and for modules that are not supported."""
    check_code(target, own_modules(folder), runtime.trust_remote_code)
    if any(kind.endswith((".Router", ".Asym")) for kind, _ in modules(folder)):
        raise SpecError(
            f"encoder {target!r} uses different modules for queries and documents (Router), which is not supported"
        )
    check_tokenizer(target, folder)
    check_no_adapter(target, folder)


def _check_pooling(target: str, folder: Path) -> None:
    """Refuse a ``modules.json`` that does not say how a transformer's tokens become one vector."""
    if not (folder / "modules.json").is_file():
        return
    listed = modules(folder)
    if not listed[0][0].endswith(".Transformer"):
        return
    instead = f"hf:{target},pooling=mean uses the mean of its tokens"
    for kind, place in listed:
        settings = read_json(place / "config.json")
        has_dimension = "embedding_dimension" in settings or "word_embedding_dimension" in settings
        if kind.endswith(".Pooling") and not has_dimension:
            raise ModelNotFoundError(
                f"encoder {target!r}: {place / 'config.json'} is missing or has no embedding_dimension; {instead}"
            )
    # WeightedLayerPooling combines layers, not tokens.
    has_pooling = any(kind.endswith("Pooling") and not kind.endswith("WeightedLayerPooling") for kind, _ in listed)
    # Some transformers pool by themselves; modules with code of their own may.
    transformer_settings = read_json(listed[0][1] / "sentence_bert_config.json")
    pools_itself = transformer_settings.get("module_output_name") == "sentence_embedding"
    if not has_pooling and not pools_itself and not own_modules(folder):
        raise ModelNotFoundError(f"encoder {target!r}: its modules.json has no Pooling module; {instead}")
