"""Files in SQuAD's format: articles of paragraphs, with the location of every error (Rajpurkar et al. 2016, 2018)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embassay.core.errors import SourceError
from embassay.core.tables.jsonl import KINDS
from embassay.core.tables.rows import FileRow
from embassay.core.tables.texts import read_text

HEAD = 65_536
_DATA = re.compile(r'"data"\s*:\s*\[')
_INSIDE = re.compile(r'"(?:paragraphs|qas|context)"\s*:')


@dataclass(frozen=True)
class Paragraph:
    """A paragraph.

    Attributes
    ----------
    id
        The numbers of its article and of the paragraph, from 0: ``0-3``.
    text
        As it is written in the file: answers are found by their offsets.
    title
        The title of its article; empty if it has none.
    article
        The key of its article: ``article:0``.
    row
        The paragraph in the file, with its questions.
    """

    id: str
    text: str
    title: str
    article: str
    row: FileRow


def is_squad(head: str) -> bool:
    """Return whether a file looks like this format, by its beginning."""
    start = head.lstrip("\ufeff \t\r\n")[:HEAD]
    return start.startswith("{") and bool(_DATA.search(start) and _INSIDE.search(start))


def paragraphs(path: Path) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file.

    Raises
    ------
    SourceError
        With file and field, for content that is not in this format.
    """
    top = json_object(path)
    if not isinstance(top, dict):
        raise SourceError(f"must be an object, is {KINDS[type(top)]}", path)
    for number, article in enumerate(objects(FileRow(top, path, None), "data")):
        title = article.values.get("title")
        # SQuAD writes titles as in addresses of Wikipedia: "Super_Bowl_50".
        plain_title = title.strip().replace("_", " ") if isinstance(title, str) else ""
        for index, row in enumerate(objects(article, "paragraphs")):
            yield Paragraph(f"{number}-{index}", row.text("context"), plain_title, f"article:{number}", row)


def objects(row: FileRow, field: str) -> Iterator[FileRow]:
    """Yield the objects in a list; messages name their fields by position, such as ``data[0].paragraphs``."""
    for index, value in enumerate(row.list(field)):
        yield row.object(value, f"{field}[{index}].")


def json_object(path: Path) -> Any:
    """Return the content of a JSON file.

    Raises
    ------
    SourceError
        With file and line, if it cannot be read or is not JSON.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        empty = error.pos >= len(error.doc) and not error.doc.strip()
        raise SourceError("the file is empty" if empty else f"not JSON: {error.msg}", path, error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not JSON: {error}", path) from None
