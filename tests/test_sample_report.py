"""The sample report in the documentation is small enough, and its script still builds it."""

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
def test_the_sample_has_the_sections_that_its_script_makes(script, tmp_path):
    # Encoders that need no weights, so that it is built everywhere.
    fresh = report(script.sample(("bow", "hashing")), tmp_path / "report.html").read_text(encoding="utf-8")
    sample = script.PAGE.read_text(encoding="utf-8")
    assert sections(sample) == sections(fresh)
    assert len(sample.encode()) < script.MOST_BYTES
    for label in script.ENCODERS:
        assert f'id="model-{label.partition("=")[0]}"' in sample
