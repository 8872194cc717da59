"""Pages as their readers see them: beside the libraries' own rendering, of every generator, in linear time."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import defaultdict
from html.parser import HTMLParser

import pytest
from docutils import nodes
from docutils.core import publish_parts
from docutils.parsers.rst import Directive, directives, roles
from docutils.statemachine import StringList
from markdown_it import MarkdownIt

from embassay.corpora.io.documents import read_documents
from embassay.corpora.io.markup import html_text, is_template, markdown_text, mdx_text, rst_text
from embassay.corpora.io.passages import Cutter, sentences
from embassay.corpora.retrieval.corpus import cut_all

INLINE = frozenset("a abbr b cite code em i kbd q samp small span strong sub sup tt u".split())


class Words(HTMLParser):
    """The text of HTML; the words of different blocks are apart."""

    def __init__(self, page):
        super().__init__()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.text += "" if tag in INLINE else " "

    def handle_endtag(self, tag):
        self.handle_starttag(tag, ())

    def handle_data(self, data):
        self.text += data


def words(text):
    return re.findall(r"\w+", text)


class Stub(Directive):
    """A directive of Sphinx, written in another way than in the product."""

    optional_arguments, final_argument_whitespace, has_content = 1, True, True
    option_spec = defaultdict(lambda: str, name=str)  # noqa: RUF012

    def run(self):
        if self.name in ("meta", "toctree", "contents", "literalinclude", "include"):
            return []
        if self.name in ("code", "code-block"):
            return [nodes.literal_block("", "\n".join(self.content))]
        container = nodes.container()
        text = "\n".join([*self.arguments, "", *self.content])
        self.state.nested_parse(StringList(text.split("\n"), source=""), 0, container, match_titles=True)
        return [container]


def role(name, raw, text, *others, **more):
    shown = re.sub(r"\s*<[^<>]*>$", "", text)
    return [nodes.inline(raw, shown.split(".")[-1] if shown.startswith("~") else shown)], []


@pytest.fixture
def sphinx(monkeypatch):
    """Stubs for the directives and roles of Sphinx, registered as docutils documents it."""
    monkeypatch.setattr(directives, "_directives", directives._directives.copy())
    monkeypatch.setattr(roles, "_roles", roles._roles.copy())

    def register(source):
        known = ("figure", "image", "csv-table", "list-table", "table", "raw", "replace")
        for name in set(re.findall(r"^ *\.\. (?:\|\w+\| )?([\w+.:-]+)::", source, re.MULTILINE)).difference(known):
            directives.register_directive(name, Stub)
        for name in set(re.findall(r":([\w+.:-]+):`", source)).difference(("pep", "rfc", "code", "math", "sub", "sup")):
            roles.register_local_role(name, role)

    return register


def test_pages_of_restructured_text_have_the_words_of_docutils_html(data, sphinx):
    pages = sorted((data / "pip_docs").rglob("*.rst"))
    assert len(pages) > 60
    for page in pages[::3]:
        source = page.read_text(encoding="utf-8")
        text = rst_text(source)
        sphinx(source)
        settings = {"report_level": 5, "halt_level": 6, "doctitle_xform": False, "_disable_config": True}
        assert words(text) == words(
            Words(publish_parts(source, writer="html5", settings_overrides=settings)["body"]).text
        )


def test_pages_of_markdown_have_the_words_of_its_html(data):
    parser = MarkdownIt("commonmark").enable("table")
    equal = 0
    for page in sorted((data / "pip_docs").rglob("*.md")):
        source = page.read_text(encoding="utf-8")
        # What MyST adds to Markdown is not compared.
        if re.search(r"^ *```\{|\{\w+\}`|\[\^|^---$", source, re.MULTILINE):
            continue
        assert words(markdown_text(source)) == words(Words(parser.render(source)).text)
        equal += 1
    assert equal > 10


@pytest.mark.parametrize(
    ("read", "source", "text"),
    [
        # Docusaurus and other MDX.
        (markdown_text, "import A from '@b/a';\n\n<Tabs a={[{b: 1}]}>\n<Tab>\n\n# c {#d}\n\n</Tab>\n</Tabs>\n", "# c"),
        (markdown_text, ":::note\na\n:::\n\n::: tip Title\n\nb\n\n:::\n{/* c */}\n", "a\n\nTitle\n\nb"),
        (markdown_text, "```js\nimport a from 'b'\n<A b={c} />\n```", "```\nimport a from 'b'\n<A b={c} />\n```"),
        (mdx_text, "<td>\n\n      {'a'} {\"[{ b: 'c' }]\"}\n\n    <i x={d}>\n\n    e", "a [{ b: 'c' }]\n\ne"),
        (markdown_text, "```js\na\n  // highlight-next-line\nb\n# highlights\n```", "```\na\nb\n# highlights\n```"),
        # Hugo and Jekyll.
        (markdown_text, '{{< x "a" >}}b{{< /x >}} [c]({{< ref "d" >}}) `{{ e }}`\n{% f %}', "b c {{ e }}"),
        (markdown_text, "a\n\n```\n{{ .b }} <C d={e}>", "a\n\n```\n{{ .b }} <C d={e}>\n```"),
        (markdown_text, "a ```b``` {{ c }}\nd {{ e }}", "a b d"),
        (markdown_text, "a\n: {{< new-in 1.0 />}}\n: b\n\nc\n{class=\"d\"}", "a\n\nb\n\nc"),
        # MkDocs and GitHub.
        (markdown_text, "# A\n\n::: a.b.c\n    :docstring:\n\n::: d.e\n    options:\n      f: g\n\nh", "# A\n\nh"),
        (markdown_text, "!!! note\n    a\n\n> [!TIP]\n> b", "Note\n\na\n\nTip\n\nb"),
        (markdown_text, "> [!NOTE] Title\n> a\n", "Title a"),
        (markdown_text, "- [x] a\n- [ ] b\n\n| c | d |\n|---|---|\n| e | f |", "a\n\nb\n\nc\td\ne\tf"),
        (markdown_text, "[a](b.md){ .md-button }\n\n--8<-- 'c'\n\n[TOC]", "a"),
        # MyST.
        (markdown_text, "```{note} A\nb [c](d)\n```\n\n```{toctree}\ne\n```\n\n{ref}`f <g>`", "A\n\nb c\n\nf"),
        (markdown_text, "a <!-- b --> ![c](data:image/png;base64,AAAA) &lt;d&gt;", "a <d>"),
        # Sphinx.
        (rst_text, "A\n=\n\n.. note:: b\n   :c: d\n\n   - e\n   - f\n", "# A\n\nb\n\ne\n\nf"),
        (rst_text, ".. code-block:: py\n   :linenos:\n\n   # a\n\n.. toctree::\n\n   b\n", "```\n# a\n```"),
        (rst_text, ".. figure:: a.png\n   :b: c\n\n   d\n\n.. only:: html\n\n   e\n", "d\n\ne"),
        (rst_text, ":orphan:\n\nA\n=\n\n.. deprecated:: 1.2\n   b :ref:`c <d>` :class:`~e.f.G`\n", "# A\n\n1.2 b c G"),
        (rst_text, "a `b`_ and `c <d_>`_ and ``e`_``\n", "a b and c and e`_"),
        (rst_text, ".. py:function:: f(*a)\n\n   b\n\n.. raw:: html\n\n   <b>c\n", "f(*a)\n\nb"),
        (html_text, "<main><nav>a</nav>b</main>c", "b"),
        (html_text, '<div class="rel">a</div><div class="documentwrapper">b</div><div class="footer">c</div>', "b"),
        (html_text, '<div role="navigation">a</div><h1>b<a href="#b">¶</a></h1><footer>c</footer>', "# b"),
        (html_text, '<p hidden>a<p style="display: none">b<p aria-hidden="true">c<p>d<noscript>e</noscript>', "d"),
        (html_text, "<nav>a<nav>b</nav></nav><table><tr><td><p>c</p><td><p>d</p></table>", "c d"),
        (html_text, "<h1></h1><pre> </pre><frameset>", ""),
        (html_text, "<h2>a<br>b</h2><pre>c<br>d</pre>", "## a b\n\n```\nc\nd\n```"),
    ],
)  # fmt: skip
def test_a_page_is_what_its_reader_sees(read, source, text):
    assert read(source) == text


@pytest.mark.parametrize("name", ["a.md", "a.rst", "a.html"])
def test_no_file_is_read_into_a_page(tmp_path, name):
    (tmp_path / "secret.txt").write_text("KEY", encoding="utf-8")
    page = f".. include:: {tmp_path}/secret.txt\n\n.. csv-table::\n   :file: {tmp_path}/secret.txt\n\nIt rained.\n"
    (tmp_path / name).write_text(page, encoding="utf-8")
    ((document,), _) = read_documents(tmp_path / name)
    assert "KEY" not in document.text
    assert "It rained." in document.text


def with_headings(text):
    return cut_all({"d": text}, Cutter("paragraph+headings"))


@pytest.mark.parametrize("unit", ["a. b ", "[a](", "`", "{{", "<b>", "水很热。", "a\n\n", "# a\n\n## b\n\nc\n\n"])
@pytest.mark.parametrize("read", [markdown_text, sentences, Cutter("section"), with_headings])
def test_the_time_of_a_long_text_is_linear(read, unit):
    def seconds(length):
        start = time.process_time()
        read(unit * (length // len(unit)))
        return time.process_time() - start

    # The libraries are imported.
    read(unit)
    # A square would be 16 times as much.
    assert min(seconds(40_000), seconds(40_000)) < 10 * max(seconds(10_000), 0.1)


def test_a_deep_page_and_damage_end():
    for source in ("<div>" * 5_000, "<pre><h1>" * 500, "<nav>" * 5_000 + "a", "> " * 2_000 + "a", "- " * 500 + "a"):
        assert isinstance(html_text(source), str)
        assert isinstance(markdown_text(source), str)


def test_the_libraries_are_imported_when_a_page_is_read():
    code = (
        "import sys, embassay.cli.app, embassay.corpora.io.documents as d; "
        "assert not {'docutils', 'markdown_it', 'selectolax', 'yaml'} & sys.modules.keys() - {'markdown_it'}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("source", "is_one"),
    [
        ("{% extends 'base.html' %}<h1>{{ page.title }}</h1>", True),
        ("<body>{% block a %}{% endblock %}</body>", True),
        ("<body><p>Write <code>{% block a %}</code>.<pre>{% endblock %}</pre></body>", False),
        ("<body>{{ a }}</body>", False),
    ],
)
def test_a_template_is_no_page(source, is_one):
    assert is_template(source) == is_one
