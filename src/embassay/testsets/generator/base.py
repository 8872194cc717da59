"""Prompts with placeholders, and a generator's replies."""

from __future__ import annotations

import re
from typing import NamedTuple

from embassay.core.errors import SpecError

_PLACE = re.compile(r"\{(\w+)\}")


class Reply(NamedTuple):
    """The result of a prompt: a text, or a problem, a short phrase to read, which is counted."""

    text: str = ""
    problem: str = ""


def filled(prompt: str, **texts: str) -> str:
    """Return a prompt with texts in place of its placeholders; braces in the texts, and other braces, stay.

    Raises
    ------
    SpecError
        If the prompt lacks the placeholder of a text.
    """
    for place in texts:
        if f"{{{place}}}" not in prompt:
            raise SpecError(f"the prompt lacks the placeholder {{{place}}}")
    # In one pass, because a text may itself contain a placeholder.
    return _PLACE.sub(lambda match: texts.get(match[1], match[0]), prompt)
