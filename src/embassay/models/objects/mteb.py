"""A model of the mteb registry by its name there: as ``st:``, with the revision and the prompts of the registry."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.types import Runtime
from embassay.models.limits import Count
from embassay.models.neural import st
from embassay.models.neural.model import Model

EXTRA = "mteb"
REQUIRES = ("mteb", "torch", "transformers", "sentence_transformers")
TARGET = "NAME"
LOADERS = ("SentenceTransformerEncoderWrapper", "sentence_transformers_loader")
"""The loaders of mteb that load a model with sentence-transformers."""
SETTINGS = {"model_prompts", "trust_remote_code"}
"""The settings of these loaders that change nothing, or nothing that an option does not."""
PROMPTS = {
    "text_prompt": ("STS",),
    "query_prompt": ("Retrieval-query", "Retrieval", "query"),
    "document_prompt": ("Retrieval-document", "Retrieval", "document"),
}
"""The names under which mteb looks for the prompt of a role, by the option of ``st:``; the first one is used."""


def create(target: str, runtime: Runtime, *, dim: Count | None = None) -> Model:
    """Look the model up in the registry, and find its files; it is loaded when the first text is encoded.

    Parameters
    ----------
    target
        Its name in mteb's registry: ``intfloat/e5-small-v2``.
    dim
        Keep only this many leading dimensions (for Matryoshka models).

    Raises
    ------
    UnknownNameError
        If the registry has no such model.
    ModelNotFoundError
        If the model is not available.
    SpecError
        If mteb does not load it with sentence-transformers alone, or it needs code of its own that is not trusted.
    """
    import mteb

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about renamed models
            meta = mteb.get_model_meta(target)
    except KeyError:
        registered = [known.name for known in mteb.get_model_metas() if known.name]
        raise UnknownNameError("model of mteb's registry", target, registered) from None
    # A partial function has the loader's settings.
    loader = getattr(meta.loader, "func", meta.loader)
    if getattr(loader, "__name__", "") not in LOADERS or meta.loader_kwargs.keys() - SETTINGS:
        raise SpecError(
            f"encoder 'mteb:{target}': mteb has a loader or settings of its own for it; use st:{target} with its "
            "prompts, or api: for a service"
        )
    prompts = meta.loader_kwargs.get("model_prompts") or {}
    options: dict[str, Any] = {}
    for option, names in PROMPTS.items():
        for name in names:
            if prompts.get(name):
                options.setdefault(option, prompts[name])
    model = st.create(target, runtime, revision=meta.revision or "", dim=dim, **options)
    # As in mteb, prompts of the registry replace all of those in the model's files.
    replaced = {f"{role}_prompt": "" for role, prompt in model.prompts.items() if prompts and prompt}
    return replace(model, options={**replaced, **model.options})
