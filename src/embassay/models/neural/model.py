"""A model that is described by its files and loaded for the first text; each scheme is a recipe that makes one.

The models of ``st:``, ``hf:`` and ``sparse:`` and rerankers run with sentence-transformers, those that the light route
knows without torch; the graphs of ``onnx:`` run with onnxruntime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_array

from embassay.core.errors import ModelNotFoundError, SpecError, UnknownNameError, first_line_of
from embassay.core.samples.base import ROLES, Role
from embassay.core.types import Card, Runtime, check_device, content_hash, hashes_of
from embassay.core.vectors import Indices, VectorMatrix
from embassay.models.base import Batch, BatchEncoder, Prompts, Route, supported_similarity
from embassay.models.light.model import LightModel
from embassay.models.light.tokenized import read_tokenizer
from embassay.models.loaded import LoadedEncoder
from embassay.models.neural.batching import Runner
from embassay.models.neural.derived import Options, derived_vectors
from embassay.models.neural.library import BACKENDS, LibraryRunner, available_device, check_weights, quiet
from embassay.models.neural.locations import LOCAL_FOLDER, ModelFiles, find, is_path
from embassay.models.neural.model_card import training_datasets
from embassay.models.neural.model_files import folder_files, parameters
from embassay.models.neural.modules import (
    configured_prompts,
    has_tokenizer,
    missing_prompts,
    modules,
    own_code,
    own_modules,
    settings_of,
    token_limit,
    unprompted_texts,
)

if TYPE_CHECKING:
    from tokenizers import Tokenizer

OF_VECTORS = ("dim", "normalize", "vectors")
"""Options that are applied to finished vectors."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Model(LoadedEncoder[Runner], BatchEncoder):
    """A model; it is loaded when the first text is encoded.

    Attributes
    ----------
    name
        The model's name or folder.
    found
        The folder with its files, and their revision.
    files
        The names of the files on which vectors depend.
    tokens
        The folder of the tokenizer.
    options
        The options of the spec; the device is not among them.
    own_prompts
        The model's prompts by role.
    limit
        The number of tokens after which texts are truncated; None for no limit.
    open
        Loads the model.
    parameters
        The number of its parameters; None if that is not known.
    settings
        What else vectors depend on.
    is_sparse
        Whether its vectors are sparse.
    """

    scheme: str
    name: str
    found: ModelFiles
    runtime: Runtime
    device: str = "auto"
    files: Sequence[str]
    tokens: Path
    options: Options
    own_prompts: Mapping[Role, str]
    limit: int | None
    open: Callable[[Self], Runner]
    parameters: int | None = None
    similarity: str = "cosine"
    settings: Options = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    missing_prompts: str = ""
    light: LightModel | None = None
    is_sparse: bool = False

    @cached_property
    def prompts(self) -> Prompts:
        """The prompt of each role: that of the options, else the model's own; empty if it has none."""
        return {role: self.options.get(f"{role}_prompt", self.own_prompts.get(role, "")) for role in ROLES}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all files of the model and its tokenizer, and of all options that change vectors."""
        folder = self.found.folder
        files = hashes_of(folder, self.files)
        settings = {name: self.options.get(name) for name in (*OF_VECTORS, "max_length")}
        dtype = self.options.get("dtype", "float32")
        runs_own_code = self.runtime.trust_remote_code and bool(own_code(folder))
        return content_hash([self.scheme, files, self.prompts, {**settings, **self.settings}, dtype, runs_own_code])

    @cached_property
    def card(self) -> Card:
        """The properties of the encoder that its files contain."""
        head = f"{self.scheme}:{self.name}"
        spec = [f"{name}={'true' if value is True else value}" for name, value in sorted(self.options.items())]
        # Whoever sets a prompt, be it an empty one, has chosen.
        has_chosen = any(self.prompts.values()) or any(f"{role}_prompt" in self.options for role in ROLES)
        missing = "" if has_chosen else self.missing_prompts
        warnings = [*self.warnings, *filter(None, [missing]), *unprompted_texts(self.prompts)]
        similarity = self.options.get("similarity", self.similarity)
        if similarity not in ("cosine", "dot"):
            warnings.append(f"the model's similarity {similarity!r} is not supported; cosine is used instead")
        backend = "" if self.runtime.backend == "auto" else self.runtime.backend
        return Card(
            ",".join([head, *spec]),
            target=head,
            options=self.options,
            revision=self.found.revision,
            parameters=self.parameters,
            prompts={role: prompt for role, prompt in self.prompts.items() if prompt},
            missing_prompts=missing,
            max_tokens=self.limit,
            full=self.full,
            warnings=tuple(warnings),
            similarity=supported_similarity(similarity),
            route="light" if self.light else backend,
            is_sparse=self.is_sparse,
        )

    @cached_property
    def full(self) -> Self | None:
        """The same model without the options that are applied to finished vectors; None where there are none."""
        options = {name: value for name, value in self.options.items() if name not in OF_VECTORS}
        return None if options == self.options else replace(self, options=options)

    def derive(self, rows: VectorMatrix) -> VectorMatrix:
        """Return this encoder's vectors from those of :attr:`full`; see :func:`derived_vectors`."""
        return derived_vectors(rows, self.options)

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[Batch]:
        """Yield (indices into ``texts``, their (m, d) vectors) of each batch, each text with its role's prompt."""
        prompt = self.prompts[role]
        if "template" in self.options:
            texts, prompt = self.filled(texts, role), ""
        for places, rows in self.model.batches(texts, prompt, role):
            yield places, csr_array(rows) if self.is_sparse else self.derive(rows)

    def filled(self, texts: Sequence[str], role: Role) -> list[str]:
        """Return texts with their role's prompt, in the template."""
        template = self.options.get("template", "{text}")
        return [template.replace("{text}", self.prompts[role] + text) for text in texts]

    def batch_invariant(self) -> bool:
        """Return whether a text has the same vector in every batch, bit by bit: on the light route."""
        return self.light is not None

    def load(self) -> Runner:
        """Load the model; without the options that are applied to finished vectors, it is the same."""
        return self.full.model if self.full else self.open(self)

    def explain(self, error: Exception) -> str:
        """Return the first line of a library's error, or advice if the error is that the model needs its own code."""
        if "trust_remote_code" in str(error):
            return "the model brings its own code; if you trust it, add --trust-remote-code LABEL"
        return first_line_of(error)

    def release(self) -> None:
        """Release the loaded model; it is loaded again for the next text."""
        super().release()
        if self.full:
            self.full.release()

    def route(self) -> Route:
        """Return how the model runs, for ``run.json``. None of it changes the meaning of a vector."""
        runner: Runner | None = vars(self.full or self).get("model")
        return {"device": self.device, **(runner.route if runner else {})}

    def count_tokens(self, texts: Sequence[str], role: Role) -> Indices | None:
        """Return the number of tokens of each text before truncation: prompt, template, special tokens included.

        None if the model has no ``tokenizer.json``.
        """
        if self._tokenizer is None:
            return None
        encodings = self._tokenizer.encode_batch(self.filled(texts, role))
        # A text without tokens is encoded as one special token.
        return np.array([max(1, len(encoding.ids)) for encoding in encodings])

    @cached_property
    def _tokenizer(self) -> Tokenizer | None:
        # Without the library, which takes seconds to import.
        return read_tokenizer(self.tokens) if (self.tokens / "tokenizer.json").is_file() else None

    def training_datasets(self) -> tuple[str, ...]:
        """Return the data sets that the model card beside the model's files names as training data."""
        return training_datasets(self.found.folder)


