"""Pages of documentation as generators and editors write them."""

from cases.case import Case, each

KETTLE = "The red kettle boils water in two minutes and then switches itself off with a loud click.\n"
BOOT = "The red boot keeps feet dry in the rain and in the snow and is washed with a lot of cold water.\n"
LAMP = "The {} has a red lamp that shines while it heats, and it switches itself off when the water boils over."
READ = r"1 question\b.* right .*The red kettle boils"
NAVIGATION = """<header><h2>Table of contents</h2><nav><ul><li><a href=a>Home of the project</a></li>
<li><a href=b>Documentation of all releases since the first one</a></li></ul></nav></header>"""
FOOTER = "<footer><p>© Copyright 2024, the kettle authors. Built with a generator of sites by somebody.</p></footer>"


def site(name):
    """Return a page with navigation and footer."""
    return f"{NAVIGATION}<main><h1>{name} page</h1><p>{LAMP.format(name)}</p></main>{FOOTER}"


def page(text, name="a.md", **others):
    """Return the files of a folder with one page, and a question that it answers."""
    return {f"docs/{name}": text, "q.csv": "question,document\nHow fast does it boil?,a\n", **others}


CASES = {
    "bom-front-matter": Case(
        READ,
        page(b"\xef\xbb\xbf---\r\ntitle: Kettle\r\n---\r\n\r\n" + KETTLE.encode()),
        hides=("title:", "---"),
    ),
    "case-duplicates": Case(
        "2 documents, 1 question",
        {"docs/Guide.md": KETTLE, "docs/guide.md": BOOT, "q.csv": "question,document\nHow fast?,Guide\n"},
    ),
    # Line ends of old Macs.
    "cr-only": Case("in 2 passages", page(f"# Kettle\n\n{KETTLE}\n# Boots\n\n{BOOT}".replace("\n", "\r"))),
    "html-entities-md": Case(
        "right # AT&T — plans Use <b> for bold text and © for the sign",
        page("# AT&amp;T &mdash; plans\n\nUse &lt;b&gt; for bold&nbsp;text and &copy; for the sign; " + KETTLE),
    ),
    "html-nav-footer": Case(
        "4 documents, 1 question",
        {
            "q.csv": "question,document\nHow does it work?,boots\n",
            **{f"docs/{name}.html": site(name) for name in ("boots", "bridge", "kettle", "sundial")},
        },
        "look -c m=docs,questions=q.csv,passages=paragraph",
        hides=("Table of contents", "Copyright"),
    ),
    "html-pilcrow": Case(
        r"right # Kettle The red kettle .* ## Descaling the kettle The kettle has",
        page(
            f'<h1>Kettle<a class="headerlink" href="#kettle">¶</a></h1><p>{KETTLE}</p>'
            f'<h2>Descaling the kettle<a class="headerlink" href="#d">#</a></h2><p>{LAMP.format("kettle")}',
            "a.html",
        ),
        hides="¶",
    ),
    "html-pre-hash": Case(
        ("start the service", READ),
        page(
            "<h1>Install the kettle</h1><p>Type this into a terminal and wait until it ends.</p>"
            f"<pre># start the service\nkettle start --port 80</pre><p>{KETTLE}</p>",
            "a.html",
        ),
        hides=r"in \d passages",
    ),
    # A browser shows nothing of it, either.
    "html-unclosed-title": Case(
        "no text", page(f"<html><head><title>Kettle</head><body><p>{KETTLE}", "a.html"), code=2
    ),
    "md-code-comment": Case(
        (READ, "start the service"),
        page(f"# Install\n\n```sh\npip install it\n\n# start the service\nkettle start\n\n# stop it\n```\n\n{KETTLE}"),
        hides=r"in \d passages",
    ),
    "md-data-uri": Case(READ, page(f"![plan](data:image/png;base64,{'iVBORw0KGgo' * 9})\n\n{KETTLE}"), hides="iVBOR"),
    "md-front-matter-title": Case(
        r"right \W*Descaling the kettle\W+The red kettle",
        page(f"---\ntitle: Descaling the kettle\nsidebar_label: Descale\n---\n\n{KETTLE}"),
        hides="sidebar_label",
    ),
    "md-html-comment": Case(
        READ,
        page(f"# Kettle\n\n<!-- TODO(ops): see ticket 4711 -->\n\n<!--\nLicensed by us.\n-->\n\n{KETTLE}"),
        hides=("4711", "Licensed", "<!--"),
    ),
    "md-json-front-matter": Case(
        r"right \W*Descaling the kettle\W+The red kettle",
        page(f'{{\n "title": "Descaling the kettle",\n "draft": false\n}}\n\n{KETTLE}'),
        hides="draft",
    ),
    "md-markdown-suffix": Case(
        ("2 documents", READ), page(f"# Kettle\n\n{KETTLE}", "a.markdown", **{"docs/b.md": f"# Boots\n\n{BOOT}"})
    ),
    "md-mdx-jsx": Case(
        rf"{READ}|a\.mdx",
        page(
            f"---\ntitle: Kettle\n---\nimport Tabs from '@theme/Tabs';\n\n<Tabs>\n<Tab>\n\n{KETTLE}\n</Tab>\n</Tabs>\n",
            "a.mdx",
            **{"docs/b.md": BOOT},
        ),
        code=(0, 2),
    ),
    # It looks like front matter.
    "md-rule-key": Case(READ, page(f"---\nThis page: an introduction, which is text.\n---\n{KETTLE}")),
    "md-setext": Case(
        "in 2 passages",
        page(f"Kettle\n======\n\n{KETTLE}\nDescaling\n---------\n\n{BOOT}"),
        hides=("===", "---"),
    ),
    "requirements-txt": Case(
        (READ, r"1 document,|requirements\.txt"),
        page(
            KETTLE,
            **{
                "docs/requirements.txt": "sphinx==7.2\nmyst-parser>=2\n",
                "docs/CMakeLists.txt": "project(kettle)\nadd_executable(kettle main.c)\n",
                "docs/robots.txt": "User-agent: *\nDisallow: /\n",
            },
        ),
    ),
    # The `<` must not shift the pairs of backticks that follow.
    "rst-backtick-lt": Case(
        r"kettle<2\.28 until next year. See the notes and how to descale before",
        page(
            "Versions\n========\n\nOld systems should pin `kettle<2.28` until next year. See `the notes <https://e.org>`_\n"
            "and :ref:`how to descale <descaling>` before you begin with the work in the kitchen of the house.\n"
            "\nA `proxy server`_ stands between the machines.\n",
            "a.rst",
        ),
        hides=(":ref:", "`", "e.org"),
    ),
    "same-id-two-suffixes": Case(
        r"a\.txt", page(KETTLE, **{"docs/a.txt": BOOT, "docs/b.md": BOOT.replace("red", "blue")}), code=0
    ),
    "template-html": Case(
        "1 document",
        {
            "docs/a.md": f"# Descaling the kettle\n\n{LAMP.format('kettle')}\n",
            "q.csv": "question,document\nHow fast does it boil?,a\n",
            "docs/_build/html/a.html": f"<h1>Descaling the kettle</h1><p>{LAMP.format('kettle')}</p>",
            "docs/_templates/sidebar.html": "<h3>{{ _('Useful Links') }}</h3><p>{% if version %}{{ version }} of the "
            "kettle for beginners and for experts{% endif %}</p>",
            "docs/node_modules/x/README.md": f"# Some package of others\n\n{BOOT}",
        },
        "look -c m=docs,questions=q.csv",
        hides=("{{", "package of others"),
    ),
    # AsciiDoc as .txt cannot be told from a text.
    "txt-is-adoc": Case(
        "right = The kettle :toc: left == Descaling",
        page(f"= The kettle\n:toc: left\n\n== Descaling\n\n{KETTLE}", "a.txt"),
    ),
}


@each(CASES)
def test_page(case, capsys):
    case.check(capsys)
