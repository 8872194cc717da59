"""A verdict counts on how many items a candidate has the higher and the lower value than its opponent."""

import numpy as np
import pytest

import embassay as ea
from embassay.comparison.runs import read_run
from embassay.run.command import carry_out
from embassay.run.request import RunRequest


@pytest.fixture
def run(tmp_path):
    corpora = ["handbook", "opposites", "edits"]
    request = RunRequest(encoders=["bow", "hashing"], corpora=corpora, out=tmp_path / "run", resamples=20, quiet=True)
    assert carry_out(request) == 0
    return tmp_path / "run"


def test_items_that_are_won_and_lost_are_counted_for_shares(run):
    of_handbook = read_run(run).tasks["retrieval", "handbook"].scores
    gaps = of_handbook["hashing"].values["Success@5"] - of_handbook["bow"].values["Success@5"]
    verdicts = {verdict.diagnostic: verdict for verdict in ea.read(run).verdicts}
    difference = verdicts["retrieval"].opponent("reference").difference("hashing")
    assert (difference.won, difference.lost) == (np.sum(gaps > 0), np.sum(gaps < 0))
    # Questions without an answer are no ties.
    assert difference.won + difference.tied + difference.lost == np.sum(~np.isnan(gaps)) < len(gaps)
    assert difference.won + difference.lost > 0
    # A mean of cosines rises or falls a little on nearly every item, which says nothing.
    difference = verdicts["minimal_pairs"].opponent("reference").difference("hashing")
    assert (difference.won, difference.tied, difference.lost) == (None, None, None)
