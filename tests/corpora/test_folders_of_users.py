"""Folders as users have them: symbolic links, named pipes, empty files, pages of HTML and reStructuredText."""

from __future__ import annotations

import os
import re

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import SourceError
from embassay.corpora.io.documents import read_documents
from embassay.corpora.io.folders import files_in
from embassay.corpora.io.passages import Cutter, sections_of
from embassay.run.resolve import load_corpus

SKIPPED = "{} left out: a symbolic link; --follow-links or follow_links=true includes it ({})"


@pytest.fixture
def secret(tmp_path):
    """A file outside of the folder, as a key or the environment of a process is."""
    path = tmp_path / "secret.txt"
    path.write_text("KEY=sk-123456\n")
    return path


@pytest.fixture
def folder(tmp_path, secret):
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("It rained.\n")
    (folder / "linked.txt").symlink_to(secret)
    (folder / "sub" / "linked.md").symlink_to("/proc/self/environ")
    (folder / "more").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.txt").write_text("We ran.\n")
    (tmp_path / "elsewhere" / "back").symlink_to(folder)
    os.mkfifo(folder / "pipe.txt")
    return folder


@pytest.fixture
def asked(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("question,document\nDid it rain?,a\n")
    return path


def texts(corpus):
    return {document.id: " ".join(document.passages) for document in corpus.documents}


def test_links_and_named_pipes_in_a_folder_are_left_out_and_said(folder, asked):
    corpus = load_corpus(f"{folder},questions={asked}")
    assert texts(corpus) == {"a": "It rained."}
    assert SKIPPED.format("3 files", "linked.txt, more, sub/linked.md") in corpus.notes
    assert any(note.startswith("1 file left out: is not a regular file") for note in corpus.notes)


def test_links_are_followed_where_that_is_asked_for(folder, asked):
    (folder / "sub" / "linked.md").unlink()
    for corpus in (
        ea.load(f"{folder},questions={asked}", follow_links=True),
        ea.load(f"{folder},questions={asked},follow_links=true"),
    ):
        assert texts(corpus) == {"a": "It rained.", "linked": "KEY=sk-123456", "more/b": "We ran."}
        assert not any("symbolic" in note for note in corpus.notes)
        assert any(note.startswith("1 file left out: is not a regular file") for note in corpus.notes)
    spec = f"{folder},questions={asked},follow_links=false"
    assert texts(ea.load(spec, follow_links=True)) == {"a": "It rained."}


def test_links_that_lead_in_circles_or_nowhere_end(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "a" / "none.txt").symlink_to("nowhere.txt")
    (tmp_path / "a" / "x.txt").write_text("x")
    files = files_in(tmp_path, follow_links=True)
    assert [file.name for file in files if file.is_file()] == ["x.txt"]


def test_the_flag_of_the_command_line(folder, asked, capsys):
    (folder / "sub" / "linked.md").unlink()
    arguments = ["look", "-c", f"{folder},questions={asked}"]
    assert exit_code_of(arguments) == 0
    written = capsys.readouterr()
    assert SKIPPED.format("2 files", "linked.txt, more") in written.out + written.err
    assert exit_code_of([*arguments, "--follow-links"]) == 0
    written = capsys.readouterr()
    assert "symbolic" not in written.out + written.err
    assert "3 documents" in written.out + written.err


def test_empty_files_are_left_out_and_said(tmp_path, asked):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, content in {"a.txt": "It rained.", "b.txt": " \n", "c.md": "---\na: 1\n---\n", "d.html": "<p>"}.items():
        (folder / name).write_text(content)
    corpus = load_corpus(f"{folder},questions={asked}")
    assert texts(corpus) == {"a": "It rained."}
    assert corpus.notes[:2] == ("files: 1 document", "3 files left out: no text in it (b.txt, c.md, d.html)")
    (folder / "a.txt").write_text("")
    with pytest.raises(
        SourceError,
        match=r"no text in .*; 4 files left out: no text in it \(a.txt, b.txt, c.md, d.html\)$",
    ):
        load_corpus(f"{folder},questions={asked}")


def test_pages_of_html_and_restructured_text_are_documents(tmp_path, asked):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.html").write_text(
        "<!DOCTYPE html><html><head><title>T</title><style>p {}</style></head><body><h1>Tea &amp; milk</h1>"
        "<p>It is <b>hot</b>.<br>Very&nbsp;hot.<p>5 < 6<script>var a = '<p>no</p>';</script>"
        "<ul><li>one<li>two</ul><table><tr><td>a<td>b</table><![if x]>in<!-- no --></body></html>"
    )
    (folder / "b.htm").write_text("<p>We ran.")
    (folder / "c.rst").write_text(
        "Tea\n===\n\n.. _target: http://x\n.. note:: Mind *the* **gap**, see :ref:`here <there>`.\n\n"
        ".. code-block:: python\n   :linenos:\n\n   print()\n\n   x = 1\n\nTea is ``hot``.\n\n.. A comment\n   goes.\n"
    )
    (folder / "c.html").write_text("<p>Made from c.rst.")
    corpus = load_corpus(f"{folder},questions={asked}")
    assert {document.id: document.passages for document in corpus.documents} == {
        "a": ("# Tea & milk It is hot. Very hot. 5 < 6 one two a b in",),
        "b": ("We ran.",),
        "c": ("# Tea Mind the gap, see here. ``` print() x = 1 ``` Tea is hot.",),
    }
    assert corpus.notes[:2] == ("files: 3 documents", "1 file left out: another file has the same name (c.html)")
    documents, _ = read_documents(folder)
    assert [document.id for document in documents] == ["a", "b", "c"]
    assert read_documents(folder / "c.rst")[0][0].text.startswith("# Tea")


