"""HTML and reStructuredText as plain paragraphs: the visible text, without tags, directives and markup.

Headings become headings of Markdown (``## Title``), so that the sections of all formats are found in the same way.
"""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

UNREAD = frozenset({"script", "style", "template", "title", "svg"})
"""HTML elements whose content is not text of the page."""
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol option p pre section select summary "
    "table tbody tfoot thead tr ul".split()
)
"""HTML elements that begin and end a paragraph."""
HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
"""By HTML element the mark of a heading in Markdown."""
SPACES = frozenset({"br", "td", "th", "img", "input", "button"})
"""HTML elements that separate words without ending a paragraph."""


def html_text(source: str) -> str:
    """Return the paragraphs of an HTML page, separated by blank lines, with single spaces inside."""
    page = _Page()
    page.feed(source)
    return page.text()


class _Page(HTMLParser):
    """Collects the text of a page, block by block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._paragraphs: list[str] = []
        self._current: list[str] = []
        self._mark = ""
        self._unread: list[str] = []

    def text(self) -> str:
        """Return the paragraphs; an unfinished tag at the end is left out, as in browsers."""
        if self.rawdata and not self.rawdata.startswith("<"):
            self.handle_data(html.unescape(self.rawdata))
        self._end_paragraph()
        return "\n\n".join(self._paragraphs)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNREAD:
            self._unread.append(tag)
        elif tag in BLOCKS:
            self._end_paragraph()
            self._mark = HEADINGS.get(tag, self._mark)
        elif tag in SPACES:
            self._current.append(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # <svg/> and <script/> have no content to skip.
        if tag not in UNREAD:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._unread and tag == self._unread[-1]:
            self._unread.pop()
        elif tag in BLOCKS:
            self._end_paragraph()
            if tag in HEADINGS:
                self._mark = ""
        elif tag in SPACES:
            self._current.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self._current.append(data)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Skip ``<![…]>`` as browsers do; the standard library fails on those that it does not know."""
        return self.parse_bogus_comment(i)

    def _end_paragraph(self) -> None:
        text = " ".join("".join(self._current).split())
        if text:
            self._paragraphs.append(self._mark + text)
            # A heading is one paragraph, even if its end tag is missing.
            self._mark = ""
        self._current = []


SILENT = frozenset(
    "code code-block contents csv-table figure highlight image include index literalinclude math only parsed-literal "
    "raw sourcecode tabularcolumns tags toctree".split()
)
"""reStructuredText directives whose content is not running text."""
_DIRECTIVE = re.compile(r"\.\.\s+(?:\|[^|]+\|\s+)?([A-Za-z][\w:.+-]*?)::(?:\s+(.*))?$")
_FOOTNOTE = re.compile(r"\.\.\s+\[[^\]]+\]\s+(.*)$")
_OPTION = re.compile(r":[\w -]+:(?:\s|$)")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1\1+$")
_RULE = re.compile(r"[-=+| ]{3,}$")
_ROLE = re.compile(r"(?::[\w+.:-]{1,60}:)?`([^`<]{0,500}?)\s{0,9}(?:<[^`<>]{0,2000}>)?`_{0,2}")
_LITERAL = re.compile(r"``([^`]{1,2000})``")
_STRONG = re.compile(r"\*\*([^*\s](?:[^*]*[^*\s])?)\*\*")
_EMPHASIS = re.compile(r"(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])")


def rst_text(source: str) -> str:
    """Return a text in reStructuredText without underlines, directives, comments, targets and roles.

    The text of a note, or of another directive with running text, is kept; code, images and tables of contents are not.
    """
    kept = list[str]()
    styles = list[tuple[str, bool]]()
    lines = source.replace("\r\n", "\n").replace("\r", "\n").expandtabs(8).split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        body, indent = line.strip(), _indent(line)
        if _ADORNMENT.match(body):
            heading = _heading(lines, number - 1)
            if heading is not None and kept[-1] == lines[number - 2]:
                title, style = heading
                if style not in styles:
                    styles.append(style)
                # The first style of a file is its highest level, as in docutils.
                level = min(styles.index(style) + 1, len(HEADINGS))
                kept[-1] = f"{'#' * level} {title}"
            continue
        if _RULE.match(body) and not body.isspace():
            continue
        if not (body == ".." or body.startswith(".. ")):
            kept.append(line)
            continue
        text, number = _explicit(body, indent, lines, number)
        if text:
            kept += ["", text]
    return _without_marks("\n".join(kept))


def _heading(lines: list[str], underline: int) -> tuple[str, tuple[str, bool]] | None:
    """Return the title above an underline and its style: the character, and whether there is a line above it, too.

    None if the line is no underline: it is a transition, the line above a title, or shorter than the title.
    """
    if underline == 0:
        return None
    title, character = lines[underline - 1].strip(), lines[underline].strip()[0]
    is_long_enough = len(lines[underline].strip()) >= len(title)
    if not title or _ADORNMENT.match(title) or not is_long_enough:
        return None
    above = ""
    if underline > 1:
        above = lines[underline - 2].strip()
    has_overline = bool(_ADORNMENT.match(above)) and above[0] == character
    # A block of indented text, such as a table, has no titles; a title is indented only below an overline.
    if _indent(lines[underline - 1]) and not has_overline:
        return None
    return title, (character, has_overline)


def _explicit(body: str, indent: int, lines: list[str], number: int) -> tuple[str, int]:
    """Return the text of a block that begins with two dots, and the number of the next line to read."""
    if footnote := _FOOTNOTE.match(body):
        return footnote[1], number
    directive = _DIRECTIVE.match(body)
    if directive and directive[1].lower() not in SILENT:
        # Options such as ":class: wide" come first; the indented text after them is running text.
        while number < len(lines):
            line = lines[number]
            if _indent(line) <= indent or not _OPTION.match(line.strip()):
                break
            number += 1
        return directive[2] or "", number
    # A comment, a target or a directive without running text is dropped with everything indented below it.
    while number < len(lines):
        line = lines[number]
        if line.strip() and _indent(line) <= indent:
            break
        number += 1
    return "", number


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _without_marks(text: str) -> str:
    """Return a text without inline markup: roles, references, literals, strong text and emphasis."""
    text = re.sub(r"::[^\S\n]*$", ":", text, flags=re.MULTILINE)
    for pattern in (_LITERAL, _ROLE, _STRONG, _EMPHASIS):
        text = pattern.sub(r"\1", text)
    return text