def file_warnings(target: str, found: ModelFiles, code: Sequence[str], runtime: Runtime) -> list[str]:
    """Return warnings about the code that a model brings along, and if its files may not be those that are meant."""
    warnings = []
    if code and not runtime.trust_remote_code:
        warnings.append("the model brings its own code, which is not run without --trust-remote-code")
    elif any("--" in name for name in code):
        warnings.append("the model's code is in another repository and is not part of the fingerprint")
    # A name on the hub has one slash at most.
    if found.revision == LOCAL_FOLDER and not is_path(target) and target.count("/") <= 1:
        warnings.append(f"{target} is read from this folder, not from the hub; to be sure, write ./{target}")
    return warnings


def configured_model(kind: str, scheme: str, target: str, runtime: Runtime, options: dict[str, Any]) -> Model:
    """Find the files of a model, check them, and return it; sentence-transformers loads it as its files say.

    Parameters
    ----------
    kind
        The name of its class in sentence-transformers.
    options
        The options that differ from the defaults. The device is taken out, because it is no part of the spec.

    Raises
    ------
    ModelNotFoundError
        If the model is not available, is an adapter, or lacks a tokenizer: the library would use an empty one.
    UnknownNameError
        For an unknown device or backend.
    SpecError
        If it needs modules of its own that are not trusted.
    """
    device = options.pop("device", runtime.device)
    check_device(device)
    if runtime.backend not in BACKENDS:
        raise UnknownNameError("backend", runtime.backend, BACKENDS)
    found = find(target, options.get("revision", ""), runtime)
    folder, settings = found.folder, settings_of(found.folder, kind)
    code = own_modules(folder)
    if code and not runtime.trust_remote_code:
        raise SpecError(
            f"encoder {target!r} brings its own code ({', '.join(code)}); "
            "if you trust it, add --trust-remote-code LABEL"
        )
    if (folder / "adapter_config.json").is_file():
        raise ModelNotFoundError(f"encoder {target!r} is an adapter; merge it into its base model and save that")
    first_module, transformer = modules(folder)[0]
    # Sparse models may have an MLMTransformer.
    has_transformer = first_module.endswith("Transformer")
    needs_tokenizer = has_transformer and "tokenizer" not in options
    if needs_tokenizer and not (has_tokenizer(folder) or has_tokenizer(transformer)):
        raise ModelNotFoundError(
            f"encoder {target!r}: its folder has no tokenizer (tokenizer.json, vocab.txt …); save it beside the weights"
            ", or, with hf:, set tokenizer="
        )
    is_sparse = kind == "SparseEncoder"

    def load(model: Model) -> LibraryRunner:
        import sentence_transformers

        dtype = options.get("dtype", "float32")
        with quiet():
            loaded = getattr(sentence_transformers, kind)(
                str(folder),
                device=available_device(device),
                trust_remote_code=runtime.trust_remote_code,
                model_kwargs={"dtype": dtype},
                local_files_only=True,
            )
            if has_transformer:
                check_weights(loaded.transformers_model, transformer)
        # The files may state a shorter limit where the card does not look for it.
        limit = model.limit if "max_length" in options else loaded.max_seq_length
        return LibraryRunner(loaded, min(filter(None, (limit, model.limit)), default=None))

    return Model(
        scheme=scheme,
        name=target,
        found=found,
        runtime=runtime,
        device=device,
        files=folder_files(folder),
        tokens=transformer if (transformer / "tokenizer.json").is_file() else folder,
        options=options,
        own_prompts=configured_prompts(settings),
        limit=token_limit(folder, options.get("max_length")),
        open=load,
        parameters=parameters(folder),
        similarity=settings.get("similarity_fn_name") or ("dot" if is_sparse else "cosine"),
        is_sparse=is_sparse,
        warnings=tuple(file_warnings(target, found, own_code(folder), runtime)),
        missing_prompts=missing_prompts(settings.get("prompts") or {}),
    )
