"""A transformers model by name, or ./folder: encoder, decoder, or the encoder half of T5.

Its hidden states are pooled as the options say. The configuration of sentence-transformers (modules, prompts, length)
is ignored; the scheme ``st:`` uses it. The model is loaded when the first text is encoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.neural import hf_runner
from embassay.encoders.neural.hf_checks import check_files, check_pooling
from embassay.encoders.neural.hf_files import (
    DECODER_PARTS,
    Kind,
    config_of,
    dimensions_of,
    find_tokenizer,
    kind_of,
    limit_of,
    of_tokenizer,
    special,
    tokenizer_of,
)
from embassay.encoders.neural.hf_loading import AUTO_MAP, Loading, check_limit, load_model, load_tokenizer
from embassay.encoders.neural.hf_model import PooledModel
from embassay.encoders.neural.locations import find, modules, own_code_of
from embassay.encoders.neural.memory import parameters, weights
from embassay.encoders.neural.model_files import folder_files
from embassay.encoders.neural.pooling import Pooling
from embassay.encoders.neural.runner import ROUTES, RunnerOptions
from embassay.encoders.neural.shared import (
    NeuralEncoder,
    check_dimensions,
    check_place,
    explicit_options,
    prompt_options,
)
from embassay.errors import SpecError
from embassay.samples.base import Role
from embassay.types import Card, JsonObject, Runtime, content_hash

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerBase

EXTRA = "hf"
REQUIRES = ("torch", "transformers", "sentence_transformers")
TARGET = "MODEL or ./FOLDER"
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
    similarity: Literal["cosine", "dot"] | None = None,
) -> TransformersEncoder:
    """Find the model's files and describe it; nothing is loaded yet.

    Parameters
    ----------
    pooling
        What a text's vector is: the ``mean`` or ``max`` of its tokens, its first (``cls``) or ``last`` token, or the
        ``mask`` token of the template (Jiang et al. 2022, PromptBERT); the last of a decoder, else the mean.
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
        Where to run: ``cpu``, ``cuda:0`` …; the run's device by default. ``auto-map`` spreads a model that is too
        large for one GPU over all of them.
    normalize
        Scale vectors to unit length.
    similarity
        Similarity of queries and documents; cosine by default.

    Raises
    ------
    ModelNotFoundError
        If model or tokenizer are neither on this machine nor to be had, or the folder is no transformers model.
    SpecError
        If layer, template or pooling do not fit each other or the model, or it needs code of its own.
    """
    options = {
        "pooling": pooling,
        # Values equal to a default are left out, so that they do not appear in the spec.
        "layer": None if layer == -1 else layer,
        "template": template,
        "tokenizer": tokenizer,
        "revision": revision,
        "query_prompt": query_prompt or None,
        "document_prompt": document_prompt or None,
        "text_prompt": text_prompt or None,
        "max_length": max_length,
        "dim": dim,
        "dtype": None if dtype == "float32" else dtype,
        "normalize": normalize,
        "similarity": similarity,
    }
    model_options = explicit_options(f"encoder {target!r}", options)
    place = device or runtime.device
    check_place("auto" if place == AUTO_MAP else place, runtime.backend, ("light", *ROUTES))
    if place == AUTO_MAP and find_spec("accelerate") is None:
        raise SpecError(f"encoder {target!r}: device={AUTO_MAP} needs the package accelerate: pip install accelerate")
    found = find(target, revision, runtime.sha256, "-e hf:", runtime.tell)
    folder = modules(found.folder)[0][1]
    tokens = folder
    if tokenizer:
        tokens = find_tokenizer(tokenizer, runtime.sha256).folder
    check_files(target, folder, tokens, runtime)
    encoder = TransformersEncoder(target, found, runtime, place, dtype, model_options, folder, tokens)
    check_pooling(target, model_options, encoder.pooling, encoder.config, tokens)
    check_dimensions(f"encoder {target!r}", model_options, dimensions_of(encoder.config))
    return encoder


@dataclass(frozen=True)
class TransformersEncoder(NeuralEncoder):
    """A transformers model with pooled hidden states; it is loaded when the first text is encoded.

    Attributes
    ----------
    folder, tokens
        The folders of the model's files and of the tokenizer's files.
    """

    folder: Path = Path()
    tokens: Path = Path()

    @cached_property
    def card(self) -> Card:
        """The properties of the encoder that its files contain."""
        written_options = [f"{name}={value}" for name, value in sorted(self.options.items())]
        return Card(
            ",".join([f"hf:{self.target}", *written_options]),
            revision=self.found.revision,
            parameters=parameters(self.folder, self._left_out),
            max_tokens=limit_of(self.config, self.tokens, self.options.get("max_length")),
            prompts={role: prompt for role, prompt in self._prompts.items() if prompt},
            full=self.full,
            warnings=(*self._assumed(), *self._prompt_warnings(), *self._file_warnings()),
            similarity=self.options.get("similarity", "cosine"),
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the files of model and tokenizer, and of all options that change vectors."""
        model_files = {}
        for name in folder_files(self.folder):
            if not re.fullmatch(OTHERS, name):
                model_files[name] = self.runtime.sha256(self.folder / name)
        tokenizer_files = {}
        if self.tokens != self.folder:
            for name in filter(of_tokenizer, folder_files(self.tokens)):
                tokenizer_files[name] = self.runtime.sha256(self.tokens / name)
        settings = {name: self.options.get(name) for name in ("layer", "template", "dim", "normalize", "max_length")}
        runs_own_code = bool(self.runtime.trust_remote_code and self._own_code)
        return content_hash(
            [
                "hf",
                model_files,
                tokenizer_files,
                self.pooling,
                settings,
                self._prompts,
                self.dtype,
                runs_own_code,
            ]
        )

    @cached_property
    def config(self) -> JsonObject:
        """The model's configuration."""
        return config_of(self.folder)

    @cached_property
    def kind(self) -> Kind:
        """Encoder, decoder, or a model with both, of which only the encoder is used."""
        return kind_of(self.config, self.folder)

    @cached_property
    def _own_code(self) -> tuple[str, ...]:
        """The classes that the model and its tokenizer bring along as code."""
        return tuple(dict.fromkeys((*own_code_of(self.folder), *own_code_of(self.tokens))))

    @property
    def pooling(self) -> Pooling:
        """The pooling. Default: the last token of a decoder, which alone attends to all others; otherwise the mean."""
        pooling: Pooling = "mean"
        if self.kind == "decoder":
            pooling = "last"
        if "pooling" in self.options:
            pooling = cast("Pooling", self.options["pooling"])
        return pooling

    def count_tokens(self, texts: Sequence[str], role: Role) -> NDArray[np.int64]:
        """Return the number of tokens of each text before truncation: prompt, template, special tokens included."""
        prompt = self._prompts[role]
        template = self.options.get("template", "")
        if self._counter is None:
            # The library makes a tokenizer from other files. Counting tokens needs no weights.
            counter = PooledModel(None, self._tokenizer, self.pooling, template=template)
            return np.array(counter.count(texts, prompt), dtype=np.int64)
        before, _, after = template.partition("{text}")
        encodings = self._counter.encode_batch([f"{before}{prompt}{text}{after}" for text in texts])
        # A text without tokens is encoded as one special token.
        return np.array([max(1, len(encoding.ids)) for encoding in encodings], dtype=np.int64)

    @cached_property
    def _prompts(self) -> Mapping[Role, str]:
        roles: tuple[Role, ...] = ("text", "query", "document")
        return {**dict.fromkeys(roles, ""), **prompt_options(self.options)}

    @property
    def _routes(self) -> Sequence[str]:
        return hf_runner.ROUTES

    @property
    def _left_out(self) -> tuple[str, ...]:
        if self.kind == "both":
            return DECODER_PARTS
        return ()

    @property
    def _size(self) -> int:
        # With auto-map, the library divides the weights among the GPUs.
        if self.device == AUTO_MAP:
            return 0
        return weights(self.folder, self.dtype, self._left_out)

    def load(self, device: str) -> PooledModel:
        """Load the model onto a device."""
        model = load_model(self._loading, device)
        limit = self.card.max_tokens
        check_limit(limit, len(self._tokenizer("")["input_ids"]))
        return PooledModel(
            model,
            self._tokenizer,
            self.pooling,
            layer=self.options.get("layer", -1),
            template=self.options.get("template", ""),
            limit=limit,
        )

    def _runner(self, model: PooledModel, options: RunnerOptions) -> hf_runner.PooledRunner:
        return hf_runner.PooledRunner(model, options, decoder=self.kind == "decoder")

    @property
    def _loading(self) -> Loading:
        return Loading(self.folder, self.tokens, self.kind, self.dtype, self.runtime.trust_remote_code)

    @cached_property
    def _tokenizer(self) -> PreTrainedTokenizerBase:
        return load_tokenizer(self._loading)

    @cached_property
    def _counter(self) -> Tokenizer | None:
        """The tokenizer without the library, which takes seconds to import; None without a ``tokenizer.json``."""
        return tokenizer_of(self.tokens)

    def _assumed(self) -> list[str]:
        """Return warnings about assumptions and about parts of the model that are not used."""
        warnings = []
        if "pooling" not in self.options:
            warnings.append(f"pooling={self.pooling} is used by default, because the model is {_SAID[self.kind]}")
        if self.pooling == "cls" and self.kind == "decoder":
            warnings.append(
                "the first token of a decoder does not attend to the other tokens, so pooling=cls says little "
                "about a text"
            )
        if special(self.tokens, "pad_token") is None and special(self.tokens, "eos_token") is not None:
            warnings.append(
                "the tokenizer has no padding token: batches are padded with the end token, which the "
                "attention mask hides"
            )
        if (self.found.folder / "modules.json").is_file():
            warnings.append(
                "hf: ignores the pooling, prompts and length configured for sentence-transformers; st: uses them"
            )
        trusted = self.runtime.trust_remote_code
        if self._own_code and not trusted:
            warnings.append("the model brings its own code, which is not run without --trust-remote-code")
        if trusted and self.tokens != self.folder and own_code_of(self.tokens):
            warnings.append(f"--trust-remote-code also runs the code of tokenizer={self.options['tokenizer']}")
        if any("--" in name for name in self._own_code):
            warnings.append("the model's code is in another repository and is not part of the fingerprint")
        if self.device == AUTO_MAP:
            warnings.append(f"device={AUTO_MAP} has not been tested on several GPUs")
        return warnings


_SAID: Mapping[Kind, str] = {
    "encoder": "an encoder",
    "decoder": "a decoder",
    "both": "an encoder with a decoder, and only the encoder is used",
}
