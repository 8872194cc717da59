"""The common part of encoders that run a neural model: options, prompts, devices, batches."""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.base import supported_similarity
from embassay.encoders.checks import check_whole
from embassay.encoders.neural.batching import Runner, encode_distinct, run
from embassay.encoders.neural.locations import LOCAL_FOLDER, Found, is_path
from embassay.encoders.neural.memory import check_fits, foreseen, parameters, weights
from embassay.encoders.neural.model_card import training_datasets
from embassay.encoders.neural.runner import RunnerOptions
from embassay.errors import EncoderError, ModelNotFoundError, SpecError, UnknownNameError
from embassay.samples.base import Role
from embassay.types import Card, Encoder, Runtime, check_device
from embassay.vectors import Similarity

FAMILIES = {
    r"(^|[-_])e5[-_](?!.*instruct)": "query_prompt='query: ' and document_prompt='passage: '",
    r"(^|[-_])e5[-_].*instruct": "query_prompt='Instruct: …\\nQuery: '",
    r"^bge-(small|base|large)-en": "query_prompt='Represent this sentence for searching relevant passages: '",
}
"""Patterns of model names, and the prompts that these models were trained with. Their configurations often lack the
prompts; a warning names them, but they are never added."""

DERIVED: tuple[str, ...] = ("dim", "normalize", "vectors")
"""Options that are applied to finished vectors, in this order."""


class ModelOptions(TypedDict, total=False):
    """Options of a model's spec by name; those that were not set are missing. Each scheme has some of them."""

    revision: str
    file: str
    tokenizer: str
    pooling: str
    layer: int
    template: str
    query_prompt: str
    document_prompt: str
    text_prompt: str
    max_length: int
    dim: int
    dtype: str
    normalize: bool
    similarity: Similarity
    vectors: str


def explicit_options(place: str, options: ModelOptions | Mapping[str, object]) -> ModelOptions:
    """Return the options that are set: not None, not False and, except for prompts, not empty.

    Parameters
    ----------
    place
        What the options belong to, for messages: ``"encoder 'bge-m3'"``.

    Raises
    ------
    SpecError
        For a length or a dimension under 1.
    """
    options_set: dict[str, object] = {}
    for name, value in options.items():
        # An empty prompt counts as set: it says that there is none, whatever the model's configuration says.
        is_empty = value == "" and not name.endswith("_prompt")
        if value is None or value is False or is_empty:
            continue
        options_set[name] = value
    model_options = cast("ModelOptions", options_set)
    check_whole(place, max_length=model_options.get("max_length"), dim=model_options.get("dim"))
    return model_options


def check_dimensions(place: str, options: ModelOptions, dimensions: int | None) -> None:
    """Raise SpecError if ``dim`` exceeds the number of dimensions in the model's files, None if they do not tell it.

    Parameters
    ----------
    place
        What the options belong to, for messages.
    """
    dim = options.get("dim")
    if dim is not None and dimensions is not None and dim > dimensions:
        raise SpecError(f"{place}: the model has {dimensions} dimensions, so dim={dim} is too large")


def prompt_options(options: ModelOptions) -> dict[Role, str]:
    """Return the prompts that were set, by role."""
    prompts: dict[Role, str] = {}
    if "text_prompt" in options:
        prompts["text"] = options["text_prompt"]
    if "query_prompt" in options:
        prompts["query"] = options["query_prompt"]
    if "document_prompt" in options:
        prompts["document"] = options["document_prompt"]
    return prompts


def check_place(device: str, backend: str, routes: Sequence[str]) -> None:
    """Raise an error if the device or the backend has an unknown name."""
    check_device(device)
    if backend not in ("auto", *routes):
        raise UnknownNameError("backend", backend, ("auto", *routes))


