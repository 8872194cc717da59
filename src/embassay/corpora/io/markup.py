"""Pages as text: what a reader sees of Markdown, reStructuredText and HTML.

Libraries turn Markdown and reStructuredText into HTML, and one walk over HTML gives its blocks: headings, code, and
paragraphs, items of lists and tables. In the text, blank lines stand between blocks; headings are those of Markdown
(``## Title``), code is between fences, the rows of a table are lines with tabs between cells, and any other block is
one line. A line that Markdown would take for
a heading or a fence is indented.

The libraries are imported when the first page is read.
"""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from embassay.corpora.io.passages import collapsed

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from selectolax.lexbor import LexborNode

MAIN = ("main, [role=main]", ".documentwrapper")
"""The part of a page with its text, and that in older themes of Sphinx; the whole page if it does not say."""
NO_TEXT = (
    "head, script, style, template, title, svg, noscript, nav, footer, [hidden], [aria-hidden=true], "
    "[style*='display:none'], [style*='display: none'], [role=navigation], [role=search], [role=contentinfo], "
    ".docinfo, .system-message, a[href^='#']"
)
"""What is not text of a page: hidden parts, navigation, footers; the fields and errors of docutils; and links to their
own place, if their text is only a sign such as ¶."""
BLOCKS = (
    "address, article, aside, blockquote, caption, center, dd, details, dialog, div, dl, dt, fieldset, figcaption, "
    "figure, form, header, hr, legend, li, main, menu, ol, option, p:not(td p, th p), section, select, summary, table, "
    "tr, ul"
)
"""HTML elements that begin and end a block; the row of a table is one, not the paragraphs in its cells."""
SPACES = "br, td, th, td p, th p, img, input, button"
"""HTML elements that separate words."""
NO_CELL = "h1, h2, h3, h4, h5, h6, pre, table table"
"""HTML elements that are not in the cells of a table of facts."""
_END, _CODE, _HEADING, _TABLE = "\x1e\2\1\3"
"""Control characters that stand between blocks, before code, a heading and a table."""
WHOLE = {"pre": "\2", "h1": "\1# ", "h2": "\1## ", "h3": "\1### ", "h4": "\1#### ", "h5": "\1##### ", "h6": "\1###### "}
"""HTML elements that are one block with all that is in them, and what is written before their text."""

SILENT = frozenset(
    "automodule contents currentmodule highlight include index literalinclude meta module py:currentmodule py:module "
    "raw rst-class tabularcolumns tags testsetup toctree".split()
)
"""Directives whose content is not text of the page."""
LITERAL = frozenset("code code-block doctest ipython prompt sourcecode testcode testoutput".split())
"""Directives whose content is code."""
UNTITLED = frozenset("container figure ifconfig only".split())
"""Directives whose argument is not text of the page."""
STRUCTURED = frozenset("csv-table default-role image list-table math parsed-literal replace role table unicode".split())
"""Directives that docutils reads; of any other the argument and the content are running text."""

RST = {
    "doctitle_xform": False,
    "file_insertion_enabled": False,
    "halt_level": 6,
    "initial_header_level": 1,
    "line_length_limit": 10**9,
    "math_output": "LaTeX",
    "report_level": 5,
    "syntax_highlight": "none",
    "_disable_config": True,
}
"""Settings of docutils: no file is read, and no error is text of the page."""

