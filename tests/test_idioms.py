"""Plain English: what is printed and documented has none of the idioms that a native editor replaced."""

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
INSTEAD = {
    r"\b[Nn]obody\b": "no encoder, no study",
    r"\bgiven twice\b": "duplicate",
    r"\basked for\b": "requested",
    r"\bat hand\b|\b(?:can|could|is to) be had\b": "available, installed, on this machine",
    r"\b(?:that|those) of\b|\bthe one that\b|\bno answer says\b": "the noun",
    r"\b(?:rests?|stands?) on\b(?! its)": "is based on, needs",
    r"\btold (?:by|from|apart)\b": "recognised by, estimated from",
    r"\b(?:is|are) said\b": "reported",
    r", too(?=[.;:,)\n])": "also",
    r"\bit takes (?:\d|\{)": "needs",
    r"\bso many\b": "at most N, this many",
    r"\bshows? a true difference|samples of five|four of five tests": "would be detected 80 % of the time",
    r"\balone of \d|May be the best:": "Only A can be the best of the two; A or B",
    r"Not tested: Whether": "X was not tested",
    r"has no part in": "cannot be used with",
    r"not suffice": "exceeds the budget",
    r"fits? their noise": "overfits",
    r"becomes no number": "became NaN",
    r"for want of": "because it ran out of memory",
    r"go unseen": "minimum detectable difference",
    r"\b[Gg]overns\b": "affects",
}
"""By idiom the words that stand for it."""
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GOLDEN = [ROOT / "tests" / "golden" / name for name in ("help.txt", "lists.txt", "mistakes.txt")]
GLOSSARY = ROOT / "src" / "embassay" / "reports" / "glossary.py"
PAGE = ROOT / "src" / "embassay" / "reports" / "page.html"


def messages():
    """Yield the texts of errors that are raised, each with its place."""
    for path in sorted((ROOT / "src" / "embassay").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                for part in ast.walk(node.exc):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield f"{path.relative_to(ROOT)}:{part.lineno}", part.value


def sentences():
    """Yield the texts of declared sentences, each with its name."""
    sections = runpy.run_path(str(ROOT / "tools" / "docs_figures.py"))["declared_sentences"]()
    for section, templates in sections.items():
        for name, one in templates.items():
            yield f"{section}: {name}", "\n".join((one.title, one.text, one.when, one.consequence, one.action))


def lines(paths):
    """Yield the lines of files, each with its place."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(keepends=True), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line


@pytest.mark.parametrize("source", [messages, sentences, lambda: lines([*DOCS, *GOLDEN, GLOSSARY, PAGE])])
def test_there_are_no_idioms(source):
    hits = [
        f"{place}: {found[0]!r}: say {words}"
        for place, text in source()
        for pattern, words in INSTEAD.items()
        for found in re.finditer(pattern, text)
    ]
    assert hits == []


@pytest.mark.parametrize(
    "text",
    ["nobody finds 2", "a run is given twice", "its weights are at hand", "the value is that of the model", "it, too."],
)
def test_an_idiom_is_found(text):
    assert any(re.search(pattern, text) for pattern in INSTEAD)
