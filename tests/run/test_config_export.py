"""The best candidate as a config file that runs again."""

import json
import tomllib

import pytest

from embassay.cli.app import exit_code_of
from embassay.run.record import _without_secrets
from embassay.run.specs import Spec


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of fusions, some of them of a fusion, on documents that are cut in two ways."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "docs"
    folder.mkdir()
    questions = []
    for number in range(30):
        text = f"The valve number w{number} of pump p{number % 7} is closed at noon."
        (folder / f"d{number}.txt").write_text(text, encoding="utf-8")
        questions.append({"question": f"When is w{number} closed?", "document": f"d{number}"})
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    command = ["run", "-c", "mine=docs,questions=q.jsonl,passages=[document,5]", "-e", "h=hashing,dim=16", "-e", "bm25"]
    command += [
        "-e",
        "half=hybrid:h+bm25",
        "-e",
        "two=hybrid:bm25+half,weight=[1.0,0.9]",
        "-e",
        "tfidf",
        "-d",
        "retrieval,k=1",
    ]
    assert exit_code_of([*command, "--resamples", "50", "--no-cache", "--no-baselines", "-o", "first", "--quiet"]) == 0
    return tmp_path


def figures(folder):
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    rows = [row for row in result["rows"] if row["metric"] == "Success@1" and row["subset"] == "all"]
    return {row["encoder"].split(",passages")[0]: (row["value"], row["low"]) for row in rows}


def test_the_best_candidate_is_written_with_its_parts_and_runs_again_with_the_same_figures(run):
    path = run / "first" / "result.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    names = [encoder["name"] for encoder in result["encoders"]]
    best = next(name for name in names if name.startswith("two,weight=0.9") and "passages=5" in name)
    next(answer for answer in result["answers"] if answer["question"] == "Use")["encoder"] = best
    path.write_text(json.dumps(result), encoding="utf-8")
    assert exit_code_of(["report", "first", "--format", "config"]) == 0
    content = (run / "first" / "setup.toml").read_text(encoding="utf-8")
    assert content.startswith(f"# The set-up {best} of first: ")
    written = tomllib.loads(content)
    assert [encoder["name"] for encoder in written["encoders"]] == ["bm25", "h", "half", "two,weight=0.9"]
    assert written["corpora"][0]["passages"] == "5"
    assert written["diagnostics"] == [{"spec": "retrieval", "k": 1}]
    assert exit_code_of(["run", "first/setup.toml", "--no-cache", "--no-baselines", "-o", "second", "--quiet"]) == 0
    again = figures(run / "second")
    assert again["two,weight=0.9"] == figures(run / "first")["two,weight=0.9"]


def test_values_that_are_sent_to_a_service_are_not_stored():
    headers = {"Authorization": "$KEY", "X-Key": "hunter2"}
    spec = Spec("https://host/path", "s", {"ids": "a", "headers": headers, "base_url": "https://host?sig=key"})
    assert _without_secrets(spec.options) == {"ids": "a", "headers": {"Authorization": "$KEY"}}
