"""The script of the documentation's sample report still builds it."""

import importlib.util
import re
from pathlib import Path

import pytest

from embassay.api import report

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def script():
    """The script as a module."""
    found = importlib.util.spec_from_file_location("sample_report", ROOT / "tools" / "sample_report.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def sections(page):
    return re.findall(r'<section class="lazy" id="([^"]+)"', page)


@pytest.mark.slow
def test_the_sample_has_a_section_for_each_corpus(script, tmp_path):
    # Encoders that need no weights, so that it is built everywhere.
    page = report(script.sample(("bow", "hashing")), tmp_path / "report.html").read_text(encoding="utf-8")
    for corpus in script.CORPORA:
        assert any(section.endswith(f"-{corpus}") for section in sections(page)), corpus
