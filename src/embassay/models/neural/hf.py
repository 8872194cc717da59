"""A transformers model by name, or ./folder: encoder, decoder, or the encoder half of T5.

Its hidden states are pooled as the options say. The configuration of sentence-transformers (modules, prompts, length)
is ignored; the scheme ``st:`` uses it. The model is loaded when the first text is encoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from embassay.core.errors import SpecError
from embassay.core.samples.base import Role
from embassay.core.types import JsonObject, Runtime, content_hash
from embassay.core.vectors import Indices, Similarity
from embassay.models.light.architecture import NotSupportedError
from embassay.models.light.choice import choose_route
from embassay.models.light.model import LightModel
from embassay.models.neural.devices import check_place
from embassay.models.neural.encoder import NeuralEncoder, check_code, check_no_adapter
from embassay.models.neural.hf_files import (
    DECODER_PARTS,
    DIMENSIONS,
    LAYERS,
    ModelKind,
    config_of,
    find_tokenizer,
    first_number,
    kind_of,
    limit_of,
    mask_token,
    of_tokenizer,
)
from embassay.models.neural.hf_loading import check_pooler, load_model, load_tokenizer
from embassay.models.neural.hf_runner import PooledRunner, Pooling, templated_ids, within
from embassay.models.neural.locations import find, read_json
from embassay.models.neural.model_files import folder_files
from embassay.models.neural.model_options import ModelOptions
from embassay.models.neural.modules import check_tokenizer, modules, own_code_of
from embassay.models.neural.tokenizer_files import check_limit, read_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

EXTRA = "hf"
REQUIRES = ("torch", "transformers", "sentence_transformers")
TARGET = "MODEL or ./FOLDER"
LIGHT_POOLINGS: Mapping[Pooling, str] = {"mean": "mean", "cls": "cls", "max": "max", "last": "lasttoken"}
"""The poolings of the light route, by their names here."""
OTHERS = r"modules\.json|config_sentence_transformers\.json|sentence_\w+_config\.json|\d+_\w+/.*"
"""File names that only sentence-transformers reads."""


def create(
    target: str,
    runtime: Runtime,
    *,
    pooling: Pooling | None = None,
    layer: int = -1,
    template: str = "",
    tokenizer: str = "",
    revision: str = "",
    query_prompt: str = "",
    document_prompt: str = "",
    text_prompt: str = "",
    max_length: int | None = None,
    dim: int | None = None,
    dtype: Literal["float32", "float16", "bfloat16"] = "float32",
    device: str = "",
    normalize: bool = False,
    similarity: Similarity | None = None,
) -> TransformersEncoder:
    """Find the model's files and describe it; nothing is loaded yet.

    Parameters
    ----------
    pooling
        What a text's vector is: the ``mean`` or ``max`` of its tokens, its first (``cls``) or ``last`` token, the first
        after the model's ``pooler`` layer, or the ``mask`` token of the template (Jiang et al. 2022, PromptBERT); the
        last of a decoder, else the mean.
    layer
        Layer whose hidden states are used: -1 is the last layer, 0 the embeddings, 1 the first layer.
    template
        Template for each text, inserted at ``{text}`` after its prompt: ``This sentence : "{text}" means [MASK] .``
        A text that is too long is truncated, the template is not.
    tokenizer
        The model or folder to take the tokenizer from, if the model has none.
    revision
        A branch, tag or commit of the hub's repository.
    query_prompt, document_prompt, text_prompt
        Prompt put before each text of that role.
    max_length
        Truncate texts after this many tokens; by default the tokenizer's limit, at most the model's positions.
    dim
        Keep only this many leading dimensions.
    dtype
        Precision of the weights and of the arithmetic.
    device
        Where to run: ``cpu``, ``cuda:0`` …; the run's device by default. With ``auto`` and accelerate, transformers
        places the model, on several GPUs if there are.
    normalize
        Scale vectors to unit length.
    similarity
        Similarity of queries and documents; cosine by default.

    Raises
    ------
    ModelNotFoundError
        If model or tokenizer are not available, or the folder is no transformers model.
    SpecError
        If layer, template or pooling do not fit each other or the model, or it needs code of its own.
    """
    options = ModelOptions(
        pooling=pooling,
        layer=layer,
        template=template,
        tokenizer=tokenizer,
        revision=revision,
        query_prompt=query_prompt or None,
        document_prompt=document_prompt or None,
        text_prompt=text_prompt or None,
        max_length=max_length,
        dim=dim,
        dtype=dtype,
        normalize=normalize,
        similarity=similarity,
    )
    options.check(f"encoder {target!r}")
    place = device or runtime.device
    check_place(place, runtime.backend)
    found = find(target, revision, runtime, "-e hf:")
    folder = modules(found.folder)[0][1]
    tokens = folder
    if tokenizer:
        tokens = find_tokenizer(tokenizer, runtime).folder
    _check_files(target, folder, tokens, runtime)
    encoder = TransformersEncoder(target, found, runtime, place, options, tokens=tokens)
    _check_pooling(encoder)
    options.check_dimensions(f"encoder {target!r}", first_number(encoder.config, DIMENSIONS))
    light, _ = choose_route(target, encoder.describe_light, runtime.backend, place, dtype)
    return replace(encoder, light=light)


@dataclass(frozen=True)
class TransformersEncoder(NeuralEncoder):
    """A transformers model with pooled hidden states; it is loaded when the first text is encoded.

    Attributes
    ----------
    tokens
        The folder of the tokenizer's files.
    """

    scheme = "hf"
    tokens: Path = Path()

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the files of model and tokenizer, and of all options that change vectors."""
        names = [name for name in folder_files(self.folder) if not re.fullmatch(OTHERS, name)]
        model_files = self.runtime.hashes(self.folder, names)
        tokenizer_files: dict[str, str] = {}
        if self.tokens != self.folder:
            tokenizer_files = self.runtime.hashes(self.tokens, filter(of_tokenizer, folder_files(self.tokens)))
        explicit = self.options.explicit
        settings = {name: explicit.get(name) for name in ("layer", "template", "dim", "normalize", "max_length")}
        runs_own_code = bool(self.runtime.trust_remote_code and self._own_code)
        files = ["hf", model_files, tokenizer_files]
        return content_hash([*files, self.pooling, settings, self.prompts, self.options.dtype, runs_own_code])

    @cached_property
    def folder(self) -> Path:
        """The folder of the transformer."""
        return modules(self.found.folder)[0][1]

    @cached_property
    def config(self) -> JsonObject:
        """The model's configuration."""
        return config_of(self.folder)

    @cached_property
    def kind(self) -> ModelKind:
        """Encoder, decoder, or a model with both, of which only the encoder is used."""
        return kind_of(self.config, self.folder)

    @property
    def pooling(self) -> Pooling:
        """The pooling. Default: the last token of a decoder, which alone attends to all others; otherwise the mean."""
        if self.options.pooling:
            return cast("Pooling", self.options.pooling)
        return "last" if self.kind == "decoder" else "mean"

    @property
    def _model_limit(self) -> int | None:
        # The option replaces the tokenizer's limit.
        return limit_of(self.config, self.tokens, self.options.max_length)

    def count_tokens(self, texts: Sequence[str], role: Role) -> Indices:
        """Return the number of tokens of each text before truncation: prompt, template, special tokens included."""
        template = self.options.template
        prompted = [self.prompts[role] + text for text in texts]
        if (self.tokens / "tokenizer.json").is_file():
            wholes = [within(template, text) for text in prompted]
            counts = [len(encoding.ids) for encoding in self._tokenizer.encode_batch(wholes)]
        else:
            # The library makes a tokenizer from other files. Counting tokens needs no weights.
            counts = [len(ids) for ids in templated_ids(self._library_tokenizer, template, prompted)]
        # A text without tokens is encoded as one special token.
        return np.maximum(np.array(counts, dtype=np.int64), 1)

    @property
    def _left_out(self) -> tuple[str, ...]:
        if self.kind == "both":
            return DECODER_PARTS
        return ()

    def describe_light(self) -> LightModel:
        """Return the model for the light route.

        Raises
        ------
        NotSupportedError
            If the light route cannot run it with these options.
        """
        for name in ("layer", "template", "tokenizer"):
            if name in self.options.explicit:
                raise NotSupportedError(f"it has the option {name}")
        if self.pooling not in LIGHT_POOLINGS:
            raise NotSupportedError(f"pooling={self.pooling} is not its own")
        return LightModel.pooled(self.folder, LIGHT_POOLINGS[self.pooling])

    def load(self, device: str) -> PreTrainedModel:
        """Load the model."""
        model = load_model(self.folder, self.kind, self.options.dtype, self.runtime.trust_remote_code, device)
        if self.pooling == "pooler":
            check_pooler(model, self.folder)
        check_limit(self.max_tokens, len(self._library_tokenizer("")["input_ids"]))
        return model

    def _runner_of(self, model: PreTrainedModel) -> PooledRunner:
        return PooledRunner(
            model=model,
            dtype=self.options.dtype,
            backend=self.runtime.backend,
            tokenizer=self._library_tokenizer,
            pooling=self.pooling,
            layer=self.options.layer,
            template=self.options.template,
            limit=self.max_tokens,
        )

    @cached_property
    def _library_tokenizer(self) -> PreTrainedTokenizerBase:
        return load_tokenizer(self.tokens, self.runtime.trust_remote_code)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        # Without the library, which takes seconds to import.
        return read_tokenizer(self.tokens)

    @cached_property
    def _own_code(self) -> tuple[str, ...]:
        """The classes that the model and its tokenizer bring along as code."""
        return tuple(dict.fromkeys((*own_code_of(self.folder), *own_code_of(self.tokens))))

    def _warnings(self) -> list[str]:
        warnings = []
        if not self.options.pooling:
            warnings.append(f"pooling={self.pooling} is used by default, because the model is {_SAID[self.kind]}")
        if self.pooling == "cls" and self.kind == "decoder":
            warnings.append(
                "the first token of a decoder does not attend to the other tokens, so pooling=cls says little "
                "about a text"
            )
        if (self.found.folder / "modules.json").is_file():
            warnings.append(
                "hf: ignores the pooling, prompts and length configured for sentence-transformers; st: uses them"
            )
        warnings += self._code_warnings(self._own_code)
        if self.runtime.trust_remote_code and self.tokens != self.folder and own_code_of(self.tokens):
            warnings.append(f"--trust-remote-code also runs the code of tokenizer={self.options.tokenizer}")
        return warnings


