"""A result as CSV: read back it is the same, and no cell is a formula."""

import io
import json
from dataclasses import replace

import polars
import pytest
from polars.testing import assert_frame_equal

from embassay.api import assay
from embassay.core.result import Result
from embassay.run.finished import FinishedRun
from embassay.run.outputs.kinds import csv


@pytest.fixture(scope="module")
def result():
    return assay(
        ["bow", "hashing"], ["opposites"], diagnostics=["negated_antonyms", "isotropy"], resamples=20, cache=None
    )


def files(result):
    return {name: content.encode() for name, content in csv.export(FinishedRun(None, result, {})).contents.items()}


def test_the_files_read_back_are_the_result(result):
    written = files(result)
    assert set(written) == {f"{name}.csv" for name in csv.RECORDS}
    for name in csv.RECORDS:
        # Nothing is read of a column without values.
        frame = csv.frame(result, name).with_columns(polars.selectors.by_dtype(polars.Null).cast(str))
        read = polars.read_csv(io.BytesIO(written[f"{name}.csv"]), schema=frame.schema)
        assert_frame_equal(read, frame)
        assert len(frame) == len(getattr(result, name)) > 0
    table = result.table()
    assert_frame_equal(csv.frame(result, "rows"), table, check_dtypes=False, rel_tol=1e-9)
    (bow, *_) = csv.frame(result, "encoders").to_dicts()
    assert json.loads(bow["prompts"]) == dict(result.encoders[0].prompts)
    (verdict, *_) = csv.frame(result, "verdicts").to_dicts()
    assert json.loads(verdict["candidates"]) == list(result.verdicts[0].candidates)
    assert verdict["metric"] == result.verdicts[0].metric


@pytest.mark.parametrize("label", ["=cmd|x", "+1", "-1", "@sum", "\tx", "\rx"])
def test_a_text_is_never_a_formula(result, label):
    rows = [replace(result.rows[0], encoder=label, value=-0.5)]
    frame = polars.read_csv(io.BytesIO(files(replace(result, rows=tuple(rows)))["rows.csv"]))
    assert frame["encoder"].to_list() == [f"'{label}"]
    # A negative number stays a number.
    assert frame["value"].to_list() == [-0.5]


def test_a_file_without_records_has_headers(result):
    read = polars.read_csv(io.BytesIO(files(Result(0, 1))["rows.csv"]))
    assert read.columns == csv.frame(result, "rows").columns