def text_of(folder, name, content):
    (folder / name).write_text(content)
    return read_documents(folder / name)[0][0].text.split("\n\n")


def test_headings_of_html_are_those_of_markdown(tmp_path):
    page = "<h1>Top</h1><p>a</p><h2>Sub <b>x</b></h2>text<h3><p>inner</p></h3><p>after</p><h2></h2><p>plain</p><h9>b"
    paragraphs = text_of(tmp_path, "a.html", page)
    assert paragraphs == ["# Top", "a", "## Sub x", "text", "### inner", "after", "plain", "b"]


def test_headings_of_restructured_text_are_those_of_markdown(tmp_path):
    # A style is a character with or without a line above; its level is the order in which the styles appear.
    text = (
        "=====\n Top\n=====\n\nIntro.\n\nSub\n---\n\nText.\n\n-----\n\nMore.\n\nDeep\n~~~~\n\nOther\n-----\n\n"
        "====\nPart\n====\n\n====  ====\na     b\n====  ====\n"
    )
    paragraphs = [paragraph.strip() for paragraph in text_of(tmp_path, "a.rst", text)]
    headings = [paragraph for paragraph in paragraphs if paragraph.startswith("#")]
    assert headings == ["# Top", "## Sub", "### Deep", "## Other", "# Part"]
    assert {"Intro.", "Text.", "More.", "a b"} < set(paragraphs)


PAGES = {
    "md": """\
Install the *kettle*
====================

Pour **water** into it; see [the manual](https://example.org/manual) or [the list][list].
AT&amp;T sells _spare_ parts for `kettle<2.28`, and `kettle_type` too.

Start it
--------

First the service:

```sh
pip install kettle

# start the service
kettle start --port 80
```

1. Wait.
2. Then this:

   ~~~
   # stop it
   kettle[now](stop)
   ~~~

<pre># a comment of a page
x &lt; 1</pre>

    # indented code
    kettle[name](event)

---

A last line.

[list]: https://example.org/list
""",
    "rst": """\
Install the *kettle*
====================

.. _target:

Pour **water** into it; see `the manual <https://example.org/manual>`_ or `the list`_.
AT&T sells *spare* parts for `kettle<2.28`, and ``kettle_type`` too.

Start it
--------

First the service:

.. code-block:: sh
   :linenos:

   pip install kettle

   # start the service
   kettle start --port 80

1. Wait.
#. Then this::

     # stop it
     kettle[now](stop)

::

  # a comment of a page
  x < 1

.. code::

  # indented code
  kettle[name](event)

-----

A last line.

.. _the list: https://example.org/list
""",
    "html": """\
<h1>Install the <em>kettle</em></h1>
<p>Pour <b>water</b> into it; see <a href="https://example.org/manual">the manual</a> or <a href="x">the list</a>.
AT&amp;T sells <i>spare</i> parts for <code>kettle&lt;2.28</code>, and <code>kettle_type</code> too.</p>
<h2>Start it</h2>
<p>First the service:</p>
<div class="highlight"><pre><code class="sh">pip install kettle

<span># start the service</span>
kettle start --port 80
</code></pre></div>
<ol><li>Wait.</li><li><p>Then this:</p><pre># stop it
kettle[now](stop)</pre></li></ol>
<pre># a comment of a page
x &lt; 1</pre>
<pre>
# indented code
kettle[name](event)
</pre>
<hr>
<p>A last line.</p>
""",
}


def words_of(passages):
    return [re.findall(r"\w+", passage) for passage in passages]


