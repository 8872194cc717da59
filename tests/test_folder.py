"""A folder as a registry."""

from functools import cache

import pytest

from embassay.core import plugins
from embassay.core.errors import MissingExtraError
from embassay.core.plugins import CORPORA, DIAGNOSTICS, ENCODERS


def test_listing_imports_nothing():
    import subprocess
    import sys

    code = (
        "import sys; from embassay.core.plugins import ENCODERS; ENCODERS.names(); "
        "print([m for m in sys.modules if m.startswith('embassay.models')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("folder", [ENCODERS, CORPORA, DIAGNOSTICS])
def test_every_plug_in_describes_itself(folder):
    for name in folder.names():
        summary, _ = folder.describe(name)
        # A whole sentence, or the kind of thing it is: "Paragraph vectors, … out of a folder written by …."
        assert len(summary.split()) >= 4, name
        assert summary[0].isupper(), name
        assert summary.endswith((".", "?")), name
        assert len(summary) < 120, name


def test_a_missing_extra_has_the_pip_line(monkeypatch):
    module = ENCODERS.module("bow")
    monkeypatch.setattr(module, "EXTRA", "hf", raising=False)
    monkeypatch.setattr(module, "REQUIRES", ("no_such_package",), raising=False)
    with pytest.raises(MissingExtraError, match=r"encoder 'bow' needs the extra 'hf': pip install 'embassay\[hf\]'"):
        ENCODERS.module("bow")


def test_entry_points_are_a_second_source(monkeypatch):
    from importlib.metadata import EntryPoint

    point = EntryPoint("theirs", "embassay.models.lexical.bow", "embassay.encoders")
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [point] if group == "embassay.encoders" else []
    )
    monkeypatch.setattr(plugins, "_entry_points", cache(plugins._entry_points.__wrapped__))
    assert "theirs" in ENCODERS.names()
    assert ENCODERS.module("theirs").__name__ == "embassay.models.lexical.bow"
    assert ENCODERS.describe("theirs")[0].startswith("Bag of words")
    assert "theirs" not in CORPORA.names()
