"""HTML, reStructuredText and Markdown as plain paragraphs: the visible text, without tags, directives and roles.

Headings become headings of Markdown (``## Title``) and code becomes code between fences, so that the sections of all
formats are found in the same way. Other lines that Markdown would take for one of these are indented. Line ends must be
``\\n``.
"""

from __future__ import annotations

import html
import re
import textwrap
from functools import partial
from html.parser import HTMLParser

from embassay.corpora.io.passages import collapsed

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


_LOOKS_LIKE_MARKDOWN = r"^ {0,3}(?=#{1,6}\s|(?:(?:[-*+]|\d+[.)]) +)?(?:```|~~~))"
"""The start of a line that Markdown takes for a heading or a fence."""
AS_TEXT = "    "
"""Put before such a line if it is text."""


def html_text(source: str) -> str:
    """Return the paragraphs of an HTML page, separated by blank lines, with single spaces inside but for code."""
    page = _Page()
    page.feed(source)
    return page.text()


def _fenced(code: str) -> str:
    """Return code between fences that do not occur in it; empty without code."""
    if not code.strip():
        return ""
    fence = "~~~" if "```" in code else "```"
    return "\n".join([fence, textwrap.dedent(code).strip("\n"), fence])


class _Page(HTMLParser):
    """Collects the text of a page, block by block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._paragraphs: list[str] = []
        self._current: list[str] = []
        self._mark = ""
        self._is_code = False
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
            # A heading also ends code, for an end tag that is missing.
            self._is_code = tag == "pre" or (self._is_code and tag not in HEADINGS)
        elif tag in SPACES:
            self._current.append("\n" if tag == "br" else " ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # <svg/> and <script/> have no content to skip.
        if tag not in UNREAD:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._unread and tag == self._unread[-1]:
            self._unread.pop()
        elif tag in BLOCKS:
            self._end_paragraph()
            self._is_code = self._is_code and tag != "pre"
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
        content = "".join(self._current)
        self._current = []
        text = collapsed(content)
        if self._is_code and text:
            self._paragraphs.append(_fenced(content))
        elif text:
            if not self._mark and re.match(_LOOKS_LIKE_MARKDOWN, text):
                self._mark = AS_TEXT
            self._paragraphs.append(self._mark + text)
            # A heading is one paragraph, even if its end tag is missing.
            self._mark = ""


SILENT = (
    "contents|csv-table|figure|highlight|image|include|index|literalinclude|math|meta|only|raw|tabularcolumns|tags"
    "|toctree"
)
"""reStructuredText directives whose content is not running text."""
CODE = "code|code-block|doctest|ipython|parsed-literal|prompt|sourcecode|testcode|testoutput"
"""reStructuredText directives whose content is code."""
_NAME = r"\.\.[ ]+(?:\|[^|\n]+\|[ ]+)?"
_OPTIONS = r"(?:[ ]+:[\w -]+:(?:[ ].*)?\n)*"
_RST_BLOCK = re.compile(
    rf"""
    # A directive with code, or a paragraph that announces code with two colons; then the indented lines.
    ^(?:[ ]*{_NAME}(?:{CODE})::.*\n{_OPTIONS}|(?P<text>(?![ ]*\.\.[ ]).*::[ ]*\n)[ ]*\n)(?:[ ]*\n)*
    (?P<code>(?P<by>[ ]+)\S.*\n(?:(?P=by).*\n|[ ]*\n)*)
    # A comment, a target or a silent directive, but no footnote or other directive, with the lines indented below it.
    |^(?P<indent>[ ]*)\.\.(?!\S|[ ]+\[[^\]\n]+\][ ])
    (?!(?<=\.\.)[ ]+(?:\|[^|\n]+\|[ ]+)?(?!(?:{SILENT})::)[a-z][\w:.+-]*::(?!\S)).*\n(?:(?P=indent)[ ]+\S.*\n|[ ]*\n)*
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_RUNNING = re.compile(
    rf"^[ ]*(?:{_NAME}[a-z][\w:.+-]*::(?:[ ]+(.*))?\n{_OPTIONS}|\.\.[ ]+\[[^\]\n]+\][ ]+(.*)\n)",
    re.IGNORECASE | re.MULTILINE,
)
"""A directive with running text and its options, or a footnote; the groups are its text."""
_ADORNMENT = r"[!-/:-@\[-`{-~]"
_HEADING = re.compile(
    # Below a line of the same signs a title may be indented.
    rf"^(?:(?P<over>{_ADORNMENT})(?P=over){{2,}}[ ]*\n(?=.*\n(?P=over){{3}})[ ]*|(?=\S))"
    rf"(?P<title>(?!({_ADORNMENT})\3\3+[ ]*$)\S.*)\n(?P<line>(?P<under>{_ADORNMENT})(?P=under){{2,}})[ ]*$"
    rf"|{_LOOKS_LIKE_MARKDOWN}",
    re.MULTILINE,
)
_RULE = re.compile(
    rf"^[ ]*(?:(?:({_ADORNMENT})\1\1+|[-=+|][-=+| ]{{2,}})[ ]*\n|(?:\d{{1,3}}|\#)[.)][ ]+(?=\S))", re.MULTILINE
)
"""A line without text, or the number of an item of a list, which HTML does not have."""
_INLINE = re.compile(
    # A literal may contain single backticks; a line of nothing but backticks underlines a heading.
    r"(?<!`)``(?!\s|`+\s)((?:[^`]|`(?!`)){1,2000}?)``"
    # A role or a reference, with its target behind its text. Without either, what is between the signs < > is text.
    r"|(?<![\w`])(:[\w+.:-]{1,60}:)?`(?![\s`])"
    r"([^`]{1,500}?)(?:(?(2)\s{0,9}<[^`<>]{0,2000}>(?=`)|\s{1,9}<[^`<>]{0,2000}>(?=`_)))?`_{0,2}"
    r"|\*\*([^*\s](?:[^*]*[^*\s])?)\*\*"
    r"|(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])"
)
"""Inline markup; the last group that matches is the text."""


