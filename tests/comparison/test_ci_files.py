"""The GitHub action and the examples for GitLab and pre-commit: their steps are run here, without the installation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
CI = ROOT / "examples" / "ci"
CORPUS = "mine=pairs.csv,first=text_a,second=text_b,score=score"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository with a corpus, and an ``embassay`` on the path that is the one under test."""
    folder = tmp_path / "repository"
    folder.mkdir()
    lines = ["text_a,text_b,score"]
    lines += [f"the red ball {n},the {'red' if n % 3 else 'blue'} ball {n % 40},{n % 3}" for n in range(120)]
    (folder / "pairs.csv").write_text("\n".join(lines))
    command = tmp_path / "bin" / "embassay"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m embassay "$@"\n')
    command.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "GITHUB_STEP_SUMMARY"}
    environment["PATH"] = f"{command.parent}:{environment['PATH']}"
    environment["PYTHONPATH"] = str(ROOT / "src")

    def shell(script, code=0, **variables):
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=folder,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    shell(f"embassay run -e model=hashing,dim=256 -c {CORPUS} -o first && embassay bless first -o baseline")
    return folder, shell


def action_steps(inputs):
    """Return the shell steps of the action with their environment; the installation is left out."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    values = {name: str(one.get("default", "")) for name, one in action["inputs"].items()} | inputs
    required = {name for name, one in action["inputs"].items() if one.get("required")}
    assert required <= set(inputs)
    steps = []
    for step in action["runs"]["steps"]:
        if "run" not in step or step["name"] == "Install":
            continue
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an input in a script could run commands"
        variables = {}
        for name, expression in step.get("env", {}).items():
            variables[name] = values[expression.removeprefix("${{ inputs.").removesuffix(" }}")]
        steps.append((step["run"], variables))
    return steps


@pytest.mark.slow
def test_the_action_passes_for_the_same_model_and_fails_for_a_worse_one(project):
    folder, shell = project
    summary = folder / "summary.md"
    inputs = {"run": '-e "model=hashing,dim=256" -c \'' + CORPUS + "'", "baseline": "baseline"}
    for script, variables in action_steps(inputs):
        shell(script, GITHUB_STEP_SUMMARY=str(summary), **variables)
    assert "Embassay check: pass" in summary.read_text(encoding="utf-8")
    assert sorted(path.name for path in (folder / "embassay-check").iterdir()) == [
        "check.json",
        "comment.md",
        "junit.xml",
    ]
    inputs["run"] = f"-e model=hashing,dim=2 -c {CORPUS}"
    inputs["check"] = "--margin pearson=0.01"
    (run, run_variables), (check, check_variables) = action_steps(inputs)
    shell(run, **run_variables)
    assert "regression" in shell(check, code=1, **check_variables)


@pytest.mark.slow
def test_the_gitlab_example_runs(project):
    folder, shell = project
    job = yaml.safe_load((CI / "gitlab-ci.yml").read_text())["embassay"]
    variables = {**job["variables"], "RUN": f"-e model=hashing,dim=256 -c {CORPUS}"}
    for script in job["script"]:
        shell(script, **variables)
    for path in (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]):
        assert (folder / path).exists()


@pytest.mark.slow
def test_the_pre_commit_hook_runs(project):
    _, shell = project
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    config = yaml.safe_load((CI / "pre-commit-config.yaml").read_text())
    (chosen,) = config["repos"][0]["hooks"]
    assert chosen["id"] == hook["id"]
    assert hook["pass_filenames"] is False
    shell(f"embassay run -e model=hashing,dim=256 -c {CORPUS} -o embassay-run")
    assert "pass" in shell(f"{hook['entry']} {' '.join(chosen['args'])}")


def test_the_workflow_uses_inputs_that_the_action_has():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    workflow = yaml.safe_load((CI / "github-workflow.yml").read_text())
    (step,) = [step for step in workflow["jobs"]["check"]["steps"] if "embassay@" in step.get("uses", "")]
    assert set(step["with"]) <= set(action["inputs"])
    assert {name for name, one in action["inputs"].items() if one.get("required")} <= set(step["with"])