class PromptedEncoder(ABC):
    """A model with a prompt for each role, and with options that are applied to finished vectors.

    A subclass is a frozen dataclass with the field ``options``.
    """

    options: ModelOptions

    @property
    @abstractmethod
    def prompts(self) -> Mapping[Role, str]:
        """The prompt of each role; empty if it has none."""

    @abstractmethod
    def load_runners(self) -> Sequence[Runner]:
        """Load the model onto each of its devices."""

    def fit(self, texts: Sequence[str]) -> Self:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> NDArray[np.float32]:
        """Return (n, d) float32, each text with its role's prompt; equal texts are encoded once."""
        if not texts:
            return np.zeros((0, self.options.get("dim") or 1), dtype=np.float32)
        return encode_distinct(texts, lambda distinct: self.batches(distinct, role))

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield (indices into ``texts``, their (m, d) float32 vectors) of each batch as soon as it is ready."""
        for places, rows in run(self._runners, texts, self.prompts[role]):
            yield places, self.derive(rows)

    @cached_property
    def full(self) -> Self | None:
        """The same model without the options that are applied to finished vectors; None where there are none."""
        remaining = {name: value for name, value in self.options.items() if name not in DERIVED}
        if len(remaining) == len(self.options):
            return None
        # Each subclass is a dataclass.
        return cast("Self", replace(cast("Any", self), options=remaining))

    def derive(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return this encoder's vectors from those of :attr:`full`: cut, scaled to unit length, then quantised.

        Raises
        ------
        EncoderError
            If the model has fewer dimensions than ``dim``.
        """
        dim = self.options.get("dim")
        # Without texts, the number of dimensions is not known.
        if dim is not None and len(rows):
            if rows.shape[1] < dim:
                raise EncoderError(f"the model has {rows.shape[1]} dimensions, so dim={dim} is too large")
            rows = rows[:, :dim]
        if self.options.get("normalize"):
            rows = unit(rows)
        return quantized(rows, self.options.get("vectors", "float32"))

    def prepare(self) -> None:
        """Load the model onto its devices."""
        _ = self._runners

    def release(self) -> None:
        """Release the loaded model; it is loaded again for the next text."""
        vars(self).pop("_runners", None)
        if self.full is not None:
            self.full.release()

    @cached_property
    def _runners(self) -> Sequence[Runner]:
        """The loaded model on each device."""
        if self.full is not None:
            return self.full._runners
        return self.load_runners()

    def _describe(self, head: str, similarity: str, warnings: Sequence[str], **known: Any) -> Card:
        """Return the card.

        Parameters
        ----------
        head
            Scheme and target: the spec without options.
        similarity
            The model's own similarity; the option has precedence.
        known
            Other fields of the card.
        """
        prompt_warnings = []
        if self.prompts["query"] and not self.prompts["text"]:
            prompt_warnings.append(
                "the model has a prompt for queries but none for plain texts; plain texts are encoded without a prompt"
            )
        if similarity not in ("cosine", "dot") and "similarity" not in self.options:
            prompt_warnings.append(f"the model's similarity {similarity!r} is not supported; cosine is used instead")
        spec = [head]
        for name, value in sorted(self.options.items()):
            spec.append(f"{name}={'true' if value is True else value}")
        return Card(
            ",".join(spec),
            prompts={role: prompt for role, prompt in self.prompts.items() if prompt},
            # Each subclass is an encoder.
            full=cast("Encoder | None", self.full),
            warnings=(*warnings, *prompt_warnings),
            similarity=self.options.get("similarity", supported_similarity(similarity)),
            **known,
        )


def check_code(target: str, code: Sequence[str], trusted: bool) -> None:
    """Raise SpecError for a model that needs the classes ``code`` of its own, unless it is trusted."""
    if code and not trusted:
        raise SpecError(
            f"encoder {target!r} brings its own code ({', '.join(code)}); "
            "if you trust it, add --trust-remote-code LABEL"
        )


def check_no_adapter(target: str, folder: Path) -> None:
    """Raise ModelNotFoundError for the folder of an adapter, which has no weights of a whole model."""
    if (folder / "adapter_config.json").is_file():
        raise ModelNotFoundError(f"encoder {target!r} is an adapter; merge it into its base model and save that")