def rst_text(source: str) -> str:
    """Return a text in reStructuredText without underlines, directives, comments, targets and roles.

    The text of a note, or of another directive with running text, and code are kept; images and tables of contents are
    not.
    """
    source = source.expandtabs(8) + "\n"
    styles = list[str]()
    blocks = list[str]()
    end = 0
    for block in _RST_BLOCK.finditer(source):
        text = source[end : block.start()] + (block["text"] or "")
        blocks += [_rst_prose(text, styles), _fenced(block["code"] or "")]
        end = block.end()
    blocks.append(_rst_prose(source[end:], styles))
    return "\n\n".join(filter(str.strip, blocks)).strip("\n")


def _rst_prose(text: str, styles: list[str]) -> str:
    """Return text between code with headings of Markdown, without other markup.

    Parameters
    ----------
    styles
        Those of the headings before, from the highest level on; new ones are added.
    """
    text = _RUNNING.sub(r"\n\1\2\n", text)
    text = _INLINE.sub(lambda match: match[match.lastindex or 0], re.sub("::[ ]*$", ":", text, flags=re.MULTILINE))
    return _RULE.sub("", _HEADING.sub(partial(_heading, styles), text))


def _heading(styles: list[str], match: re.Match[str]) -> str:
    """Return a heading of Markdown; the match itself if the underline is shorter than the title."""
    if match["title"] is None:
        return AS_TEXT
    title = match["title"].strip()
    if len(match["line"]) < len(title):
        return match[0]
    style = match["under"] + (match["over"] or "")
    if style not in styles:
        styles.append(style)
    # The first style of a file is its highest level, as in docutils.
    level = min(styles.index(style) + 1, len(HEADINGS))
    return f"{'#' * level} {title}"


_MARKDOWN = re.compile(
    r"""
    # Fenced code, HTML with code, indented lines and code in a line.
    ^[ \t]*(?P<item>(?:(?:[-*+]|\d+[.)])[ \t]+)?)(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}).*\n
    (?P<code>(?:.*\n)*?)(?:[ \t]*(?P=fence)[`~]*$|\Z)
    |^[ ]{0,3}(?P<html><pre[\s>](?:.*\n)*?(?:.*?</pre>|\Z))
    # The number of an item of a list is not in the text of HTML.
    |^[ \t]*\d{1,3}[.)][ \t]+(?=\S)
    |(?P<kept>^(?:[ ]{4}|\t)(?![ \t]*[-*+][ ]).*$|(?P<marks>`+).*?(?<!`)(?P=marks)(?!`))
    # A paragraph above an underline is a heading, unless a line of it begins a list, a quotation, a table or HTML.
    |(?:\A|(?<=\n\n))(?P<title>(?:(?!\s|[-*+]\s|\d+[.)]\s|[>|<]|\#{1,6}\s|-+$|=+$).+\n)+)(?P<line>=|-)(?P=line)*$
    # A rule, and the target of links; then links.
    |^[ ]{0,3}(?:---+|\[(?!\^)[^\[\]\n]+\]:[ \t]*\S+(?:[ \t]+["'(].*)?)$
    |(?<![!\w])\[(?P<link>[^\[\]]{1,500})\](?:\([^()\s]{0,2000}(?:\s+"[^"]{0,500}")?\)|\[[^\[\]]{0,500}\])
    |(?<!\w)(?P<emphasis_mark>_{1,3})(?P<emphasis>[^_\s](?:[^_]{0,500}[^_\s])?)(?P=emphasis_mark)(?!\w)
    # But for the mark of headings, which would begin one.
    |(?P<entity>&(?!\#35;|\#x23;|num;)\#?\w{1,40};)
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def markdown_text(source: str) -> str:
    """Return a text in Markdown: each heading begins with its marks, code is between fences, links have no targets.

    Other markup stays.
    """
    return _MARKDOWN.sub(_shown, "\n".join(map(str.rstrip, [*source.split("\n"), ""]))).strip("\n")


def _shown(match: re.Match[str]) -> str:
    """Return what a reader sees of a part of Markdown."""
    if match["fence"]:
        return f"{match['item']}\n{_fenced(match['code'])}\n"
    if match["html"]:
        return f"\n{html_text(match['html'])}\n"
    if match["title"]:
        level = {"=": "#", "-": "##"}[match["line"]]
        return f"{level} {collapsed(_MARKDOWN.sub(_shown, match['title']))}\n"
    return match["kept"] or match["link"] or match["emphasis"] or html.unescape(match["entity"] or "")
