"""The entries of mteb's registry: whether a model runs its own code, and its prompts; no model is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from embassay.core.samples.base import ROLES
from embassay.models.neural.prompts import unprompted_texts
from embassay.models.objects.mteb_model import ANSWERS, SAME, instruction, prompts_of

if TYPE_CHECKING:
    from mteb.models import ModelMeta

WRAPPER = "mteb.models.sentence_transformer_wrapper.SentenceTransformerEncoderWrapper"
INSTRUCTED = "mteb.models.instruct_wrapper.InstructSentenceTransformerModel"
PLAIN = frozenset(
    {
        WRAPPER,
        INSTRUCTED,
        "mteb.models.sentence_transformer_wrapper.sentence_transformers_loader",
        "mteb.models.model_implementations.kalm_models.KALMWrapper",
        "mteb.models.model_implementations.model2vec_models.Model2VecModel",
        "mteb.models.model_implementations.qwen3_models.q3e_instruct_loader",
        "mteb.models.model_implementations.random_baseline.RandomEncoderBaseline",
        "mteb.models.model_implementations.uae_models.UAEWrapper",
    }
)
"""Loaders of mteb 2.26.24 that run no code of a model's repository unless an option allows it."""
TRUST = "trust_remote_code"


def runs_own_code(meta: ModelMeta) -> bool:
    """Return whether code of the model's repository may run when it is loaded.

    Every loader that is not in :data:`PLAIN` may run it, except those of services, which load no model.
    """
    if _asks_for_trust(meta.loader_kwargs) or _asks_for_trust(meta.experiment_kwargs or {}):
        return True
    # The list names the safe loaders, so that a loader that a later mteb adds is not trusted.
    return "API" not in meta.framework and loader_name(meta) not in PLAIN


def loader_name(meta: ModelMeta) -> str:
    """Return the loader's full name: ``module.qualname``."""
    return _place(getattr(meta.loader, "func", meta.loader))


def known_prompts(meta: ModelMeta) -> dict[str, str]:
    """Return the prompts by role that the registry contains; roles without a prompt are left out."""
    if loader_name(meta) == INSTRUCTED:
        instructions = {role: instruction(meta.loader_kwargs, role) for role in ROLES}
        return {role: text for role, text in instructions.items() if text}
    return prompts_of(meta.loader_kwargs.get("model_prompts") or {})


def odd_prompts(meta: ModelMeta) -> list[str]:
    """Return warnings about missing prompts, and about prompts that are unknown before the model is loaded."""
    prompts = known_prompts(meta)
    if prompts or not meta.use_instructions or loader_name(meta) == INSTRUCTED:
        return unprompted_texts(prompts)
    if loader_name(meta) == WRAPPER:
        return [
            "the model uses prompts from its own files, which mteb's registry does not list; they are not shown here"
        ]
    return [
        f"the model takes instructions in a format that mteb's registry does not give: plain texts get {SAME!r}, "
        f"queries and perhaps documents get {ANSWERS['query']!r}"
    ]


def written(value: object) -> object:
    """Return a setting as JSON values that are the same in every process; functions and classes by their full name."""
    if isinstance(value, partial):
        return ["partial", written(value.func), written(value.args), written(value.keywords)]
    if isinstance(value, Mapping):
        by_name = {str(name): written(part) for name, part in value.items()}
        return dict(sorted(by_name.items()))
    if isinstance(value, (list, tuple)):
        return [written(part) for part in value]
    if callable(value):
        return _place(value)
    return repr(value)


def _asks_for_trust(settings: Mapping[str, object]) -> bool:
    """Return whether settings, or settings nested in them, allow a loader to run a repository's code."""
    if settings.get(TRUST):
        return True
    return any(_asks_for_trust(value) for value in settings.values() if isinstance(value, Mapping))


def _place(thing: object) -> str:
    """Return the full name of a function or class, or of an object's class."""
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{kind.__module__}.{kind.__qualname__}"
