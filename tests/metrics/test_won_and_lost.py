"""A verdict counts on how many items one encoder has the higher and the lower value than another."""

import numpy as np

import embassay as ea
from embassay.core.columns import read_columns
from embassay.core.result import between


def test_items_that_are_won_and_lost_are_counted(built_in_run):
    columns = [one for one in read_columns(built_in_run) if one.is_headline and one.key.diagnostic == "retrieval"]
    value_of = {column.encoder: column.value for column in columns}
    gaps = value_of["hashing"] - value_of["bow"]
    result = ea.read(built_in_run)
    (verdict,) = (verdict for verdict in result.verdicts if verdict.diagnostic == "retrieval")
    difference = between(result.differences(verdict), "hashing", "bow")
    assert (difference.won, difference.lost) == (np.sum(gaps > 0), np.sum(gaps < 0))
    # Questions without an answer are no ties.
    assert difference.items == np.sum(~np.isnan(gaps)) < 140
    assert difference.won + difference.lost > 0
    (comparison,) = (
        one for one in result.comparisons if verdict.key.covers(one.key) and {one.a, one.b} == {"bow", "hashing"}
    )
    assert (comparison.a, comparison.won, comparison.lost) == ("bow", difference.lost, difference.won)
