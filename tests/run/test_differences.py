"""Differences as a verdict holds them: which are tested, and which are significant."""

from embassay.metrics.verdict import read_difference, read_differences

TESTED = {"difference": 0.2, "low": 0.1, "high": 0.3, "p": 0.05}
UNTESTED = {"difference": 0.2, "low": None, "high": None, "p": None}


def test_a_p_value_of_the_level_is_significant():
    difference = read_difference(TESTED)
    assert (difference.value, difference.low, difference.high, difference.p) == (0.2, 0.1, 0.3, 0.05)
    assert difference.is_significant
    assert not read_difference({**TESTED, "p": 0.051}).is_significant


def test_a_difference_without_a_test_is_left_out():
    assert read_difference(UNTESTED) is None
    assert read_difference({**UNTESTED, "difference": None}) is None
    assert list(read_differences({"a": UNTESTED, "b": TESTED})) == ["b"]