TEMPLATE = re.compile(r"\{\{[^{}]{0,2000}\}\}|\{%[^{}]{0,2000}%\}")
"""A tag of Jinja, Liquid or Hugo."""
_MARKS = re.compile(
    # Code in a line or between fences is kept; the last fence of a page may have no end.
    r"""
    (?P<code>^[ \t]*(?P<fence>`{3,}+(?!.*`)|~{3,}+).*\n(?:.*\n)*?(?:[ \t]*(?P=fence)|.*\Z)
        |(?<!`)(?P<marks>`++)(?:[^`\n]|\n(?!\n))+(?P=marks)(?!`))
    # Comments and tags of JSX, whose values may be in braces; what a page of MDX imports or defines.
    |\{/\*(?:[^*]|\*(?!/)){0,2000}\*/\}
    |<(?=/?[A-Z]\w*[a-z]|[a-z][^<>]{0,500}=\{)/?[\w.]+
        (?:\s+[\w:-]+(?:=(?:"[^"]{0,2000}"|'[^']{0,2000}'|\{(?:[^{}]|\{[^{}]{0,2000}\}){0,2000}\}))?)*\s*/?>
    |^import\s(?:[\w*{}\s,$]{1,2000}\sfrom\s+)?["'][^"'\n]+["'];?[ \t]*$
    |\{(?P<quote>["'])(?P<string>(?:(?!(?P=quote)).){0,200})(?P=quote)\}
    |^export\s+(?:const|let|default|function)\b.*(?:\n.+)*
    # Attributes of headings, links and blocks; a role of MyST.
    |(?<![ \t])[ \t]*\{(?::[^{}\n]{1,200}|:?[ ]?(?:[.\#][A-Za-z]|class=|id=)[^{}\n]{0,200})\}
    |\{[\w:+-]+\}`(?P<role>[^`<]{1,200}?)(?:\s*<[^`]{1,200}>)?`
    # What mkdocstrings documents, with its options; the mark of an admonition, whose title may follow; an inserted
    # file; a table of contents; a definition that is only a tag.
    |^:::[ ][\w]+(?:\.\w+)+[ \t]*$(?:\n[ \t]+\S.*)*
    |^[ \t]*:{3,}[ \t]*[\w-]*(?:\{[\w-]+\})?|^[ \t]*-+8<-+.*$|^\[TOC\]$
    |^:[ \t]+\{\{[^{}\n]{0,2000}\}\}[ \t]*\n
    # The mark of an alert with a title of its own.
    |(?<=^>[ ])\[!\w+\][+-]?[ ](?=\S)|"""
    + TEMPLATE.pattern,
    re.MULTILINE | re.VERBOSE,
)
"""What generators of sites remove from Markdown before it is read, and code."""
_HIGHLIGHT = re.compile(r"^[ \t]*(?://|#|/\*|\{/\*|<!--)[ ]*highlight-(?:start|end|next-line)\b.*\n", re.MULTILINE)
"""A comment in code that says which lines Docusaurus colours."""
_MYST = re.compile(r"\s*\{(?!code)([\w:+-]+)\}(.*)")
"""The name of a directive of MyST and its argument, behind the mark of a fence."""
_TARGET = re.compile(r"(?<=\S)\s*<[^<>]*>\Z|\A!|\A~(?:[\w.]*\.)?")
"""What a role of reStructuredText does not show: the target behind its text, the path of a name."""
_LIKE_MARKDOWN = re.compile(r"#{1,6}\s|(?:(?:[-*+]|\d+[.)]) +)?(?:```|~~~)")
"""The start of a line that Markdown takes for a heading or a fence."""


