"""The example of a plug-in package, and the example of a script: they run, keep the contracts, and have right types."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import embassay as ea
from embassay.core import plugins
from embassay.testing import check_diagnostic, check_encoder, check_loader

ROOT = Path(__file__).parent.parent
PLUGIN = ROOT / "examples" / "plugin"
PACKAGE = PLUGIN / "src" / "embassay_length_bias"
SCRIPT = ROOT / "examples" / "compare_two_encoders.py"
SOURCE = Path(ea.__file__).parents[1]
WORDS = "shop rain door train lamp river glass bread wind stone".split()


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder with the package and its entry points, as pip leaves them; this process sees it too."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    place = tmp_path / "site"
    shutil.copytree(PLUGIN / "src", place, ignore=shutil.ignore_patterns("__pycache__"))
    info = place / f"embassay_length_bias-{project['version']}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(metadata)
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {module}" for name, module in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(place)
    monkeypatch.setattr(plugins, "_entry_points", cache(plugins._entry_points.__wrapped__))
    yield place
    for module in [m for m in sys.modules if m.startswith("embassay_length_bias")]:
        del sys.modules[module]


@pytest.fixture
def pairs_file(tmp_path):
    """Forty pairs whose sentences share no text, of 2 to 9 words."""
    random = np.random.default_rng(0)
    lines = ["# id | score | first | second", ""]
    for number in range(40):
        first, second = (" ".join(random.choice(WORDS, size=random.integers(1, 9))) for _ in range(2))
        lines.append(f"p{number} | {number % 6 or ''} | a{number} {first} | b{number} {second}")
    path = tmp_path / "mine.lst"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def python(folder, *arguments, places=()):
    """Run the interpreter in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*places, SOURCE]))}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=300)


@pytest.mark.slow
def test_a_run_shows_what_the_package_adds(site, pairs_file, tmp_path):
    arguments = ["-e", "char_ngrams,dim=64", "-e", "bow", "-c", pairs_file, "-d", "length_bias", "-d", "similarity"]
    done = python(tmp_path, "-m", "embassay", "run", *arguments, "-o", "out", places=[site])
    assert done.returncode == 0, done.stderr
    shown = python(tmp_path, "-m", "embassay", "show", "out", "length_bias", places=[site])
    assert shown.returncode == 0, shown.stderr
    assert "Length bias on mine\nDoes the similarity of two texts depend on their lengths?" in shown.stdout
    told = " ".join(shown.stdout.split())
    for words in ("as the lengths differ more", "with the length of both texts"):
        assert re.search(
            rf"• char_ngrams: the cosine of unrelated texts [a-z ]+ {words} \(Spearman −?0\.\d{{3}} \[", told
        )
    page = (tmp_path / "out" / "report.html").read_text()
    for text in (
        "Length bias on mine",
        "Similarity of unrelated texts by their lengths",
        "Mean cosine of unrelated texts",
    ):
        assert text in page
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    (corpus,) = result["corpora"]
    assert (corpus["name"], corpus["shape"], corpus["items"], corpus["units"]) == ("mine", "pairs", 40, 40)
    rows = [r for r in result["rows"] if r["diagnostic"] == "length_bias"]
    assert {(r["metric"], r["subset"]) for r in rows} == {
        ("spearman_difference", "all"),
        ("spearman_sum", "all"),
        ("mean_cosine", "equal"),
        ("mean_cosine", "unequal"),
    }
    assert {r["encoder"] for r in rows} == {"char_ngrams", "bow", "tfidf", "random"}
    assert any(c["diagnostic"] == "length_bias" for c in result["comparisons"])
    assert any(r["diagnostic"] == "similarity" and r["value"] is not None for r in result["rows"])
    listed = python(tmp_path, "-m", "embassay", "list", places=[site])
    for name in ("char_ngrams", "lst", "length_bias"):
        assert re.search(rf"^{name} ", listed.stdout, re.MULTILINE), listed.stdout


def test_the_contracts_hold(site, pairs_file):
    check_encoder("char_ngrams,dim=64")
    corpus = check_loader(str(pairs_file), "lst")
    check_diagnostic("length_bias", [corpus], ["char_ngrams", "bow"])


# The script, and what both import


@pytest.mark.slow
def test_the_script_runs(tmp_path):
    done = python(tmp_path, SCRIPT)
    assert done.returncode == 0, done.stderr
    assert "opposites: 280 samples, 70 independent units" in done.stdout
    assert "hashing gives vectors of shape (2, 64)" in done.stdout
    assert (tmp_path / "report.html").is_file()
    refused = python(tmp_path, SCRIPT, "no_such_corpus")
    assert refused.returncode == 1
    assert refused.stderr.startswith("compare_two_encoders: ")
    assert "Traceback" not in refused.stderr


def test_the_examples_import_no_private_name():
    for path in (*PLUGIN.rglob("*.py"), SCRIPT):
        imported = re.findall(r"(?:from|import) (embassay\S*)(?: import (.*))?", path.read_text(encoding="utf-8"))
        assert not [
            pair for pair in imported if re.search(r"[.\s,]_", f"{pair[0]} {pair[1]}".replace("__future__", ""))
        ]
        assert not re.search(r"\bea\._|\bsys\.path\b", path.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_basedpyright_finds_nothing_wrong(tmp_path):
    settings = {
        "include": [str(PACKAGE), str(SCRIPT)],
        "extraPaths": [str(SOURCE)],
        "typeCheckingMode": "standard",
        "pythonVersion": "3.11",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--project", str(tmp_path), "--pythonpath", sys.executable]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "0 errors, 0 warnings" in checked.stdout
