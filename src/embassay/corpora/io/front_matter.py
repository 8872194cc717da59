"""The front matter of a page: data about it in YAML, TOML or JSON. Site generators show its title as a heading."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping

from embassay.corpora.io.passages import collapsed

_YAML = re.compile(
    r"""
    # A blank line below the first mark makes it a rule between paragraphs, as in pandoc.
    ---[^\S\n]*\n(?=\S)
    # Text between two rules may look like data, such as "Note: it is hot". Data has a title or a key in lower case.
    (?=(?:(?!---|\.\.\.).*\n)*?["']?(?:[Tt]itle|[^\W\dA-Z_])[\w.-]*["']?[^\S\n]*:\s)
    # A key, the value of one, a comment or a blank line.
    (?:(?:["']?[\w.-]+["']?[^\S\n]*:(?:[^\S\n].*)?|[^\S\n].*|-[^\S\n].*|\#.*|[\]}].*|)\n)+?
    (?:---|\.\.\.)[^\S\n]*(?:\n|\Z)
    """,
    re.VERBOSE,
)
_TITLE = re.compile(
    r"""^["']?[Tt]itle["']?[^\S\n]*:[^\S\n]*(?:[>|][+-]?[^\S\n]*\n\s*)?"""
    r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|(.*?(?:\n[^\S\n]+\S.*)*)(?:[^\S\n]+\#.*)?$)""",
    re.MULTILINE,
)
"""The title in YAML; the last group that matches is its text."""
_TOML = re.compile(r"\+\+\+[^\S\n]*\n((?:.*\n)*?)\+\+\+[^\S\n]*(?:\n|\Z)")
_END_OF_LINE = re.compile(r"[^\S\n]*(?:\n|\Z)")


def split_front_matter(source: str) -> tuple[str | None, str]:
    """Return the title in the front matter of a page, and the text below the front matter.

    The title is empty if the front matter has none, and None if there is no front matter.
    """
    data: Mapping[str, object]
    try:
        if source.startswith("{"):
            data, end = json.JSONDecoder().raw_decode(source)
            if not _END_OF_LINE.match(source, end):
                return None, source
        elif block := _TOML.match(source):
            data, end = tomllib.loads(block[1]), block.end()
        elif block := _YAML.match(source):
            title = _TITLE.search(block[0])
            # A quotation mark in a quoted title is written with another sign before it.
            data = {"title": re.sub(r"""\\(?=["\\])|'(?=')""", "", title[title.lastindex or 0])} if title else {}
            end = block.end()
        else:
            return None, source
    except (ValueError, RecursionError):
        return None, source
    return collapsed(str(data.get("title") or "")), source[end:]
