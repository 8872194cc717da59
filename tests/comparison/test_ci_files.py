"""The GitHub action and the pre-commit hook are executed here as their users would."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import embassay as ea
from github_runner import run_action

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
CI = ROOT / "examples" / "ci"
CORPUS = "mine=pairs.csv,first=text_a,second=text_b,score=score"
KEY = "canary-5f0e9b71c2d84a36"
# What this version depends on counts as installed: to unpack it again takes a minute and a half. The version itself is
# found there by its metadata only, and installed anew.
DEPENDENCIES = sysconfig.get_path("purelib")
TAG = f"v{ea.__version__}"
AUTHOR = "git config user.name A && git config user.email a@example.org"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Variables with an ``embassay`` on the path that is the one under test."""
    command = tmp_path_factory.mktemp("bin") / "embassay"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m embassay "$@"\n')
    command.chmod(0o755)
    # What a runner of GitHub, or a git hook that runs the tests, has set is not for these repositories.
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("GIT", "PRE_COMMIT"))}
    variables["GIT_CONFIG_GLOBAL"] = os.devnull
    variables["PATH"] = f"{command.parent}:{variables['PATH']}"
    variables["PYTHONPATH"] = str(ROOT / "src")
    # Most of an installation is the compilation of modules that are never imported.
    variables["PIP_NO_COMPILE"] = "1"
    return variables


def shell_in(folder, environment):
    def shell(script, code=0, **variables):
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=folder,
            env={**environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    return shell


@pytest.fixture(scope="module")
def repository(tmp_path_factory, environment):
    """A corpus, a run of it and its baseline."""
    folder = tmp_path_factory.mktemp("repository")
    lines = ["text_a,text_b,score"]
    lines += [f"the red ball {n},the {'red' if n % 3 else 'blue'} ball {n % 40},{n % 3}" for n in range(120)]
    (folder / "pairs.csv").write_text("\n".join(lines))
    shell_in(folder, environment)(
        f"embassay run -e model=hashing,dim=256 -c {CORPUS} -o first && embassay bless first -o baseline"
    )
    return folder


@pytest.fixture
def project(tmp_path, repository, environment):
    """A copy of the repository, a shell in it, and its variables."""
    folder = tmp_path / "repository"
    shutil.copytree(repository, folder)
    return folder, shell_in(folder, environment), environment


@pytest.fixture
def act(project, tmp_path_factory):
    """Run the action in the repository, with the command under test instead of an installation."""
    folder, _, environment = project

    def run(inputs, **variables):
        scratch = tmp_path_factory.mktemp("runner")
        inputs = {"baseline": "baseline", **inputs}
        return run_action(ROOT / "action.yml", inputs, folder, {**environment, **variables}, scratch, skip=("Install",))

    return run


@pytest.fixture
def published(tmp_path, project):
    """This version as a repository with its tag: what GitHub and pre-commit fetch."""
    _, shell, _ = project
    folder = tmp_path / "embassay"
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "action.yml", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder)
    shell(f"git init -q '{folder}' && cd '{folder}' && {AUTHOR} && git add . && git commit -qm all && git tag {TAG}")
    return folder


def programs_of_fresh_python(tmp_path, shell, package):
    """Make an environment with one package from the index, and return the folder of its programs."""
    programs = tmp_path / "venv" / "bin"
    shell(f"'{sys.executable}' -m venv '{programs.parent}'")
    install = [programs / "python", "-m", "pip", "install", "--quiet", "--retries", "0", "--timeout", "20", package]
    if subprocess.run(install, check=False).returncode != 0:
        pytest.skip(f"{package} cannot be installed: is the package index reachable?")
    return programs


