"""A model of the mteb registry by its name there, with the prompts that mteb knows for it.

The registry contains the loader, the revision and the prompts of each model.
"""

from __future__ import annotations

import importlib.metadata
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.samples.base import Role
from embassay.core.types import Card, Runtime, check_device, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import Route, spec_of, supported_similarity
from embassay.models.checks import check_whole
from embassay.models.loaded import LoadedEncoder
from embassay.models.neural.library import available_device, quiet, reason
from embassay.models.objects.mteb_model import ANSWERS, SAME, encode, similarity_of
from embassay.models.objects.mteb_registry import known_prompts, loader_name, odd_prompts, runs_own_code, written

if TYPE_CHECKING:
    from mteb.models import EncoderProtocol, ModelMeta

EXTRA = "mteb"
REQUIRES = ("mteb", "torch", "transformers", "sentence_transformers")
TARGET = "NAME"
MANY = ("cross-encoder", "hybrid", "late-interaction", "sparse")
"""Kinds of models that do not return one dense vector per text."""


def create(target: str, runtime: Runtime, *, device: str = "", dim: int | None = None, batch: int = 32) -> MtebEncoder:
    """Look the model up in the registry; it is loaded when the first text is encoded.

    Parameters
    ----------
    target
        Its name in mteb's registry: ``intfloat/e5-small-v2``.
    device
        Where to run: ``cpu``, ``cuda:0`` …; the run's device by default.
    dim
        Number of dimensions, for models that offer a choice.
    batch
        Texts per batch.

    Raises
    ------
    UnknownNameError
        If the registry has no such model.
    SpecError
        If it gives no vector for a text, has no such number of dimensions, or may run code of its own that is not
        trusted.
    """
    place = f"encoder 'mteb:{target}'"
    check_whole(place, dim=dim, batch=batch)
    device = device or runtime.device
    check_device(device)
    meta = _meta(target)
    if meta.loader is None:
        raise SpecError(f"{place}: mteb lists the scores of this model but cannot load it")
    if kinds := set(meta.model_type or ()) & set(MANY):
        raise SpecError(f"{place}: {min(kinds)} models do not return one vector per text")
    if meta.modalities and "text" not in meta.modalities:
        raise SpecError(f"{place}: the model reads only {' and '.join(sorted(meta.modalities))}, not text")
    # The registry lacks the dimensions of a few models.
    offered = [meta.embed_dim] if isinstance(meta.embed_dim, int) else list(meta.embed_dim or ())
    if dim and offered and dim not in offered:
        raise SpecError(f"{place}, option 'dim': must be {' or '.join(map(str, offered))}, is {dim}")
    if runs_own_code(meta) and not runtime.trust_remote_code:
        raise SpecError(f"{place} may run its own code; if you trust it, add --trust-remote-code LABEL")
    return MtebEncoder(target, meta, runtime, device, dim, batch)


@dataclass(frozen=True, eq=False)
class MtebEncoder(LoadedEncoder["EncoderProtocol"]):
    """A model of the registry; it is loaded when the first text is encoded.

    Attributes
    ----------
    meta
        mteb's ``ModelMeta``.
    """

    name: str
    meta: ModelMeta = field(repr=False)
    runtime: Runtime = field(repr=False)
    device: str = "auto"
    dim: int | None = None
    batch: int = 32

    @property
    def card(self) -> Card:
        """The properties of the model in the registry."""
        tokens = self.meta.max_tokens
        has_limit = tokens and np.isfinite(tokens)
        return Card(
            spec_of(f"mteb:{self.name}", {"dim": self.dim}),
            target=f"mteb:{self.name}",
            options={"dim": self.dim} if self.dim else {},
            revision=self.meta.revision or "",
            parameters=self.meta.n_parameters,
            max_tokens=int(tokens) if has_limit else None,
            prompts=known_prompts(self.meta),
            warnings=(*odd_prompts(self.meta), *self._identity_warnings()),
            similarity=supported_similarity(similarity_of(self.meta)),
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of name, revision, mteb's version, loader, settings, and the instructions put before texts."""
        # Everything in the registry that its vectors depend on.
        settings = {**(self.meta.experiment_kwargs or {}), **self.meta.loader_kwargs}
        version = importlib.metadata.version("mteb")
        model = [self.name, self.meta.revision, version, loader_name(self.meta), written(settings), self.dim]
        return content_hash(["mteb", *model, SAME, ANSWERS])

    def route(self) -> Route:
        """Return how the model runs, for ``run.json``."""
        return {"device": self.device, "batch": self.batch, "mteb": importlib.metadata.version("mteb")}

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32, each text with its role's prompt.

        Raises
        ------
        EncoderError
            If the model cannot be loaded.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        return encode(self.model, texts, role, self.batch)

    def load(self) -> EncoderProtocol:
        """Load the model with the registry's loader."""
        device = available_device(self.device)
        with quiet(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.meta.load_model(device=device, embed_dim=self.dim)

    def explain(self, error: Exception) -> str:
        """Return the first line of mteb's error."""
        return reason(error)

    def _identity_warnings(self) -> list[str]:
        """Return a warning if the fingerprint does not identify the weights."""
        has_commit = re.fullmatch(r"[0-9a-f]{40}", self.meta.revision or "") is not None
        if has_commit and "API" not in self.meta.framework:
            return []
        return ["mteb's registry names no commit of this model: a change of its weights is not noticed"]


def _meta(target: str) -> ModelMeta:
    """Return the entry of a model in mteb's registry."""
    import mteb

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about renamed models
            return mteb.get_model_meta(target)
    except KeyError:
        names = [meta.name for meta in mteb.get_model_metas() if meta.name]
        raise UnknownNameError("model of mteb's registry", target, names) from None
