"""Files in SQuAD's form: articles of paragraphs, with the place of every mistake (Rajpurkar et al. 2016, 2018)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embassay.corpora.io.jsonl import KINDS, listed, text_field
from embassay.corpora.io.texts import read_text
from embassay.errors import SourceError

HEAD = 65_536
_DATA = re.compile(r'"data"\s*:\s*\[')
_INSIDE = re.compile(r'"(?:paragraphs|qas|context)"\s*:')


@dataclass(frozen=True)
class Paragraph:
    """A paragraph.

    Attributes
    ----------
    id
        The numbers of its article and of itself, from 0: ``0-3``.
    title
        Of its article; empty where it has none.
    article
        The key of its article: ``article:0``.
    """

    id: str
    text: str
    title: str
    article: str


def is_squad(head: str) -> bool:
    """Say whether a file looks like this form, by its beginning."""
    start = head.lstrip("\ufeff \t\r\n")[:HEAD]
    return start.startswith("{") and bool(_DATA.search(start) and _INSIDE.search(start))


def paragraphs(path: Path) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file, without their questions.

    Raises
    ------
    SourceError
        With file and field, for what is not of this form.
    """
    for number, article in enumerate(list_of(json_object(path), "data", path, "")):
        where = f"data[{number}]"
        title = article.get("title") if isinstance(article, dict) else None
        named = title.strip().replace("_", " ") if isinstance(title, str) else ""
        for index, paragraph in enumerate(list_of(article, "paragraphs", path, where)):
            inside = f"{where}.paragraphs[{index}]"
            text = text_field(value_of(paragraph, "context", path, inside), path, None, f"{inside}.context")
            yield Paragraph(f"{number}-{index}", text.strip(), named, f"article:{number}")


def json_object(path: Path) -> Any:
    """Return what a JSON file holds.

    Raises
    ------
    SourceError
        With file and line, for what cannot be read or is no JSON.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        empty = error.pos >= len(error.doc) and not error.doc.strip()
        raise SourceError("the file is empty" if empty else f"not JSON: {error.msg}", path, error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not JSON: {error}", path) from None


def value_of(value: Any, name: str, path: Path, where: str) -> Any:
    """Return a field of an object."""
    if not isinstance(value, dict):
        raise SourceError(f"must be an object, is {KINDS[type(value)]}", path, None, where or None)
    if name not in value:
        raise SourceError(f"missing; found {listed(sorted(value))}", path, None, f"{where}.{name}".lstrip("."))
    return value[name]


def list_of(value: Any, name: str, path: Path, where: str) -> list[Any]:
    """Return a field of an object that must be a list."""
    found = value_of(value, name, path, where)
    if not isinstance(found, list):
        raise SourceError(f"must be a list, is {KINDS[type(found)]}", path, None, f"{where}.{name}".lstrip("."))
    return found
