"""The front matter of a page: data about it in YAML, TOML or JSON. Site generators show its title as a heading."""

from __future__ import annotations

import json
import re
import tomllib

from embassay.corpora.io.passages import collapsed

# A blank line below the first mark makes it a rule between paragraphs, as in pandoc.
_YAML = re.compile(r"---[^\S\n]*\n(?=\S)(.*?\n)(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[^\S\n]*\n(.*?)\n\+\+\+[^\S\n]*(?:\n|\Z)", re.DOTALL)
_JSON = re.compile(r"(\{\n.*?\n\})[^\S\n]*\n", re.DOTALL)
_KEY = re.compile(r"[Tt]itle|_?[^\W\dA-Z_][\w.-]*")
"""A key of data. Text between two rules may look like data, too: "Note: it is hot"."""


def split_front_matter(source: str) -> tuple[str | None, str]:
    """Return the title in the front matter of a page, and the text below the front matter.

    The title is empty if the front matter has none, and None if there is no front matter.
    """
    import yaml

    for pattern, read in ((_YAML, yaml.safe_load), (_TOML, tomllib.loads), (_JSON, json.loads)):
        block = pattern.match(source)
        try:
            data = read(block[1]) if block else None
        except (ValueError, RecursionError, yaml.YAMLError):
            # Not front matter of this kind: the block may be text between two rules.
            continue
        if block and isinstance(data, dict) and any(map(_is_data, data, data.values())):
            return collapsed(str(data.get("title") or data.get("Title") or "")), source[block.end() :]
    return None, source


def _is_data(key: object, value: object) -> bool:
    return not isinstance(value, str) or _KEY.fullmatch(str(key)) is not None