@pytest.mark.parametrize("form", ["rst", "html"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_page_has_the_same_text_in_every_format(tmp_path, form, end):
    for suffix, page in PAGES.items():
        (tmp_path / f"a.{suffix}").write_bytes(page.replace("\n", end).encode())
    pages = {suffix: read_documents(tmp_path / f"a.{suffix}")[0][0] for suffix in PAGES}
    for cut in (Cutter("document"), Cutter("paragraph")):
        found, of_markdown = ([piece.text for piece in cut(pages[each].text)] for each in (form, "md"))
        assert words_of(found) == words_of(of_markdown)
    for page in (pages["md"], pages[form]):
        headings = [heading[2].replace("*", "") for section in sections_of(page.text) for heading in section.headings]
        assert headings == ["Install the kettle", "Start it"]
    # What is code stays as it is written.
    assert "\n# start the service\nkettle start --port 80\n" in pages[form].text


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("a.md", "# A\n\n````md\n```\n# no\n```\n# no\n````\n\nText.\n"),
        ("a.md", "# A\n\n- ```\n  # no\n  ```\n\nText.\n"),
        ("a.md", "# A\n\n1. b\n\n    ```sh\n    # no\n    ```\n\nText.\n"),
        ("a.md", "# A\n\nb\n\n\t# no\n\n    # no\n\nText.\n"),
        ("a.md", "# A\n\n```\nb\n\n\n# no\n\nText."),
        ("a.md", "# A\n\nb\n\n&#35; no\n\nText.\n"),
        ("a.rst", "A\n=\n\nb\n\n# no\n\n``#`` no\n\nText.\n"),
        ("a.rst", "A\n=\n\n- b::\n\n    # no\n\n  c\n\n.. tab:: d\n\n  .. code::\n\n    # no\n\n  # no\n\nText.\n"),
        ("a.rst", "A\n=\n\nb::\n\n  ```\n  # no\n\n  Sub\n  ---\n\nText.\n"),
        ("a.html", "<h1>A</h1><p># no</p>```<pre>```\n# no</pre><div># no</div>Text."),
        ("a.html", "<h1>A</h1><pre># no<p># no</pre><p>Text."),
    ],
)  # fmt: skip
def test_no_line_of_code_or_text_is_a_heading(tmp_path, name, page):
    (tmp_path / name).write_text(page.replace("A\n=\n", "ABC\n===\n"))
    ((document,), _) = read_documents(tmp_path / name)
    assert len(sections_of(document.text)) == 1
    assert len(Cutter("paragraph")(document.text)) == 1
    assert document.text.split()[-1].strip("`") in ("Text.", "")


def test_code_in_a_table_of_markdown_texts_has_no_headings():
    text = "# A\n\n```sh\nx\n\n# no\n\ny\n```\n\nText.\n\n# B\n\nMore.\n"
    assert [piece.text for piece in Cutter("paragraph")(text)] == ["# A ```sh x # no y ``` Text.", "# B More."]
    assert [[heading[2] for heading in section.headings] for section in sections_of(text)] == [["A"], ["B"]]


@pytest.mark.parametrize(
    ("page", "headings"),
    [
        ("One\n===\n\na\n\nTwo\nlines\n---\nb\n", ["# One", "## Two lines"]),
        ("One\n=\n\na\n", ["# One"]),
        ("- item\n---\n\na\n", []),
        ("> quotation\n---\n\na\n", []),
        ("| a | b |\n|---|---|\n| c | d |\n", []),
        ("a\n\n---\n\nb\n", []),
        ("See [this](x.md)\n---\n\na\n", ["## See this"]),
        ("# One\n---\na\n", ["# One"]),
        ("```\nOne\n===\n```\n", []),
    ],
)
def test_underlined_headings_of_markdown(tmp_path, page, headings):
    (tmp_path / "a.md").write_text(page)
    text = read_documents(tmp_path / "a.md")[0][0].text
    assert [line for line in text.splitlines() if line.startswith("#")] == headings


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("`a<2.28` and :ref:`b <c>` and `d <https://x>`_ and `e`_\n\n.. _e: y", "a<2.28 and b and d and e"),
        ("`vector <T>` and :func:`f<g>`", "vector <T> and f"),
        ("it's 5` long, see :doc:`a`", "it's 5` long, see a"),
        ("``a`b`` and ``<x>`` and `y`", "a`b and <x> and y"),
        ("**a** *b* ``*args`` ``**kwargs``", "a b *args **kwargs"),
    ],
)
def test_inline_markup_of_restructured_text(tmp_path, written, read):
    (tmp_path / "a.rst").write_text(written)
    assert read_documents(tmp_path / "a.rst")[0][0].text.strip() == read
