"""No part of the project grows beyond its budget, and budgets only go down (``make budgets``)."""

import ast
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def budgets(monkeypatch):
    if shutil.which("git") is None or subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True).returncode:
        pytest.skip("git, which lists the files, is not there or does not know this folder")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    spec = importlib.util.spec_from_file_location("budgets", ROOT / "tools" / "budgets.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "budgets", module)
    spec.loader.exec_module(module)
    return module


def test_nothing_is_larger_than_its_budget(budgets):
    allowed = json.loads(budgets.BUDGETS.read_text(encoding="utf-8"))
    larger = {
        name: (size, allowed.get(name, 0)) for name, size in budgets.measured().items() if size > allowed.get(name, 0)
    }
    assert larger == {}, "what is there, and its budget"


def test_what_is_counted(budgets):
    nodes = list(ast.walk(ast.parse("def of_one(found: list[int]) -> int:\n    level = 1\n    return level\n")))
    assert budgets.vague_names(nodes) == 1
    assert budgets.prepositional_names(nodes) == 1
    # Six nodes of list[int], two of int.
    assert budgets.annotation_nodes(nodes) == 8
    assert budgets.room_of(ROOT / "src" / "embassay" / "stats" / "a.py") == "src/stats"
    assert budgets.room_of(ROOT / "src" / "embassay" / "api.py") == "src"
    assert budgets.room_of(ROOT / "tests" / "run" / "a.py") == "tests"
