"""Runs the steps of a composite action as a runner of GitHub does, but for the actions that it uses.

Inputs stand in for ``${{ inputs.NAME }}``, any other expression is an error; each script is run by bash with GitHub's
options, from a file, in the workspace; after a failed step only those with ``if: always()`` follow.
"""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import yaml

BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
FILES = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")
"""Files that a step may write, each named by a variable."""


@dataclass
class Job:
    """What became of the steps: exit codes by name, everything they printed, the files they wrote, the uses."""

    codes: dict[str, int] = field(default_factory=dict)
    log: str = ""
    files: dict[str, str] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)


def run_action(action, inputs, workspace, environment, scratch, *, skip=()):
    """Run an action in a workspace.

    Parameters
    ----------
    action
        The ``action.yml``; its folder is ``$GITHUB_ACTION_PATH``.
    inputs
        What the workflow says under ``with``.
    environment
        The variables of the job.
    scratch
        An empty folder for the scripts and the files that steps write.
    skip
        Names of steps that are left out.
    """
    action = Path(action)
    content = yaml.safe_load(action.read_text(encoding="utf-8"))
    assert set(inputs) <= set(content["inputs"])
    assert {name for name, one in content["inputs"].items() if one.get("required")} <= set(inputs)
    values = {name: one.get("default", "") for name, one in content["inputs"].items()} | inputs
    files = {name: scratch / name.lower() for name in FILES}
    for path in files.values():
        path.touch()
    variables = {**environment, **{name: str(path) for name, path in files.items()}}
    variables |= {"GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(action.parent)}

    job = Job()
    for step in content["runs"]["steps"]:
        failed = any(job.codes.values())
        if step["name"] in skip or (failed and step.get("if") != "always()"):
            continue
        if "uses" in step:
            job.used[step["uses"].split("@")[0]] = {name: fill(str(one), values) for name, one in step["with"].items()}
            continue
        script = scratch / "script.sh"
        script.write_text(fill(step["run"], values), encoding="utf-8")
        assert step["shell"] == "bash"
        own = {name: fill(text, values) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            [*BASH, str(script)],
            cwd=workspace,
            env={**variables, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        job.codes[step["name"]] = done.returncode
        job.log += done.stdout
    job.files = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    return job


def fill(text, values):
    """Put the values of inputs into a text with ``${{ inputs.NAME }}``."""
    filled = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
    assert "${{" not in filled, f"an expression that is no input: {text}"
    return filled