@dataclass(frozen=True)
class NeuralEncoder(PromptedEncoder):
    """A neural model; it is loaded when the first text is encoded.

    Attributes
    ----------
    target
        The model's name or folder.
    found
        The folder with its files, and their revision.
    options
        The options that were set, by name; the device is not among them.
    """

    scheme: ClassVar[str]
    target: str
    found: Found
    runtime: Runtime = field(repr=False)
    device: str = "auto"
    dtype: str = "float32"
    options: ModelOptions = field(default_factory=ModelOptions)

    @property
    def name(self) -> str:
        """The model's name or folder."""
        return self.target

    @cached_property
    def card(self) -> Card:
        """The properties of the encoder that its files contain."""
        return self._describe(
            f"{self.scheme}:{self.target}",
            self._model_similarity,
            [*self._warnings(), *self._family_warnings(), *self._file_warnings()],
            revision=self.found.revision,
            parameters=parameters(self.weights_folder, self._left_out),
            max_tokens=self.max_tokens,
            route=self._route_name,
        )

    def reworded(self, role: Role) -> Iterator[Self]:
        """Yield the same model with other wordings of a role's prompt; nothing if the role has no prompt."""
        prompt = self.prompts[role]
        if not prompt:
            return
        for wording in _wordings(prompt):
            reworded = cast("ModelOptions", {**self.options, f"{role}_prompt": wording})
            other = replace(self, options=reworded)
            vars(other)["_runners"] = self._runners
            yield other

    def training_datasets(self) -> tuple[str, ...]:
        """Return the data sets that the model card beside the model's files names as training data."""
        return training_datasets(self.found.folder)

    def route(self) -> Mapping[str, object]:
        """Return how the model runs, for ``run.json``. None of it changes the meaning of a vector."""
        if self.full is not None:
            return self.full.route()
        runners: Sequence[Runner] = vars(self).get("_runners", ())
        if not runners:
            return {"device": self.device, "dtype": self.dtype}
        return {
            "device": ",".join(runner.device for runner in runners),
            "dtype": self.dtype,
            "backend": runners[0].route,
            "tokens_per_batch": runners[0].tokens,
            "batch_invariant": runners[0].batch_invariant,
        }

    def batch_invariant(self) -> bool:
        """Return whether a text has the same vector in every batch, bit by bit; False before the model is loaded."""
        return bool(self.route().get("batch_invariant"))

    def load_runners(self) -> Sequence[Runner]:
        """Load the model onto each device, and choose the route."""
        devices = [there(device.strip()) for device in self.device.split(",") if device.strip()]
        check_fits(self._size, self.dtype, devices)
        options = RunnerOptions(tuple(self.prompts.values()), self.dtype, self.runtime.backend)
        return [self._runner(self.load(device), options) for device in devices]

    @property
    @abstractmethod
    def weights_folder(self) -> Path:
        """The folder with the weights."""

    @property
    @abstractmethod
    def max_tokens(self) -> int | None:
        """The number of tokens after which texts are truncated; None for no limit."""

    @abstractmethod
    def load(self, device: str) -> Any:
        """Load the model onto a device."""

    @abstractmethod
    def _runner(self, model: Any, options: RunnerOptions) -> Runner:
        """Return the runner of a loaded model."""

    @abstractmethod
    def _warnings(self) -> list[str]:
        """Return warnings about assumptions and about parts of the model that are not used."""

    @property
    def _model_similarity(self) -> str:
        """The similarity in the model's configuration."""
        return "cosine"

    @property
    def _route_name(self) -> str:
        """The route that is known before loading; empty for the one with torch."""
        return ""

    @property
    def _left_out(self) -> tuple[str, ...]:
        """Beginnings of the names of tensors that are not loaded."""
        return ()

    @property
    def _size(self) -> int:
        """Bytes of the weights in memory; 0 if unknown."""
        return weights(self.weights_folder, self.dtype, self._left_out)

    def _code_warnings(self, code: Sequence[str]) -> list[str]:
        """Return warnings about the classes that a model brings along as code."""
        warnings = []
        if code and not self.runtime.trust_remote_code:
            warnings.append("the model brings its own code, which is not run without --trust-remote-code")
        if any("--" in name for name in code):
            warnings.append("the model's code is in another repository and is not part of the fingerprint")
        return warnings

    def _family_warnings(self) -> list[str]:
        """Return a warning if the model's name suggests prompts, and none is set."""
        if any(self.prompts.values()):
            return []
        name = self.target.rsplit("/", 1)[-1].lower()
        prompts = next((prompts for pattern, prompts in FAMILIES.items() if re.search(pattern, name)), "")
        if not prompts:
            return []
        return [f"the name suggests a model family that was trained with {prompts}, but no prompt is set"]

    def _file_warnings(self) -> list[str]:
        """Return warnings if the files may not be those that are meant, or exceed the free memory of the device."""
        warnings = []
        # A name on the hub has one slash at most.
        if self.found.revision == LOCAL_FOLDER and not is_path(self.target) and self.target.count("/") <= 1:
            warnings.append(
                f"{self.target} is read from this folder, not from the hub; to be sure, write ./{self.target}"
            )
        lack = foreseen(self._size, self.dtype, self.device)
        if lack:
            warnings.append(lack)
        return warnings