def html_text(source: str) -> str:
    """Return the text of an HTML page."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(source)
    # Always the innermost first: an element is gone before the one that it is in.
    for hidden in reversed(tree.css(NO_TEXT)):
        # A link to its own place stays if it has words.
        if hidden.tag != "a" or not any(map(str.isalnum, hidden.text())):
            hidden.decompose()
    for separator in tree.css(SPACES):
        separator.insert_before("\n")
    for block in tree.css(BLOCKS):
        block.insert_before(_END)
        block.insert_after(_END)
    for table in reversed(tree.css("table")):
        _write_table(table)
    for element, mark in WHOLE.items():
        for node in reversed(tree.css(element)):
            node.replace_with(_END + mark + node.text().replace(_END, "\n") + _END)
    parts = filter(None, map(tree.css_first, MAIN))
    root = next(parts, tree.body)
    blocks = root.text().split(_END) if root else []
    return "\n\n".join(filter(None, map(_block, blocks)))


def _write_table(table: LexborNode) -> None:
    """Write a table of facts as lines with tabs between cells, after its captions."""
    rows = []
    for row in table.css("tr"):
        # A cell is on one line, whatever blocks are in it.
        cells = [cell.text().replace(_END, " ") for cell in row.css("th, td")]
        rows.append(list(map(collapsed, cells)))
    # Other tables divide a page into columns, or set a frame.
    if len(rows) < 2 or len(rows[0]) < 2 or table.css_first(NO_CELL):
        return
    captions = [caption.text() for caption in table.css("caption")]
    lines = "\n".join(map("\t".join, rows))
    table.replace_with(_END.join(["", *captions, _TABLE + lines, ""]))


def _block(text: str) -> str:
    """Return a block as it is written in the text; empty without text."""
    line = collapsed(text.strip(_CODE + _HEADING + _TABLE))
    if not line.strip("#"):
        return ""
    if text.startswith(_TABLE):
        return "\n".join(map(_running, text[1:].strip().split("\n")))
    if text.startswith(_CODE):
        fence = "~~~" if "```" in text else "```"
        return "\n".join([fence, textwrap.dedent(text[1:]).strip("\n"), fence])
    return line if text.startswith(_HEADING) else _running(line)


def _running(line: str) -> str:
    """Return a line that is no heading and no fence, indented where Markdown would take it for one."""
    return f"    {line}" if _LIKE_MARKDOWN.match(line) else line


def is_template(source: str) -> bool:
    """Return whether a file in HTML is a template, with tags of Jinja or Liquid outside its code, and no page."""
    if "{%" not in source:
        return False
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(source)
    for code in reversed(tree.css("pre, code, script, style")):
        code.decompose()
    return "{%" in tree.text()


def markdown_text(source: str) -> str:
    """Return the text of a page in Markdown: CommonMark with extensions of GitHub, MkDocs, MyST and MDX."""
    return html_text(_markdown_html(source))


def mdx_text(source: str) -> str:
    """Return the text of a page in MDX, where lines are indented like the HTML around them, and are no code."""
    return html_text(_markdown_html(source, indented_code=False))


def _markdown_html(source: str, *, indented_code: bool = True) -> str:
    parser = _markdown_parser(indented_code)
    tokens = parser.parse(_MARKS.sub(_seen, source))
    for token in tokens:
        directive = _MYST.match(token.info)
        if directive and token.type == "fence":
            text = "" if directive[1] in SILENT else f"{directive[2]}\n\n{token.content}"
            token.type, token.content = "html_block", _markdown_html(text)
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


def _seen(mark: re.Match[str]) -> str:
    """Return what a reader sees of a match of :data:`_MARKS`."""
    return _HIGHLIGHT.sub("", mark["code"] or mark["role"] or mark["string"] or "")


@cache
def _markdown_parser(indented_code: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.admon import admon_plugin
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    parser = MarkdownIt("commonmark", {"alerts": True, "tasklists": True}).enable(["table", "strikethrough"])
    if not indented_code:
        parser.disable("code")
    return parser.use(admon_plugin).use(deflist_plugin).use(footnote_plugin, inline=False)


def rst_text(source: str) -> str:
    """Return the text of a page in reStructuredText. Roles that docutils does not know are running text."""
    from unittest.mock import patch

    from docutils import nodes
    from docutils.core import publish_parts
    from docutils.parsers.rst import Directive, Parser, directives, roles
    from docutils.statemachine import StringList
    from docutils.transforms import Transform

    known_directive, known_role = directives.directive, roles.role

    class Running(Directive):  # type: ignore[misc]
        """A directive with any options, whose argument and content are running text or code."""

        optional_arguments, final_argument_whitespace, has_content = 1, True, True
        # Docutils takes an empty dictionary for "no options".
        option_spec: ClassVar = defaultdict(lambda: str, name=str)

        def run(self) -> list[Any]:
            code = "\n".join(self.content)
            if self.name in LITERAL:
                return [nodes.literal_block(code, code)]
            container = nodes.container()
            if self.name not in SILENT:
                title = "" if self.name in UNTITLED else "\n".join(self.arguments)
                lines = f"{title}\n\n{code}".splitlines()
                self.state.nested_parse(StringList(lines, ""), 0, container, match_titles=True)
            return [container]

    class TargetsElsewhere(Transform):  # type: ignore[misc]
        """Makes running text of each reference of which the page has no target."""

        # Before docutils writes such references as they stand in the source.
        default_priority = 849

        def apply(self) -> None:
            for reference in list(self.document.findall(nodes.reference)):
                if "refname" in reference and not self.document.nameids.get(reference["refname"]):
                    reference.replace_self(nodes.inline("", reference.astext()))

    class PageParser(Parser):  # type: ignore[misc]
        def get_transforms(self) -> list[type[Transform]]:
            return [*super().get_transforms(), TargetsElsewhere]

    def role(*asked: Any) -> Any:
        known, messages = known_role(*asked)
        return known or (lambda _, raw, text, *__, **___: ([nodes.inline(raw, _TARGET.sub("", text))], [])), messages

    # The time of docutils grows with the square of a paragraph's length: very long lines are divided.
    lines = re.sub(r"(?=.{5000})(.{500}\S{0,50})", r"\1\n\n", source)
    with (
        patch.object(
            directives,
            "directive",
            lambda name, *others: known_directive(name, *others) if name in STRUCTURED else (Running, []),
        ),
        patch.object(roles, "role", role),
    ):
        parts = publish_parts(lines, parser=PageParser(), writer="html5", settings_overrides=RST)
    return html_text(parts["body"])
