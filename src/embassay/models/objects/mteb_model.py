"""Vectors of texts in a role by a model that mteb has loaded; mteb is imported when the first text is encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.samples.base import Role
from embassay.core.vectors import DenseVectors
from embassay.models.objects.matrices import off_device

if TYPE_CHECKING:
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models import EncoderProtocol, ModelMeta

SAME = "Retrieve semantically similar text."
ANSWERS = {"query": "Retrieve text based on user query.", "document": "Retrieve text based on user query."}
"""The instructions of mteb's own similarity and retrieval tasks, for models that take instructions."""
PROMPTS: Mapping[Role, tuple[str, ...]] = {
    "text": ("STS",),
    "query": ("Retrieval-query", "Retrieval", "query"),
    "document": ("Retrieval-document", "Retrieval", "document"),
}
"""The names under which mteb looks for the prompt of a role; the first one that exists is used."""


def encode(
    model: EncoderProtocol, texts: Sequence[str], role: Role, batch: int, task: TaskMetadata | None = None
) -> DenseVectors:
    """Return the (n, d) float32 vectors of texts.

    Parameters
    ----------
    model
        A model with the methods of mteb's ``EncoderProtocol``.
    role
        Queries and documents are encoded as in mteb's retrieval tasks, plain texts as in those of similarity (STS).
    batch
        Texts per batch.
    task
        The metadata of the task by which the model chooses its prompt. Default: :func:`task_of` the role.
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
        DataLoader(Dataset.from_dict(columns), batch_size=batch),
        task_metadata=task or task_of(role),
        hf_split="test",
        hf_subset="default",
        prompt_type=None if role == "text" else PromptType(role),
        batch_size=batch,
        show_progress_bar=False,
    )
    return np.asarray(off_device(rows), dtype=np.float32)


def prompts_of(model_prompts: Mapping[str, str]) -> dict[str, str]:
    """Return the prompts by role, for roles that have one among a model's named prompts."""
    prompts = {str(role): next(filter(None, map(model_prompts.get, names)), "") for role, names in PROMPTS.items()}
    return {role: prompt for role, prompt in prompts.items() if prompt}


def similarity_of(meta: ModelMeta) -> str:
    """Return the similarity in a model's metadata: ``cosine``, ``dot`` …; ``cosine`` if it has none."""
    similarity = meta.similarity_fn_name
    return similarity.value if similarity else "cosine"


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
