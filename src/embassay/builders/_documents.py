"""The documents that a test set is built from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from embassay.builders._built import Reading
from embassay.corpora.io.documents import SourceDocument, read_documents
from embassay.corpora.io.jsonl import text_field

GIVEN = Path("documents")
"""What messages call documents that come from no file."""


def given(texts: Sequence[str | SourceDocument]) -> tuple[SourceDocument, ...]:
    """Return documents that are given in Python; texts are numbered from 1.

    Raises
    ------
    SourceError
        For a text that is blank or no text at all.
    """
    found = (SourceDocument(str(n), t) if isinstance(t, str) else t for n, t in enumerate(texts, 1))
    return tuple(replace(each, text=text_field(each.text, GIVEN, None, f"[{n}]")) for n, each in enumerate(found, 1))


def read(
    path: Path,
    *,
    id: str = "",  # noqa: A002 - the option's name
    text: str = "",
    aside: Sequence[Path] = (),
    follow_links: bool = False,
) -> Reading:
    """Read a folder of .txt, .md, .rst and .html files, a table, a file in SQuAD's form, or one text.

    Parameters
    ----------
    id, text
        The columns of ids and of texts in a table, where they are not known ones.
    aside
        Files in the folder that are no documents.
    follow_links
        Whether what symbolic links in the folder lead to is read.

    Raises
    ------
    SourceError
        With file, line and field, for what cannot be read or has no document.
    SpecError
        If columns are named and there is no table.
    """
    return Reading(*read_documents(path, id=id, text=text, aside=aside, follow_links=follow_links))
