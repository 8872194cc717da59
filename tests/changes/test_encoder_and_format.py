"""An encoder kind and a corpus format of one's own are one file each.

The files are those of ``CONTRIBUTING.md``, in no folder of ours: another package names each as an entry point.
"""

import json
import re
import sys
from pathlib import Path

import pytest

from embassay.cli.app import exit_code_of

ROOT = Path(__file__).parent.parent.parent
KINDS = {"letters": "encoders", "blocks": "corpora"}
THINGS = ("rain", "door", "train", "lamp", "river", "glass")


def example(name):
    """The source of a plug-in, as CONTRIBUTING.md prints it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.search(rf"^`src/[\w/]+/{name}\.py`:\n\n```python\n(.*?)^```", text, flags=re.S | re.M)[1]


@pytest.fixture
def embassay(tmp_path, monkeypatch, capsys):
    """Return what installs one file as a plug-in, and what runs a command: its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    site = tmp_path / "site"

    def install(name):
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (site / f"{name}.py").write_text(example(name), encoding="utf-8")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[embassay.{KINDS[name]}]\n{name} = {name}\n")
        monkeypatch.syspath_prepend(site)

    def call(*arguments):
        code = exit_code_of([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, " ".join(out.split()), err

    yield install, call
    for name in KINDS:
        sys.modules.pop(name, None)


def test_an_encoder_kind_is_one_file(embassay):
    install, call = embassay
    run = ("run", "-e", "letters", "-c", "opposites", "-d", "negated_antonyms", "--resamples", 20, "-o", "out")
    # Without the file the name is a model that nobody has.
    assert call(*run)[0] != 0

    install("letters")
    code, _, err = call(*run)
    assert code == 0, err
    result = json.loads(Path("out/result.json").read_text(encoding="utf-8"))
    assert "letters" in {row["encoder"] for row in result["rows"]}
    assert "letters" in Path("out/report.html").read_text(encoding="utf-8")
    _, listed, _ = call("list", "encoders")
    assert "letters Letter frequencies: a baseline that knows no words" in listed


def test_a_corpus_format_is_one_file(embassay):
    install, call = embassay
    groups = [[f"the {thing} number {number}" for number in range(4)] for thing in THINGS]
    text = "\n\n".join("\n".join(group) for group in groups)
    Path("mine.txt").write_text(f"# paraphrase blocks\n{text}\n", encoding="utf-8")
    run = ("run", "-e", "bow", "-c", "mine.txt", "-d", "localization", "--resamples", 20, "-o", "out")
    code, _, err = call(*run)
    assert code == 2
    assert "unrecognised" in err

    install("blocks")
    code, _, err = call(*run)
    assert code == 0, err
    result = json.loads(Path("out/result.json").read_text(encoding="utf-8"))
    (corpus,) = result["corpora"]
    assert (corpus["loader"], corpus["items"]) == ("blocks", 24)
    _, looked, _ = call("look", "-c", "mine.txt")
    assert "groups" in looked
