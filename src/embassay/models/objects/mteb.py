"""A model of the mteb registry by its name there, with the prompts that mteb knows for it.

The registry contains the loader, the revision and the prompts of each model.
"""

from __future__ import annotations

import importlib.metadata
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.samples.base import Role
from embassay.core.types import Runtime
from embassay.core.vectors import DenseVectors
from embassay.models.base import Batch, Route
from embassay.models.limits import Count
from embassay.models.neural.batching import Runner, windows
from embassay.models.neural.library import available_device, quiet
from embassay.models.neural.locations import ModelFiles
from embassay.models.neural.model import Model, explicit
from embassay.models.objects.matrices import off_device

if TYPE_CHECKING:
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models import EncoderProtocol, ModelMeta

EXTRA = "mteb"
REQUIRES = ("mteb", "torch", "transformers", "sentence_transformers")
TARGET = "NAME"
BATCH = 32
"""Texts per batch."""
MANY = {"cross-encoder", "hybrid", "late-interaction", "sparse"}
"""Kinds of models that do not return one dense vector per text."""
PLAIN = (
    "sentence_transformer_wrapper.SentenceTransformerEncoderWrapper "
    "sentence_transformer_wrapper.sentence_transformers_loader instruct_wrapper.InstructSentenceTransformerModel "
    "model_implementations.kalm_models.KALMWrapper model_implementations.model2vec_models.Model2VecModel "
    "model_implementations.qwen3_models.q3e_instruct_loader model_implementations.uae_models.UAEWrapper "
    "model_implementations.random_baseline.RandomEncoderBaseline"
).split()
"""Loaders of mteb 2.26.24, in ``mteb.models``, that run no code of a repository unless an option allows it.

The list names the safe loaders, so that a loader that a later mteb adds is not trusted.
"""
SAME = "Retrieve semantically similar text."
ANSWERS = {"query": "Retrieve text based on user query.", "document": "Retrieve text based on user query."}
"""The instructions of mteb's own similarity and retrieval tasks, for models that take instructions."""
PROMPTS: Mapping[Role, tuple[str, ...]] = {
    "text": ("STS",),
    "query": ("Retrieval-query", "Retrieval", "query"),
    "document": ("Retrieval-document", "Retrieval", "document"),
}
"""The names under which mteb looks for the prompt of a role; the first one that exists is used."""


@dataclass
class RegistryRunner(Runner):
    """A model that mteb has loaded."""

    model: EncoderProtocol
    version: str

    @property
    def route(self) -> Route:
        """The version of mteb, for ``run.json``."""
        return {"mteb": self.version}

    def batches(self, texts: Sequence[str], prompt: str, role: Role) -> Iterator[Batch]:
        """Yield (indices into ``texts``, their (m, d) vectors), longest texts first; mteb adds the prompt."""
        for window in windows(texts):
            yield window, encode(self.model, [texts[place] for place in window], role)


