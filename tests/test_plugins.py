"""Plug-ins of other packages, through entry points: taken, told apart by their code, left out where they fail."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import embassay as ea
from embassay.core import plugins as folder_module
from embassay.core.plugins import DIAGNOSTICS, PluginWarning, source_hash
from embassay.run.plan import prepare
from embassay.run.request import RunRequest

DIAGNOSTIC = '''
"""Counts the items, times FACTOR."""

from dataclasses import dataclass

import numpy as np

from embassay.core.metric_key import MetricKey
from embassay.core.result import Result, Row, Verdict
from embassay.core.types import ItemScores

FACTOR = {factor}


def create():
    return Counting()


@dataclass(frozen=True)
class Counting:
    shape: str = "choice"
    options: str = ""

    def score(self, corpus, vectors, origin):
        item = np.array([s.id for s in corpus.samples])
        values = {{"counted": np.full(len(item), float(FACTOR))}}
        return ItemScores(origin, "count", item, corpus.units, {{}}, values)

    def summarise(self, scores, draws):
        rows = [
            Row(s.origin.diagnostic, s.origin.corpus, "all", "count", "", "counted", s.origin.encoder,
                float(s.values["counted"].mean()), None, None, len(s.item), len(s.item), 0, "none", s.signature(draws))
            for s in scores
        ]
        origin = scores[0].origin
        key, items = MetricKey("counted", diagnostic=origin.diagnostic, corpus=origin.corpus), len(scores[0].item)
        verdict = Verdict(**vars(key), items=items, units=items)
        return Result(draws.seed, draws.resamples, rows=tuple(rows), verdicts=(verdict,))
'''
LAYOUT = """
from embassay.core.layout import Column, EncoderTable, Layout

LAYOUT = Layout("Counting", "How many?", EncoderTable("Counts", (Column("counted", "counted"),)), (), "nobody")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution of one module with its entry points, and return the name of the module."""
    folder_module.warn_once.cache_clear()

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


def counted(run, encoder):
    result = json.loads((run / "result.json").read_text())
    (row,) = (r for r in result["rows"] if r["metric"] == "counted" and r["encoder"] == encoder)
    return row["value"], row["signature"]


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
    (inner / "helper.py").rename(inner / "renamed.py")
    assert source_hash(inner / "plugin.py") not in {plugin, changed}


# Plug-ins that fail

BROKEN = {
    "import": "import no_such_package_at_all",
    "exit": "import sys\nsys.exit(3)",
    "syntax": "def create(:",
    "nothing": "",
    "create": "def create():\n    raise KeyError('oops')",
    "half": "class Half:\n    shape = 'choice'\ndef create():\n    return Half()",
    "options": "def create(*, n: Nonsense = 1):\n    return None",
    "metric": "from embassay.diagnostics.metrics.metric import Metric\nMetric('gap', kind='share', better='up')",
    "check": DIAGNOSTIC.format(factor=1) + "\n    def check(self, corpus):\n        return 1 / 0\n",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_diagnostic_is_left_out_of_a_run_and_named(install, kind):
    name = install(BROKEN[kind], diagnostics="broken")
    with pytest.warns(PluginWarning) as warned:
        plan = prepare(RunRequest(["hashing"], ["opposites"], [], baselines=False))
    (message,) = {str(w.message) for w in warned}
    assert message.startswith(f"diagnostic 'broken' of {name} 1.5 cannot be used: ")
    assert message.endswith("; it is left out")
    assert "\n" not in message
    names = {task.name for task in plan.tasks}
    assert "negated_antonyms" in names
    assert "broken" not in names


@pytest.mark.slow
def test_a_broken_plug_in_of_every_kind_ends_no_command(install, tmp_path):
    source = "raise ImportError('no\\nluck')"
    name = install(source, diagnostics="aaa", corpora="aab", encoders="aac", builders="aad")
    (tmp_path / "mine.jsonl").write_text('{"input": "a", "label": 0, "sentences": ["b", "c", "d"]}\n')
    done = embassay(tmp_path, "run", "-e", "hashing", "-c", "mine.jsonl", "-o", "out")
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if "cannot be used" in line]
    assert sorted(told) == [
        f"embassay: corpus loader 'aab' of {name} 1.5 cannot be used: ImportError: no luck; it is left out",
        f"embassay: diagnostic 'aaa' of {name} 1.5 cannot be used: ImportError: no luck; it is left out",
    ]
    assert "Traceback" not in done.stderr
    listed = embassay(tmp_path, "list")
    assert listed.returncode == 0, listed.stderr
    assert "retrieval" in listed.stdout
    for what in ("encoder 'aac'", "corpus loader 'aab'", "diagnostic 'aaa'", "builder 'aad'"):
        assert f"{what} of {name} 1.5 cannot be used: ImportError: no luck" in " ".join(listed.stdout.split())
    for arguments in (["-e", "aac"], ["-e", "hashing", "-c", "mine.jsonl,loader=aab"], ["-d", "aaa"]):
        asked = embassay(tmp_path, "run", *arguments, "-o", "other")
        assert (asked.returncode, asked.stdout) == (2, "")
        assert asked.stderr.splitlines()[-1].startswith("embassay: ")
        assert f"of {name} 1.5 cannot be used: ImportError: no luck" in asked.stderr
        assert "Traceback" not in asked.stderr
