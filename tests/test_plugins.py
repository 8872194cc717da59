"""Plug-ins of other packages, through entry points: taken, told apart by their code, left out where they fail."""

import os
import subprocess
import sys
import uuid
from functools import cache
from pathlib import Path

import pytest

import embassay as ea
from embassay.core import plugins
from embassay.core.errors import PluginError
from embassay.core.plugins import DIAGNOSTICS, source_hash
from embassay.run.plan import prepare
from embassay.run.request import RunRequest


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution of one module with its entry points, and return the name of the module."""

    def put(source, **groups):
        name = f"theirs_{uuid.uuid4().hex[:8]}"
        place = tmp_path / "site"
        info = place / f"{name}-1.5.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        lines = [f"[embassay.{group}]\n{plugin} = {name}\n" for group, plugin in groups.items()]
        (info / "entry_points.txt").write_text("\n".join(lines))
        (place / f"{name}.py").write_text(source)
        monkeypatch.syspath_prepend(place)
        monkeypatch.setattr(plugins, "_entry_points", cache(plugins._entry_points.__wrapped__))
        return name

    yield put
    for module in [m for m in sys.modules if m.startswith("theirs_")]:
        del sys.modules[module]


def embassay(tmp_path, *arguments):
    """Run the command in a process of its own, which sees the installed distributions."""
    places = os.pathsep.join([str(tmp_path / "site"), str(Path(ea.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "embassay", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=300)


# What a plug-in computes with


@pytest.mark.parametrize("name", DIAGNOSTICS.names())
def test_each_diagnostic_of_ours_has_a_version(name):
    module = DIAGNOSTICS.module(name)
    assert isinstance(module.VERSION, int)
    assert DIAGNOSTICS.version(name) == str(module.VERSION)


def test_the_version_stands_in_the_signature():
    result = ea.assay(["hashing"], ["opposites"], ["negated_antonyms"], cache=None, resamples=20, baselines=False)
    assert all(r.signature.startswith("negated_antonyms@1|corpus:opposites@") for r in result.rows)


def test_the_hash_is_of_the_module_or_of_all_of_its_package(tmp_path):
    alone, package = f"alone_{uuid.uuid4().hex[:8]}", f"package_{uuid.uuid4().hex[:8]}"
    (tmp_path / f"{alone}.py").write_text("A = 1\n")
    inner = tmp_path / package / "inner"
    inner.mkdir(parents=True)
    for file in (tmp_path / package / "__init__.py", inner / "__init__.py", inner / "plugin.py", inner / "helper.py"):
        file.write_text("")
    one, plugin = source_hash(tmp_path / f"{alone}.py"), source_hash(inner / "plugin.py")
    (tmp_path / "beside.py").write_text("")
    assert source_hash(tmp_path / f"{alone}.py") == one
    (inner / "data.txt").write_text("x")
    assert source_hash(inner / "plugin.py") == plugin
    (inner / "helper.py").write_text("B = 1\n")
    changed = source_hash(inner / "plugin.py")
    assert len({one, plugin, changed}) == 3


# Plug-ins that fail

BROKEN = {
    "import": "import no_such_package_at_all",
    "exit": "import sys\nsys.exit(3)",
    "syntax": "def create(:",
    "metric": "from embassay.diagnostics.metrics.metric import Metric\nMetric('gap', kind='share', better='up')",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_diagnostic_is_named(install, kind):
    name = install(BROKEN[kind], diagnostics="broken")
    with pytest.raises(PluginError) as error:
        prepare(RunRequest(["hashing"], ["opposites"], [], baselines=False))
    message = str(error.value)
    assert message.startswith(f"diagnostic 'broken' of the package {name!r} cannot be imported: ")
    assert "\n" not in message


@pytest.mark.slow
def test_a_broken_plug_in_of_every_kind_is_named_in_one_line(install, tmp_path):
    source = "raise ImportError('no\\nluck')"
    name = install(source, encoders="aac", builders="aad")
    listed = embassay(tmp_path, "list")
    assert listed.returncode == 0, listed.stderr
    assert "retrieval" in listed.stdout
    for what in ("encoder 'aac'", "builder 'aad'"):
        assert f"{what} of the package {name!r} cannot be imported: ImportError: no luck" in " ".join(
            listed.stdout.split()
        )
    requested = embassay(tmp_path, "run", "-e", "aac", "-o", "other")
    assert (requested.returncode, requested.stdout) == (2, "")
    assert requested.stderr.splitlines()[-1].startswith("embassay: ")
    assert f"of the package {name!r} cannot be imported: ImportError: no luck" in requested.stderr
    assert "Traceback" not in requested.stderr
