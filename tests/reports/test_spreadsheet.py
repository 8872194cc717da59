"""A result as CSV: read back it is the same, and no cell is a formula."""

import io
import json
from dataclasses import replace

import polars
import pytest
from polars.testing import assert_frame_equal

from embassay.api import assay
from embassay.core.result import Result
from embassay.run.outputs import spreadsheet


@pytest.fixture(scope="module")
def result():
    return assay(
        ["bow", "hashing"], ["opposites"], diagnostics=["negated_antonyms", "isotropy"], resamples=20, cache=None
    )


def test_the_files_read_back_are_the_result(result):
    frames = spreadsheet.frames(result)
    files = spreadsheet.files(result)
    names = {"rows", "comparisons", "encoders", "corpora", "verdicts", "answers", "findings"}
    assert set(files) == {f"{name}.csv" for name in names}
    for name, frame in frames.items():
        # A column without a value has no type.
        frame = frame.with_columns(polars.selectors.by_dtype(polars.Null).cast(polars.Float64))
        read = polars.read_csv(io.BytesIO(files[f"{name}.csv"]), schema=frame.schema)
        assert_frame_equal(read, frame)
    assert_frame_equal(frames["rows"].drop("interval"), result.table().drop("interval"), check_dtypes=False)
    assert len(frames["comparisons"]) == len(result.comparisons)
    assert len(frames["answers"]) == len(result.answers) > 0
    assert len(frames["findings"]) == len(result.findings) > 0
    (bow, *_) = frames["encoders"].to_dicts()
    assert json.loads(bow["prompts"]) == dict(result.encoders[0].prompts)


def test_a_verdict_has_a_line_for_each_candidate(result):
    frame = spreadsheet.frames(result)["verdicts"]
    verdict = result.verdict("negated_antonyms")
    of_verdict = frame.filter(diagnostic="negated_antonyms")
    assert of_verdict["encoder"].to_list() == list(verdict.candidates)
    for line in of_verdict.to_dicts():
        pair = verdict.between(line["encoder"], verdict.baseline)
        assert pair.difference is not None
        assert line["baseline_difference"] == pair.difference
        (row,) = [r for r in result.rows if (r.metric, r.encoder, r.subset) == ("accuracy", line["encoder"], "all")]
        assert line["value"] == row.value
    # A diagnostic that does not rank encoders has lines without a value.
    assert frame.filter(diagnostic="isotropy")["value"].to_list() == [None, None]


@pytest.mark.parametrize("label", ["=cmd|x", "+1", "-1", "@sum", "\tx", "\rx"])
def test_a_text_is_never_a_formula(result, label):
    rows = [replace(result.rows[0], encoder=label, value=-0.5)]
    frame = polars.read_csv(io.BytesIO(spreadsheet.files(replace(result, rows=tuple(rows)))["rows.csv"]))
    assert frame["encoder"].to_list() == [f"'{label}"]
    # A negative number stays a number.
    assert frame["value"].to_list() == [-0.5]


def test_a_file_without_records_has_headers(result):
    files = spreadsheet.files(Result(0, 1))
    assert polars.read_csv(io.BytesIO(files["rows.csv"])).columns == spreadsheet.frames(result)["rows"].columns
