"""What encoders that are models with tokens share: options, prompts, devices, batches; loaded when first needed."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.neural import runner as runner_module
from embassay.encoders.neural.locations import Found
from embassay.encoders.neural.memory import check_fits, foreseen, weights
from embassay.errors import EncoderError, SpecError, UnknownNameError
from embassay.samples.base import Role
from embassay.types import Runtime, check_device

FAMILIES = {
    r"(^|[-_])e5[-_](?!.*instruct)": "query_prompt='query: ' and document_prompt='passage: '",
    r"(^|[-_])e5[-_].*instruct": "query_prompt='Instruct: …\\nQuery: '",
    r"^bge-(small|base|large)-en": "query_prompt='Represent this sentence for searching relevant passages: '",
}
"""Models that were trained with prompts which their configurations often lack: said, never put in."""
Own = TypeVar("Own", bound="NeuralEncoder")


def given_options(target: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that say something, of all; an empty prompt says that there is none.

    Raises
    ------
    SpecError
        For a length or a dimension under 1.
    """
    for name in ("max_length", "dim"):
        if (value := options[name]) is not None and value < 1:
            raise SpecError(f"encoder {target!r}, option {name!r}: must be 1 or more, is {value}")
    prompts = {f"{role}_prompt" for role in ("query", "document", "text")}
    said = {name: value for name, value in options.items() if value is not None and value is not False}
    return {name: value for name, value in said.items() if value != "" or name in prompts}


def check_place(device: str, backend: str, routes: Sequence[str]) -> None:
    """Refuse a device or a backend that has no such name."""
    check_device(device)
    if backend not in ("auto", *routes):
        raise UnknownNameError("backend", backend, ("auto", *routes))


@dataclass(frozen=True)
class NeuralEncoder(ABC):
    """A model that reads tokens; nothing of it is loaded before the first text has to be encoded.

    Attributes
    ----------
    target
        The model's name, or its folder's.
    given
        The options that were given, by name, but for those of the place where it runs.
    """

    target: str
    found: Found
    runtime: Runtime = field(repr=False)
    device: str = "auto"
    dtype: str = "float32"
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model's name, or its folder's."""
        return self.target

    def fit(self: Own, texts: Sequence[str]) -> Own:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> NDArray[np.float32]:
        """Return (n, d) float32, each text with its role's prompt; equal texts are encoded once."""
        row = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        found = list(self.batches(list(row), role))
        if not found:
            return np.zeros((0, self.given.get("dim") or 1), dtype=np.float32)
        matrix = np.empty((len(row), found[0][1].shape[1]), dtype=np.float32)
        for places, rows in found:
            matrix[places] = rows
        return matrix[[row[text] for text in texts]]

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield (places in ``texts``, their vectors) batch by batch, so that each can be kept when it is ready."""
        for places, rows in runner_module.run(self._runners, texts, self._prompts[role]):
            if (asked := self.given.get("dim")) and rows.shape[1] < asked:
                raise EncoderError(f"it has {rows.shape[1]} dimensions, dim={asked} asks for more")
            yield places, rows

    def reworded(self: Own, role: Role) -> Iterator[Own]:
        """Yield the same model with other wordings of a role's prompt; nothing where it has none."""
        prompt = self._prompts[role]
        for wording in _reworded(prompt) if prompt else ():
            other = replace(self, given={**self.given, f"{role}_prompt": wording})
            vars(other)["_runners"] = self._runners
            yield other

    @property
    def route(self) -> Mapping[str, Any]:
        """How it runs, for ``run.json``: nothing of it changes what a vector means."""
        runners: Sequence[runner_module.Runs] = vars(self).get("_runners", ())
        devices = ",".join(str(runner.model.device) for runner in runners) or self.device
        how: dict[str, Any] = {"device": devices, "dtype": self.dtype}
        if runners:
            how |= {"backend": runners[0].route, "tokens_per_batch": runners[0].tokens}
            how["batch_invariant"] = all(runner.batch_invariant for runner in runners)
        return how

    @property
    def batch_invariant(self) -> bool:
        """Whether a text has the same vector in every batch, bit by bit; the model is loaded to find out."""
        return all(runner.batch_invariant for runner in self._runners)

    def release(self) -> None:
        """Let go of the loaded model; the next text loads it again."""
        vars(self).pop("_runners", None)

    @property
    @abstractmethod
    def _prompts(self) -> Mapping[Role, str]:
        """The prompt of each role; empty where it has none."""

    @abstractmethod
    def _model(self, device: str) -> Any:
        """Load the model onto a device."""

    @abstractmethod
    def _ready(self, model: Any, backend: str) -> runner_module.Runs:
        """Make a loaded model ready to run, by the route that is forced or the fastest."""

    @property
    @abstractmethod
    def _routes(self) -> Sequence[str]:
        """The names of its routes, the fastest first."""

    @property
    def _size(self) -> int:
        """Bytes of its weights in memory; 0 where that is not known."""
        return weights(self.found.folder, self.dtype)

    @property
    def _devices(self) -> list[str]:
        return [device.strip() for device in self.device.split(",") if device.strip()]

    @cached_property
    def _runners(self) -> list[runner_module.Runs]:
        """The model on each device, ready to run."""
        devices = [there(device) for device in self._devices]
        check_fits(self._size, self.dtype, devices)
        runners = [self._ready(self._model(device), self.runtime.backend) for device in devices]
        if len({runner.route for runner in runners}) == 1:
            return runners
        # Devices that share the work take the same route, the slowest that one of them needs.
        common = max((runner.route for runner in runners), key=list(self._routes).index)
        return [self._ready(runner.model, common) for runner in runners]

    def _prompt_warnings(self) -> list[str]:
        """Say which prompts seem to be missing."""
        found = []
        if self._prompts["query"] and not self._prompts["text"]:
            found.append("it has a prompt for queries but none for plain texts: plain texts get none")
        wanted = [p for pattern, p in FAMILIES.items() if re.search(pattern, self.target.rsplit("/", 1)[-1].lower())]
        if wanted and not any(self._prompts.values()):
            found.append(f"it is named like a family that was trained with {wanted[0]}, and has no prompt here")
        return found

    def _size_warnings(self) -> list[str]:
        """Say what will not fit into the memory of the place where it is to run."""
        return [said] if (said := foreseen(self._size, self.dtype, self.device)) else []


