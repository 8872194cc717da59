"""The documentation site builds without a broken link, and its reference has every public name once."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import embassay

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_site_builds_strictly(tmp_path):
    pytest.importorskip("zensical", reason="the dependency group docs is not installed")
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    (tmp_path / "src").symlink_to(ROOT / "src")

    command = [str(Path(sys.executable).parent / "zensical"), "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "site" / "reference" / "running" / "index.html").read_text(encoding="utf-8")
    assert 'id="embassay.assay"' in page


def test_the_reference_has_every_public_name_once():
    pages = (ROOT / "docs" / "reference").glob("*.md")
    documented = Counter()
    for page in pages:
        documented.update(re.findall(r"^::: embassay\.(\w+)$", page.read_text(encoding="utf-8"), flags=re.M))

    wanted = Counter(name for name in embassay.__all__ if name != "__version__")
    assert documented == wanted


def test_the_site_s_navigation_has_every_page():
    config = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    listed = re.findall(r'"([\w/-]+\.md)"', config)

    docs = ROOT / "docs"
    pages = [page.relative_to(docs).as_posix() for page in docs.rglob("*.md")]
    assert sorted(listed) == sorted(pages)