_SAID: Mapping[ModelKind, str] = {
    "encoder": "an encoder",
    "decoder": "a decoder",
    "both": "an encoder with a decoder, and only the encoder is used",
}


def _check_files(target: str, folder: Path, tokens: Path, runtime: Runtime) -> None:
    """Raise an error if a folder has no transformers model or no tokenizer, or needs code that is not trusted."""
    check_no_adapter(target, folder)
    config_of(folder)
    for place, needs_no_code in ((folder, _known_to_library), (tokens, _tokenizer_known_to_library)):
        code = own_code_of(place)
        # The library is imported only for a model with code.
        if code and not needs_no_code(place):
            check_code(target, code, runtime.trust_remote_code)
    if tokens == folder:
        check_tokenizer(target, folder, ", or set tokenizer=")


def _check_pooling(encoder: TransformersEncoder) -> None:
    """Raise SpecError for a layer that does not exist, and a template without the text or the mask token."""
    target, options = encoder.target, encoder.options
    layer, layers = options.layer, first_number(encoder.config, LAYERS)
    if layers is not None and not -layers - 1 <= layer <= layers:
        raise SpecError(
            f"encoder {target!r}, option 'layer': must be from {-layers - 1} to {layers}, is {layer}; "
            "0 is the embeddings, -1 the last layer"
        )
    template = options.template
    if template and template.count("{text}") != 1:
        raise SpecError(f"encoder {target!r}, option 'template': must contain {{text}} exactly once, is {template!r}")
    if encoder.pooling == "pooler" and layer != -1:
        raise SpecError(f"encoder {target!r}: pooling=pooler is computed from the last layer; leave layer out")
    if encoder.pooling != "mask":
        return
    mask = mask_token(encoder.tokens)
    if not template:
        wanted = f'template=This sentence : "{{text}}" means {mask or "[MASK]"} .'
        raise SpecError(f"encoder {target!r}: pooling=mask needs a template with the mask token, for example {wanted}")
    if mask is not None and template.count(mask) != 1:
        raise SpecError(
            f"encoder {target!r}, option 'template': must contain the mask token {mask!r} exactly once, is {template!r}"
        )


def _known_to_library(folder: Path) -> bool:
    """Return whether the library itself has this type of model."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return config_of(folder).get("model_type") in CONFIG_MAPPING_NAMES


def _tokenizer_known_to_library(folder: Path) -> bool:
    """Return whether the library itself has the tokenizer of this folder, by its class or by the type of model."""
    if "auto_map" not in read_json(folder / "tokenizer_config.json"):
        return True
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

    if read_json(folder / "config.json").get("model_type") in TOKENIZER_MAPPING_NAMES:
        return True
    name = str(read_json(folder / "tokenizer_config.json").get("tokenizer_class"))
    return any(tokenizer_class_from_name(class_name) for class_name in (name, f"{name}Fast"))
