"""The rules for English sentences are one package with one public face."""

import ast
from pathlib import Path

import embassay.testsets

ROOT = Path(embassay.testsets.__file__).parent
ENGLISH = "embassay.testsets.english"


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("embassay.testsets"):
            yield node.module


def test_builders_use_the_face_of_the_package_only():
    users = [path for path in ROOT.rglob("*.py") if path.parent.name != "english"]
    inside = [f"{path} imports {name}" for path in users for name in imports(path) if name.startswith(f"{ENGLISH}.")]
    assert inside == []


def test_the_rules_know_nothing_of_the_builders():
    for path in (ROOT / "english").glob("*.py"):
        outside = [name for name in imports(path) if not name.startswith(f"{ENGLISH}.")]
        assert set(outside) <= {"embassay.stats.lexical.language", "embassay.testsets.options"}, path


def test_the_face_has_what_it_names():
    from embassay.testsets import english

    assert all(hasattr(english, name) for name in english.__all__)