def there(device: str) -> str:
    """Return the name of a device for torch; for ``auto``, the fastest kind that is available.

    Raises
    ------
    EncoderError
        If the device is not available.
    """
    import torch

    kind, _, number = device.partition(":")
    if kind == "auto":
        from sentence_transformers.util import get_device_name

        return str(get_device_name())
    if kind == "cuda" and not torch.cuda.is_available():
        raise EncoderError(f"device {device!r} is not available: torch finds no CUDA GPU; leave --device out")
    if kind == "cuda" and number and int(number) >= torch.cuda.device_count():
        raise EncoderError(f"device {device!r} is not available: torch finds {torch.cuda.device_count()} CUDA GPUs")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise EncoderError("device 'mps' is not available: torch finds no MPS device; leave --device out")
    return device


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (n, d) rows at unit length; zero vectors stay zero, as in torch's ``normalize``."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


def quantized(rows: NDArray[np.float32], kind: str) -> NDArray[np.float32]:
    """Return (n, d) vectors as float32 after quantisation to ``int8`` or ``binary``; unchanged for ``float32``.

    ``int8`` rounds each vector to 255 steps of its largest coordinate; ``binary`` keeps only signs, −1 or 1.
    """
    if kind == "int8":
        largest = np.abs(rows).max(axis=1, keepdims=True)
        # A zero vector has no largest coordinate to divide by.
        largest = np.maximum(largest, np.finfo(np.float32).tiny)
        steps = np.rint(rows / largest * 127)
        return np.asarray(steps * (largest / 127), dtype=np.float32)
    if kind == "binary":
        return np.asarray(np.where(rows > 0, 1, -1), dtype=np.float32)
    return rows


@contextmanager
def quiet(*, reports: bool = True) -> Iterator[None]:
    """Hide the library's progress bars while it loads a model; without ``reports``, also its list of unused weights."""
    from transformers.utils import logging as library

    bar, verbosity = library.is_progress_bar_enabled(), library.get_verbosity()
    library.disable_progress_bar()
    if not reports:
        library.set_verbosity_error()
    try:
        yield
    finally:
        library.set_verbosity(verbosity)
        if bar:
            library.enable_progress_bar()


@contextmanager
def quiet_loggers(*names: str) -> Iterator[None]:
    """Hide the messages that libraries log under these names."""
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def reason(error: Exception) -> str:
    """Return the first line of a library's error, or advice if the error is that the model needs its own code."""
    if "trust_remote_code" in str(error):
        return "the model brings its own code; if you trust it, add --trust-remote-code LABEL"
    return next((line.strip() for line in str(error).split("\n") if line.strip()), type(error).__name__)


def _wordings(prompt: str) -> tuple[str, ...]:
    """Return other wordings of a prompt: without its final colon, in capitals, and the prompts of two other models."""
    bare = prompt.rstrip().rstrip(":")
    wordings = (f"{bare} ", f"{prompt.rstrip().upper()} ", "Text: ", "Represent this text: ")
    return tuple(wording for wording in dict.fromkeys(wordings) if wording != prompt)
