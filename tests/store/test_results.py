"""result.json: canonical, valid, complete."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from embassay.api import assay
from embassay.core.errors import OutputError, SourceError
from embassay.core.result import Series
from embassay.core.store.canonical import canonical, write
from embassay.run.runs.results import from_bytes, json_schema, read, rounded, to_bytes

SCHEMA = json.loads(files("embassay.core.data").joinpath("result.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def result():
    return assay(["hashing", "bow"], ["opposites"], cache=None, resamples=200)


def test_it_is_valid_by_the_schema(result):
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(json.loads(to_bytes(result)))) == []


def test_the_schema_is_that_of_the_classes():
    # After a change of a class: python tools/result_schema.py
    assert json_schema() == SCHEMA


def test_the_schema_refuses_what_it_should(result):
    data = json.loads(to_bytes(result))
    data["rows"][0]["extra"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, SCHEMA)


def test_it_reads_back_as_it_was(result):
    assert from_bytes(to_bytes(result), Path("x")) == result
    assert to_bytes(from_bytes(to_bytes(result), Path("x"))) == to_bytes(result)


def test_a_family_without_any_test_reads_back(result):
    # On fewer than ten units there is no p, so that a family may have none.
    few = replace(result.comparisons[0], p=None, p_holm=None, low=None, high=None, pairs_in_family=0, units=9)
    whole = replace(result, comparisons=(few,))
    assert from_bytes(to_bytes(whole), Path("x")) == whole


def test_the_same_run_gives_the_same_bytes(result):
    again = assay(["hashing", "bow"], ["opposites"], cache=None, resamples=200)
    assert to_bytes(again) == to_bytes(result)


def test_keys_are_sorted_and_numbers_short():
    assert canonical({"b": 1 / 3, "a": (1, None), "é": 1e-12}) == (
        '{\n "a": [\n  1,\n  null\n ],\n "b": 0.3333333333,\n "é": 1e-12\n}\n'.encode()
    )


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


@pytest.mark.parametrize("schema", [1, 2, 3, 4, 5, 7, True, "3", None])
def test_another_schema_is_one_message_with_the_remedy(result, schema):
    data = json.loads(to_bytes(result)) | {"schema": schema}
    with pytest.raises(
        SourceError, match=r"^f, field 'schema': not a result of this version: .*; repeat the run's command$"
    ):
        from_bytes(json.dumps(data).encode(), Path("f"))


def test_whole_numbers_stay_whole(result):
    pair = replace(result.comparisons[0], target=0.05, items_needed=80)
    series = Series("d", "opposites", "s", "curve", {"x": "n", "y": "share", "at": [1, 2.5], "lines": []})
    more = rounded(replace(result, comparisons=(pair,), series=(series,)))
    again = from_bytes(to_bytes(more), Path("x"))
    assert more == again
    assert repr(again.comparisons[0].items_needed) == "80"
    assert repr(again.series[0].data["at"]) == "[1, 2.5]"


@pytest.mark.parametrize("content", [b"{", b"[]", b"{}", b'{"schema": 2}', b'{"schema": 1, "seed": 0}'])
def test_what_is_no_result_is_said(content):
    with pytest.raises(SourceError, match=r"^f[:,] .*repeat the run's command$"):
        from_bytes(content, Path("f"))


def test_a_missing_file():
    with pytest.raises(SourceError, match="no such file"):
        read(Path("/nowhere/result.json"))
