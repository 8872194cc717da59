"""Text and tables as Markdown for GitHub.

Every text from data is escaped: in no place does it start a link, a mention, HTML, or another cell of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from embassay.core.formatting import visible
from embassay.reports.tables import Table
from embassay.run.outputs.exhibits import cell_text, remark_lines

BREAK = "&#8203;"
"""A space of no width."""
_SPECIAL = re.compile(
    r"[\\`*|~]"
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
    # An interval is no link: nothing in the file says where it would lead.
    r"|\[(?![+−]?[\d.,]+, [+−]?[\d.,]+\](?![(\[:]))"
)
"""Characters that Markdown reads where they stand."""
_HTML = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)|\$")
"""The start of a tag or an entity; and a dollar sign, after which GitHub reads mathematics."""
_LINKS = re.compile(
    r"(?<!\w)@(?=\\?\w)"  # a mention
    r"|@(?=[\w-]+\.\w)"  # an address
    r"|#(?=\d)"  # an issue
    r"|\bGH-(?=\d)"  # an issue
    r"|:(?=//)"
    r"|:(?=[a-z0-9_+-]+:)"  # an emoji
    r"|\bwww(?=\.)",
    re.IGNORECASE,
)
"""The start of what GitHub links although it is not marked as a link, which no backslash prevents."""


def escaped(text: str) -> str:
    """Return any text on one line, so that Markdown shows it as it is, also in a cell of a table."""
    plain = _SPECIAL.sub(r"\\\g<0>", visible(text))
    plain = _LINKS.sub("\\g<0>\0", plain)
    plain = _HTML.sub(lambda start: f"&#{ord(start[0])};", plain)
    # An entity written before would itself be escaped, so NUL stands for it; visible() has left none.
    return plain.replace("\0", BREAK)


def folded(title: str, content: str) -> str:
    """Return Markdown in a block that is closed at first.

    Parameters
    ----------
    title
        Any text. It stands in HTML, where Markdown's backslashes would be shown.
    content
        Markdown.
    """
    shown = escape(_LINKS.sub("\\g<0>\0", visible(title))).replace("\0", BREAK)
    return f"<details><summary>{shown}</summary>\n\n{content}\n\n</details>"


def table_lines(table: Table) -> str:
    """Return a table of the report in GitHub's Markdown, with its remarks below it."""
    rows = [list(table.head), *([cell_text(cell, table) for cell in row] for row in table.rows)]
    lines = [f"| {' | '.join(map(escaped, row))} |" for row in rows]
    lines.insert(1, f"| {' | '.join('--:' if is_numeric else '---' for is_numeric in table.numeric)} |")
    return "\n".join([*lines, *(f"\n{escaped(remark)}" for remark in remark_lines(table))])


def plain_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, with aligned columns so that it can also be read as plain text."""
    # A line break or a bar within a cell would break the table.
    lines = [[" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in (head, *rows)]
    widths = [max(3, *map(len, cells)) for cells in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)
