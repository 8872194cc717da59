"""The prompt for each role, among the named prompts of a sentence-transformers model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from embassay.core.errors import begun
from embassay.models.base import Prompts

DOCUMENT = ("document", "passage", "corpus")
"""Names of document prompts in configurations, in the order of preference.

Empty prompts are skipped. sentence-transformers 6.2 adds ``"document": ""`` to every configuration that it loads or
saves, and its ``encode_document`` uses the first of these names that exists. So it ignores a prompt named ``passage``,
although the model was trained with it and the library's documentation promises to use it.
"""


def by_role(prompts: Mapping[str, str | None], default: str | None) -> Prompts:
    """Return the prompt of each role; empty if it has none.

    Parameters
    ----------
    prompts
        The model's prompts by their names in its configuration.
    default
        The name of the prompt for plain texts.
    """
    documents = filter(None, map(prompts.get, DOCUMENT))
    return {
        "text": prompts.get(default or "") or "",
        "query": prompts.get("query") or "",
        "document": next(documents, ""),
    }


def missing_prompts(prompts: Mapping[str, str]) -> str:
    """Return which prompts of a model are of no role; an empty text if it has none.

    Parameters
    ----------
    prompts
        The prompts by their names in its configuration.
    """
    named = [f"{name} ({begun(prompt)!r})" for name, prompt in prompts.items() if prompt]
    return f"the model's files name prompts that are not used: {', '.join(named)}" if named else ""


def unprompted_texts(prompts: Mapping[Any, str]) -> list[str]:
    """Return a warning if a model, whose prompts are given by role, has one for queries and none for plain texts."""
    if not prompts.get("query") or prompts.get("text"):
        return []
    return ["the model has a prompt for queries but none for plain texts; plain texts are encoded without a prompt"]
