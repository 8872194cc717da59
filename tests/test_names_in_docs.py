"""Every file, module, class and function that the documentation names exists."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import embassay as ea
from embassay.core.plugins import BUILDERS, ENCODERS, FORMATS, RETRIEVERS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "embassay"
FOLDERS = ("src", "tests", "tools", "benchmarks", "examples")
CODE = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ABOUT_THE_CODE = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "architecture.md",
    *(ROOT / "docs" / "decisions").glob("*.md"),
]
"""The pages about the code; others also name options, columns and models."""


def quoted(document):
    """What stands between backticks on a page, without arguments: ``ea.load(…)`` names ``ea.load``."""
    text = document.read_text(encoding="utf-8")
    return {re.sub(r"\(.*\)$", "", name) for name in re.findall(r"`([^`\n]+)`", text)}


def written_by_examples(document):
    """The files of worked examples: their path stands alone on a line, before the code."""
    return set(re.findall(r"^`([^`]+)`:$", document.read_text(encoding="utf-8"), flags=re.M))


def members():
    """The methods and fields of each class of the package, by its name."""
    members_of = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                names = members_of.setdefault(node.name, set())
                for part in node.body:
                    if isinstance(part, ast.FunctionDef):
                        names.add(part.name)
                    elif isinstance(part, ast.AnnAssign):
                        names.add(part.target.id)
    return members_of


MEMBERS = members()
WORDS = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in CODE if path != Path(__file__))))


def exists(name):
    """Whether a file is in the repository: by its path, by its path in the package, or by its name alone."""
    if "/" not in name:
        return any(path.name == name for path in CODE)
    return (ROOT / name).exists() or (PACKAGE / name).exists()


def is_public(name):
    """Whether ``embassay.a.b`` or ``ea.b`` can be imported."""
    _, *parts = name.split(".")
    thing = ea
    for place, part in enumerate(parts):
        if not hasattr(thing, part):
            try:
                importlib.import_module(".".join(["embassay", *parts[: place + 1]]))
            except ModuleNotFoundError:
                return False
        thing = getattr(thing, part)
    return True


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.stem)
def test_files_and_names_exist(document):
    absent = []
    for name in quoted(document):
        # A command may follow the file: "benchmarks/cache.py 25000".
        path = name.split(" ")[0]
        if re.fullmatch(r"[\w./]+\.py|(src|tests|tools|docs|examples|benchmarks)/[\w./]*", path):
            is_there = exists(path) or path in written_by_examples(document)
        elif name.endswith((".json", ".toml")):
            # A file that a command writes.
            continue
        elif re.fullmatch(r"(embassay|ea)(\.[A-Za-z_]+)+", name):
            is_there = is_public(name) or name in [kind.group for kind in (BUILDERS, ENCODERS, FORMATS, RETRIEVERS)]
        elif re.fullmatch(r"([A-Z]\w*[a-z]\w*|result)\.\w+", name):
            owner, member = name.split(".")
            is_there = member in MEMBERS.get(owner.replace("result", "Result"), ())
        else:
            continue
        if not is_there:
            absent.append(name)
    assert absent == []


@pytest.mark.parametrize("document", ABOUT_THE_CODE, ids=lambda path: path.stem)
def test_identifiers_are_words_of_the_code(document):
    identifiers = {name for name in quoted(document) if re.fullmatch(r"[A-Z][a-z]+[A-Z]\w*|\w+_\w+", name)}
    assert identifiers - WORDS == set()


def test_the_calls_that_are_drawn_exist():
    """``run/plan.py   prepare → load_corpora   what it does``: files, and functions of the package."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = []
    for line in re.findall(r"^    (.*)", text.partition("## One command through the code")[2], flags=re.M):
        parts = re.split(r" {2,}", line.strip())
        if re.fullmatch(r"[\w/]+(\.py|/…)", parts[0]):
            file = parts.pop(0).removesuffix("…")
            assert (PACKAGE / file).exists(), file
        drawn += re.split(r" → |→ |, ", parts[0])
    names = [name for name in drawn if re.fullmatch(r"[\w.]+", name)]
    assert len(names) > 20
    for name in names:
        owner, _, member = name.rpartition(".")
        is_ours = member in MEMBERS[owner] if owner in MEMBERS else member in WORDS
        assert is_ours, name