def there(device: str) -> str:
    """Return a device that torch can use here; for ``auto`` the fastest kind that there is.

    Raises
    ------
    EncoderError
        If there is none of that name.
    """
    import torch

    kind, _, number = device.partition(":")
    if kind == "auto":
        from sentence_transformers.util import get_device_name

        return str(get_device_name())
    if kind == "cuda" and not torch.cuda.is_available():
        raise EncoderError(f"the device {device!r} was asked for, but torch sees no CUDA GPU; leave --device out")
    if kind == "cuda" and number and int(number) >= torch.cuda.device_count():
        raise EncoderError(f"the device {device!r} was asked for, but there are {torch.cuda.device_count()} CUDA GPUs")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise EncoderError("the device 'mps' was asked for, but torch sees none; leave --device out")
    return device


@contextmanager
def quiet(*, reports: bool = True) -> Iterator[None]:
    """Keep the library from drawing bars while it loads; without ``reports`` also from listing unused weights."""
    from transformers.utils import logging

    bar, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    if not reports:
        logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


def reason(error: Exception) -> str:
    """Return the first line of what a library says, or that it wants to run a model's own code."""
    if "trust_remote_code" in str(error):
        return "it brings its own code; if you trust it, add --trust-remote-code LABEL"
    return next((line.strip() for line in str(error).split("\n") if line.strip()), type(error).__name__)


def _reworded(prompt: str) -> tuple[str, ...]:
    """Return other wordings of a prompt: without its last sign, in capitals, and as two other families put it."""
    bare = prompt.rstrip().rstrip(":")
    wordings = (f"{bare} ", f"{prompt.rstrip().upper()} ", "Text: ", "Represent this text: ")
    return tuple(wording for wording in dict.fromkeys(wordings) if wording != prompt)
