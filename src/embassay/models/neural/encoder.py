"""Neural models: the common part of ``st:`` and ``hf:``, whose models run on the light route or with torch."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from embassay.core.errors import ModelNotFoundError, SpecError
from embassay.core.types import Card, Runtime
from embassay.models.base import Route
from embassay.models.light.model import LightModel
from embassay.models.light.runner import LIGHT_TOKENS, LightRunner
from embassay.models.neural.batching import Runner
from embassay.models.neural.locations import LOCAL_FOLDER, ModelFiles, is_path
from embassay.models.neural.model_card import training_datasets
from embassay.models.neural.model_options import ModelOptions
from embassay.models.neural.prompted import PromptedEncoder
from embassay.models.neural.weights import parameters

FAMILIES = {
    r"(^|[-_])e5[-_](?!.*instruct)": "query_prompt='query: ' and document_prompt='passage: '",
    r"(^|[-_])e5[-_].*instruct": "query_prompt='Instruct: …\\nQuery: '",
    r"^bge-(small|base|large)-en": "query_prompt='Represent this sentence for searching relevant passages: '",
}
"""Patterns of model names, and the prompts that these models were trained with. Their configurations often lack the
prompts; a warning names them, but they are never added."""


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
        The options of the spec; the device is not among them.
    light
        The model for the light route; None for the routes with torch.
    """

    scheme: ClassVar[str]
    target: str
    found: ModelFiles
    runtime: Runtime = field(repr=False)
    device: str = "auto"
    options: ModelOptions = field(default_factory=ModelOptions)
    light: LightModel | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The model's name or folder."""
        return self.target

    @cached_property
    def card(self) -> Card:
        """The properties of the encoder that its files contain."""
        # Whoever sets a prompt, be it an empty one, has chosen.
        has_chosen = any(self.prompts.values()) or bool(self.options.prompts)
        missing = "" if has_chosen else self._known_prompts()
        # As far as it is known before loading.
        route = "" if self.runtime.backend == "auto" else self.runtime.backend
        return self._describe(
            f"{self.scheme}:{self.target}",
            self._model_similarity,
            [*self._warnings(), *filter(None, [missing]), *self._file_warnings()],
            missing_prompts=missing,
            revision=self.found.revision,
            parameters=parameters(self.folder, self._left_out),
            route="light" if self.light is not None else route,
        )

    def training_datasets(self) -> tuple[str, ...]:
        """Return the data sets that the model card beside the model's files names as training data."""
        return training_datasets(self.found.folder)

    def route(self) -> Route:
        """Return how the model runs, for ``run.json``. None of it changes the meaning of a vector."""
        if self.light is not None:
            return {
                "device": "cpu",
                "dtype": self.options.dtype,
                "backend": "light",
                "tokens_per_batch": LIGHT_TOKENS,
                "batch_invariant": True,
            }
        if self.full is not None:
            return self.full.route()
        runner: Runner | None = vars(self).get("runner")
        if runner is None:
            return {"device": self.device, "dtype": self.options.dtype}
        return {
            "device": runner.device,
            "dtype": self.options.dtype,
            "backend": runner.route,
            "tokens_per_batch": runner.tokens,
            "batch_invariant": False,
        }

    def batch_invariant(self) -> bool:
        """Return whether a text has the same vector in every batch, bit by bit: on the light route."""
        return self.light is not None

    def load_runner(self) -> Runner:
        """Load the model, and choose the route."""
        if self.light is not None:
            return LightRunner.load(self.light, self.max_tokens)
        return self._runner_of(self.load(self.device))

    @property
    def folder(self) -> Path:
        """The folder with the weights."""
        return self.found.folder

    @abstractmethod
    def load(self, device: str) -> Any:
        """Load the model onto a device; with ``auto``, where the library places it."""

    @abstractmethod
    def _runner_of(self, model: Any) -> Runner:
        """Return the runner of a loaded model."""

    @abstractmethod
    def _warnings(self) -> list[str]:
        """Return warnings about assumptions and about parts of the model that are not used."""

    @property
    def _model_similarity(self) -> str:
        """The similarity in the model's configuration."""
        return "cosine"

    @property
    def _left_out(self) -> tuple[str, ...]:
        """Beginnings of the names of tensors that are not loaded."""
        return ()

    def _code_warnings(self, code: Sequence[str]) -> list[str]:
        """Return warnings about the classes that a model brings along as code."""
        warnings = []
        if code and not self.runtime.trust_remote_code:
            warnings.append("the model brings its own code, which is not run without --trust-remote-code")
        if any("--" in name for name in code):
            warnings.append("the model's code is in another repository and is not part of the fingerprint")
        return warnings

    def _known_prompts(self) -> str:
        """Return which prompts the model was probably trained with, where none is set; an empty text if unknown."""
        name = self.target.rsplit("/", 1)[-1].lower()
        prompts = next((prompts for pattern, prompts in FAMILIES.items() if re.search(pattern, name)), "")
        if not prompts:
            return ""
        return f"the name suggests a model family that was trained with {prompts}, but no prompt is set"

    def _file_warnings(self) -> list[str]:
        """Return a warning if the files may not be those that are meant."""
        # A name on the hub has one slash at most.
        if self.found.revision == LOCAL_FOLDER and not is_path(self.target) and self.target.count("/") <= 1:
            return [f"{self.target} is read from this folder, not from the hub; to be sure, write ./{self.target}"]
        return []