@pytest.mark.slow
def test_the_action_passes_for_the_same_model_and_fails_for_a_worse_one(project, act):
    folder, *_ = project
    job = act({"run": '-e "model=hashing,dim=256" -c \'' + CORPUS + "'"})
    assert job.codes == {"Run": 0, "Check": 0}, job.log
    assert "Embassay check: pass" in job.files["GITHUB_STEP_SUMMARY"]
    assert sorted(path.name for path in (folder / "embassay-check").iterdir()) == [
        "check.json",
        "comment.md",
        "junit.xml",
    ]
    job = act({"run": f"-e model=hashing,dim=2 -c {CORPUS}", "check": "--margin pearson=0.01"})
    assert job.codes == {"Run": 0, "Check": 1}
    assert "regression" in job.log
    assert "Embassay check: regression" in job.files["GITHUB_STEP_SUMMARY"]
    # The artifact is made after a failure, too.
    assert all((folder / path).is_dir() for path in job.used["actions/upload-artifact"]["path"].split())


@pytest.mark.slow
def test_an_input_of_the_action_runs_no_command(project, act):
    folder, *_ = project
    job = act({"run": "-e model=hashing,dim=256 $(touch one) `touch two` ; touch three"})
    assert job.codes == {"Run": 2}
    assert not [name for name in ("one", "two", "three") if (folder / name).exists()]


@pytest.mark.slow
def test_a_key_comes_from_the_environment_of_the_action_and_is_written_nowhere(project, act, service):
    folder, shell, _ = project
    run = f"-e model=api:small,base_url={service.url},key_env=MY_KEY -c {CORPUS}"
    shell(f"embassay run {run} -o old && embassay bless old -o served", MY_KEY=KEY)
    service.seen.clear()
    job = act({"run": run, "baseline": "served"}, MY_KEY=KEY, EMBASSAY_CACHE=str(folder / "cache"))
    assert job.codes == {"Run": 0, "Check": 0}, job.log
    assert service.seen
    assert all(headers["authorization"] == f"Bearer {KEY}" for _, headers, _ in service.seen)
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert KEY not in job.log + "".join(job.files.values())
    assert KEY.encode() not in written
    # No input is one for keys: without the variable nothing is sent.
    service.seen.clear()
    job = act({"run": run})
    assert job.codes == {"Run": 2}
    assert "MY_KEY is not set" in job.log
    assert not service.seen


@pytest.mark.slow
def test_the_pre_commit_hook_lets_a_push_through_or_stops_it(project, published, tmp_path):
    folder, shell, _ = project
    programs = programs_of_fresh_python(tmp_path, shell, "pre-commit")
    own = {"PYTHONPATH": DEPENDENCIES, "PRE_COMMIT_HOME": str(tmp_path / "hooks")}
    config = (CI / "pre-commit-config.yaml").read_text(encoding="utf-8")
    config = config.replace("https://github.com/OWNER/embassay", str(published))
    (folder / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    shell(f"embassay run -e model=hashing,dim=256 -c {CORPUS} -o embassay-run")
    shell(f"git init -q --bare ../remote && git init -q && {AUTHOR} && git remote add origin ../remote")
    shell(f"git add baseline pairs.csv && git commit -qm one && '{programs}/pre-commit' install", **own)

    assert "Passed" in shell("git push origin HEAD", **own)
    assert list(tmp_path.glob("hooks/*/py_env*/bin/embassay"))
    shell(f"embassay run -e model=hashing,dim=2 -c {CORPUS} -o embassay-run --overwrite")
    shell("git commit -q --allow-empty -m two")
    stopped = shell("git push origin HEAD", code=1, **own)
    assert "Failed" in stopped
    assert "regression: model, spearman on mine" in stopped
    assert shell("git rev-parse HEAD~") == shell("git --git-dir ../remote rev-parse HEAD")


def test_the_examples_name_this_version():
    assert f"OWNER/embassay@{TAG}\n" in (CI / "github-workflow.yml").read_text(encoding="utf-8")
    assert f"rev: {TAG}\n" in (CI / "pre-commit-config.yaml").read_text(encoding="utf-8")


def test_the_workflow_uses_inputs_that_the_action_has():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    workflow = yaml.safe_load((CI / "github-workflow.yml").read_text())
    (step,) = [step for step in workflow["jobs"]["check"]["steps"] if "embassay@" in step.get("uses", "")]
    assert set(step["with"]) <= set(action["inputs"])
    assert {name for name, one in action["inputs"].items() if one.get("required")} <= set(step["with"])
