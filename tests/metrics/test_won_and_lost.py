"""A verdict counts on how many items one encoder has the higher and the lower value than another."""

import numpy as np
import pytest

import embassay as ea
from embassay.core.columns import read_columns
from embassay.core.result import between
from embassay.run.command import carry_out
from embassay.run.request import RunRequest


@pytest.fixture
def run(tmp_path):
    corpora = ["handbook", "opposites", "edits"]
    request = RunRequest(encoders=["bow", "hashing"], corpora=corpora, out=tmp_path / "run", resamples=20, quiet=True)
    assert carry_out(request) == 0
    return tmp_path / "run"


def test_items_that_are_won_and_lost_are_counted(run):
    columns = [one for one in read_columns(run) if one.is_headline and one.key.diagnostic == "retrieval"]
    value_of = {column.encoder: column.value for column in columns}
    gaps = value_of["hashing"] - value_of["bow"]
    result = ea.read(run)
    (verdict,) = (verdict for verdict in result.verdicts if verdict.diagnostic == "retrieval")
    difference = between(result.differences(verdict), "hashing", "bow")
    assert (difference.won, difference.lost) == (np.sum(gaps > 0), np.sum(gaps < 0))
    # Questions without an answer are no ties.
    assert difference.won + difference.tied + difference.lost == np.sum(~np.isnan(gaps)) < 140
    assert difference.won + difference.lost > 0
    (comparison,) = (
        one for one in result.comparisons if verdict.key.covers(one.key) and {one.a, one.b} == {"bow", "hashing"}
    )
    assert (comparison.a, comparison.won, comparison.lost) == ("bow", difference.lost, difference.won)
