"""result.json: canonical, valid, complete."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from embassay.api import assay
from embassay.core.errors import OutputError, SourceError
from embassay.core.store.canonical import canonical, write
from embassay.run.runs.results import json_schema, read, to_bytes

SCHEMA = json.loads(files("embassay.core.data").joinpath("result.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def result():
    return assay(["hashing", "bow"], ["opposites"], cache=None, resamples=200)


def test_the_schema_is_that_of_the_classes():
    # After a change of a class: python tools/result_schema.py
    assert json_schema() == SCHEMA


def test_the_schema_refuses_what_it_should(result):
    data = json.loads(to_bytes(result))
    data["rows"][0]["extra"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, SCHEMA)


def test_it_reads_back_as_it_was(result, tmp_path):
    path = tmp_path / "result.json"
    path.write_bytes(to_bytes(result))
    assert read(path) == result
    assert to_bytes(read(path)) == to_bytes(result)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nothing_undefined_is_written(bad):
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical({"x": bad})


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(OutputError, match="No space left"):
        write(tmp_path / "r.json", b"x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("schema", [5, 7, "6", None])
def test_another_schema_is_one_message_with_the_remedy(result, schema, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = json.loads(to_bytes(result)) | {"schema": schema}
    Path("f").write_text(json.dumps(data))
    with pytest.raises(
        SourceError, match=r"^f, field 'schema': not a result of this version: .*; repeat the run's command$"
    ):
        read(Path("f"))
