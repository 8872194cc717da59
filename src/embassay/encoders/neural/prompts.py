"""Which of the prompts that a sentence-transformers model keeps stands before a text of each role."""

from __future__ import annotations

from collections.abc import Mapping

from embassay.samples.base import Role

DOCUMENT = ("document", "passage", "corpus")
"""The names under which models keep a document prompt, in the order in which they are looked for.

An empty one says nothing. sentence-transformers 6.2 adds ``"document": ""`` to every configuration, when it loads a
model and when it saves one, and its ``encode_document`` takes the first name that is there. So it leaves out the prompt
of a model that keeps one as ``passage``, which its own documentation promises to take, and which the model was trained
with.
"""


def by_role(prompts: Mapping[str, str | None], default: str | None) -> dict[Role, str]:
    """Return the prompt of each role, empty where it has none.

    Parameters
    ----------
    prompts
        The model's own, by the names that its configuration gives them.
    default
        The name of the one that stands before plain texts.
    """
    return {
        "text": prompts.get(default or "") or "",
        "query": prompts.get("query") or "",
        "document": next((prompt for name in DOCUMENT if (prompt := prompts.get(name))), ""),
    }


def overlooked(prompts: Mapping[str, str | None]) -> str:
    """Return the name of a document prompt that sentence-transformers itself leaves out; empty where it does not."""
    return "" if prompts.get("document") else next((name for name in DOCUMENT if prompts.get(name)), "")