def create(target: str, runtime: Runtime, *, dim: Count | None = None) -> Model:
    """Look the model up in the registry; it is loaded when the first text is encoded.

    Parameters
    ----------
    target
        Its name in mteb's registry: ``intfloat/e5-small-v2``.
    dim
        Number of dimensions, for models that offer a choice.

    Raises
    ------
    UnknownNameError
        If the registry has no such model.
    SpecError
        If it gives no vector for a text, or may run code of its own that is not trusted.
    """
    import mteb

    place = f"encoder 'mteb:{target}'"
    options = explicit(create, {"dim": dim})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about renamed models
            meta = mteb.get_model_meta(target)
    except KeyError:
        names = [known.name for known in mteb.get_model_metas() if known.name]
        raise UnknownNameError("model of mteb's registry", target, names) from None
    if not meta.loader or MANY.intersection(meta.model_type or ()) or "text" not in (meta.modalities or ["text"]):
        raise SpecError(f"{place} does not return one vector per text, or mteb lists its scores only")
    if runs_own_code(meta) and not runtime.trust_remote_code:
        raise SpecError(f"{place} may run its own code; if you trust it, add --trust-remote-code LABEL")
    prompts = prompts_of(meta.loader_kwargs.get("model_prompts") or {})
    notes = []
    if not re.fullmatch(r"[0-9a-f]{40}", meta.revision or "") or "API" in meta.framework:
        notes.append("mteb's registry names no commit of this model: a change of its weights is not noticed")
    version = importlib.metadata.version("mteb")
    # Functions among the settings are written with their place in memory.
    settings = re.sub(r" at 0x\w+", "", repr([meta.experiment_kwargs, meta.loader_kwargs]))

    def load(model: Model) -> RegistryRunner:
        with quiet(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return RegistryRunner(meta.load_model(device=available_device(runtime.device), embed_dim=dim), version)

    return Model(
        scheme="mteb",
        name=target,
        found=ModelFiles(Path(), meta.revision or ""),
        runtime=runtime,
        device=runtime.device,
        files={},
        options=options,
        own_prompts=prompts,
        own_limit=int(meta.max_tokens) if meta.max_tokens and np.isfinite(meta.max_tokens) else None,
        open=load,
        parameters=meta.n_parameters,
        similarity=similarity_of(meta),
        settings={"model": [meta.revision, version, loader_name(meta), settings], "instructions": [SAME, ANSWERS]},
        warnings=tuple(notes),
    )


def prompts_of(model_prompts: Mapping[str, str]) -> dict[Role, str]:
    """Return the prompts by role, for roles that have one among a model's named prompts."""
    prompts: dict[Role, str] = {}
    for role, names in PROMPTS.items():
        for name in names:
            if model_prompts.get(name):
                prompts.setdefault(role, model_prompts[name])
    return prompts


def similarity_of(meta: ModelMeta) -> str:
    """Return the similarity in a model's metadata: ``cosine``, ``dot`` …; ``cosine`` if it has none."""
    return str(getattr(meta.similarity_fn_name, "value", "cosine"))


def encode(model: EncoderProtocol, texts: Sequence[str], role: Role) -> DenseVectors:
    """Return the (n, d) float32 vectors of texts by a model that mteb has loaded; mteb adds the prompt.

    Queries and documents are encoded as in mteb's retrieval tasks, plain texts as in its similarity tasks (STS).
    """
    from datasets import Dataset
    from mteb.types import PromptType
    from torch.utils.data import DataLoader

    columns = {"text": list(texts)}
    if role == "query":
        columns["query"] = columns["text"]
    if role == "document":
        columns |= {"title": [""] * len(texts), "body": columns["text"]}
    rows = model.encode(
        DataLoader(Dataset.from_dict(columns), batch_size=BATCH),
        task_metadata=task_of(role),
        hf_split="test",
        hf_subset="default",
        prompt_type=None if role == "text" else PromptType(role),
        batch_size=BATCH,
        show_progress_bar=False,
    )
    return np.asarray(off_device(rows), dtype=np.float32)


@cache
def task_of(role: Role) -> TaskMetadata:
    """Return the metadata of a generic task: retrieval for queries and documents, similarity (STS) for plain texts."""
    from mteb.abstasks.task_metadata import TaskMetadata

    return TaskMetadata(
        name="Embassay",
        description="Texts of a corpus.",
        dataset={"path": "embassay", "revision": "none"},
        type="STS" if role == "text" else "Retrieval",
        prompt=SAME if role == "text" else ANSWERS,
        eval_langs=["eng-Latn"],
        main_score="main",
    )


def runs_own_code(meta: ModelMeta) -> bool:
    """Return whether code of the model's repository may run when it is loaded.

    Every loader that is not in :data:`PLAIN` may run it, except loaders of services, which load no model.
    """
    if re.search(r"'trust_remote_code': (?!False)", repr([meta.experiment_kwargs, meta.loader_kwargs])):
        return True
    return "API" not in meta.framework and loader_name(meta).removeprefix("mteb.models.") not in PLAIN


def loader_name(meta: ModelMeta) -> str:
    """Return the loader's full name: ``module.qualname``."""
    loader = getattr(meta.loader, "func", meta.loader)
    return f"{loader.__module__}.{loader.__qualname__}"
