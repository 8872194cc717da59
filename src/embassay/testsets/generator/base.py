"""Prompts with placeholders, and a generator's replies."""

from __future__ import annotations

from typing import NamedTuple

from embassay.core.errors import SpecError


class Reply(NamedTuple):
    """The result of a prompt: a text, or a problem, a short phrase to read, which is counted."""

    text: str = ""
    problem: str = ""


def filled(prompt: str, **texts: str) -> str:
    """Return a prompt with texts in place of its placeholders; other braces stay.

    Raises
    ------
    SpecError
        If the prompt lacks the placeholder of a text.
    """
    for place, text in texts.items():
        placeholder = f"{{{place}}}"
        if placeholder not in prompt:
            raise SpecError(f"the prompt lacks the placeholder {placeholder}")
        prompt = prompt.replace(placeholder, text)
    return prompt
