"""No sentence claims more than its procedure can show: a test that finds nothing says "not shown"."""

import ast
import re
import runpy
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "embassay"
FOLDERS = ("adaptation", "comparison", "diagnostics", "findings", "reports", "run")
ABSENCE = (
    r"does not differ|do not differ|makes no difference|has no effect",
    r"no difference (?!is shown|can be shown|from a wrong)",
    r"cannot be used for|says nothing about|is equally good|as good as (?!\{original\}|exact)",
    r"differences are real|systematic|are enough|not worth",
)
"""What only a test of equivalence could show, or no test."""


@cache
def trees():
    """Every file of the package as a tree, by its path in it."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {path.relative_to(SOURCE): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


@cache
def sentences():
    """Return each text with a space in it that the code may print, with its place; docstrings are no such texts."""
    found = []
    for path, tree in trees().items():
        if path.parts[0] not in FOLDERS:
            continue
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
            if is_text and id(node) not in docstrings:
                found.append((f"{path}:{node.lineno}", node.value))
    return found


@pytest.mark.parametrize("pattern", ABSENCE)
def test_no_sentence_concludes_absence(pattern):
    assert [(place, text) for place, text in sentences() if re.search(pattern, text)] == []


def test_such_a_sentence_would_be_found():
    assert any("which is not shown to differ from" in text for _, text in sentences())
    assert any(re.search(pattern, "It cannot be used for search.") for pattern in ABSENCE)


SECTIONS = runpy.run_path(str(SOURCE.parents[1] / "tools" / "docs_figures.py"))["declared_sentences"]()
DECLARED = {f"{section}: {name}": one for section, all_of in SECTIONS.items() for name, one in all_of.items()}
NOT_SHOWN = (
    r"not shown|No score is shown|no difference is shown|not significant|cannot be excluded|not ruled out|inconclusive"
    r"|is recommended|good enough"
)
RULED_OUT = r"(?<!not )ruled out|not worse|not to be worse"


def words_of(template):
    """The title and the sentence without the fields."""
    return re.sub(r"\{[^}]*\}", "…", f"{template.title}. {template.text}")


@pytest.mark.parametrize("template", DECLARED.values(), ids=DECLARED)
def test_what_a_sentence_claims_its_procedure_can_show(template):
    assert template.claimed in template.procedure.claims
    assert template.when
    words = words_of(template)
    if template.claimed == "not shown":
        assert re.search(NOT_SHOWN, words)
    if template.claimed in ("shown", "not shown") and re.search(RULED_OUT, words):
        assert template.procedure.excludes_loss
    if template.claimed == "shown" and not template.procedure.excludes_loss:
        # Who is excluded from the best set is shown not to be the best; a loss that is shown is not shown to be small.
        assert not re.search(r"not shown(?! to be below)", words)


def test_each_diagnostic_and_command_declares_its_sentences():
    assert len(DECLARED) > 100
    for word in ("bless and check", "compare", "plan", "adapt", "retrieval", "composition", "localization", "isotropy"):
        assert any(word in section for section in SECTIONS)


def test_findings_are_made_from_declared_sentences_only():
    calls = (
        (path.name, node) for path, tree in trees().items() for node in ast.walk(tree) if isinstance(node, ast.Call)
    )
    makers = {name for name, call in calls if getattr(call.func, "id", "") == "Finding"}
    assert makers == {"claims.py"}
