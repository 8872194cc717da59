"""An output format of one's own is one file."""

import sys
from functools import cache

import pytest

from embassay.cli.app import exit_code_of
from embassay.core import plugins

SOURCE = '''"""The number of rows, for a dashboard."""

from embassay.run.outputs.formats import Export

HOLDS = "number"


def export(finished, *, with_vectors=False):
    return Export({"rows.txt": str(len(finished.result.rows))})
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    info = tmp_path / "site" / "row_count-1.0.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "site" / "row_count.py").write_text(SOURCE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: row_count\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[embassay.formats]\nrow_count = row_count\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(plugins, "_entry_points", cache(plugins._entry_points.__wrapped__))
    yield
    sys.modules.pop("row_count", None)


def test_an_output_format_is_one_file(installed, tmp_path, capsys):
    run = tmp_path / "run"
    arguments = ["run", "-e", "bow", "-c", "opposites", "--resamples", "20", "-o", str(run)]
    assert exit_code_of(arguments) == 0
    assert exit_code_of(["report", str(run), "--format", "row-count"]) == 0
    assert int((run / "row-count" / "rows.txt").read_text()) > 10
    assert f"1 number: {run / 'row-count'}" in " ".join(capsys.readouterr().err.split())
    assert exit_code_of(["list", "formats"]) == 0
    assert "row_count     The number of rows, for a dashboard." in capsys.readouterr().out
    # The figures of the run before would pass for those of the next.
    assert exit_code_of([*arguments, "--overwrite"]) == 0
    assert not (run / "row-count" / "rows.txt").exists()
