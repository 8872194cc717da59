"""The vectors of texts in a role, by a model that mteb has loaded; mteb is imported when the first are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embassay.samples.base import Role

if TYPE_CHECKING:
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models import EncoderProtocol, ModelMeta

SAME = "Retrieve semantically similar text."
ANSWERS = {"query": "Retrieve text based on user query.", "document": "Retrieve text based on user query."}
"""What mteb tells a model that takes instructions, of its own tasks of similarity and of retrieval."""
PROMPTS: Mapping[Role, tuple[str, ...]] = {
    "text": ("STS",),
    "query": ("Retrieval-query", "Retrieval", "query"),
    "document": ("Retrieval-document", "Retrieval", "document"),
}
"""Under which names mteb looks for the prompt of a role, the first that there is."""


def encode(
    model: EncoderProtocol, texts: Sequence[str], role: Role, batch: int, task: TaskMetadata | None = None
) -> NDArray[np.float32]:
    """Return the (n, d) float32 vectors of texts.

    Parameters
    ----------
    model
        Follows mteb's ``EncoderProtocol``.
    role
        Queries and documents are encoded as in mteb's retrieval tasks, plain texts as in those of similarity (STS).
    batch
        Texts per batch.
    task
        The metadata of the task that the model finds its prompt by; of a nameless one by default.
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
    if hasattr(rows, "detach"):
        rows = rows.detach().cpu().float()  # a tensor of torch
    return np.asarray(rows, dtype=np.float32)


def prompts_of(model_prompts: Mapping[str, str]) -> dict[str, str]:
    """Return the prompt of each role that has one among a model's prompts."""
    prompts = {}
    for role, names in PROMPTS.items():
        for name in names:
            if model_prompts.get(name):
                prompts[str(role)] = model_prompts[name]
                break
    return prompts


def instruction(settings: Mapping[str, object], role: Role) -> str:
    """Return what mteb's loader of models that take instructions puts before a text, without loading a model.

    Parameters
    ----------
    settings
        What the loader is given: ``instruction_template``, ``prompts_dict`` …
    """
    from mteb.models.instruct_wrapper import InstructSentenceTransformerModel
    from mteb.types import PromptType

    if role == "document" and not settings.get("apply_instruction_to_passages", True):
        return ""
    # Its constructor would load the weights.
    bare = object.__new__(InstructSentenceTransformerModel)
    for name in ("instruction_template", "prompts_dict", "prompt_priority"):
        if settings.get(name) is not None:
            setattr(bare, name, settings[name])
    return str(bare.get_task_instruction(task_of(role), None if role == "text" else PromptType(role)))


def similarity_of(meta: ModelMeta | None) -> str:
    """Return what a model compares by, as its metadata have it: ``cosine``, ``dot`` …; ``cosine`` where they do not."""
    # An enum in newer versions of mteb, a text in older ones.
    similarity = getattr(meta, "similarity_fn_name", None)
    return str(getattr(similarity, "value", similarity) or "cosine")


@cache
def task_of(role: Role) -> TaskMetadata:
    """Return the metadata of a nameless task: of retrieval for queries and documents, else of similarity."""
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
