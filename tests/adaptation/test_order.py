"""What an adaptation is asked to be: how its options reach the trainings, and what is refused at once."""

import pytest

from embassay.adaptation.order import Order
from embassay.errors import SpecError


def order(tmp_path, **given):
    return Order("base", ["mine"], tmp_path / "a", **given)


def test_the_options_reach_the_stages_that_they_are_of(tmp_path):
    given = {"warmup": 0.3, "accumulate": 4, "patience": 7, "window": 20, "margin": 0.01}
    first, second, _ = order(tmp_path, **given).stages()
    assert (first.settings.warmup, first.settings.accumulate, first.settings.patience) == (0.3, 4, 3)
    assert (second.settings.warmup, second.settings.accumulate, second.settings.patience) == (0.3, 4, 7)
    assert second.options == {"loss": "mnr", "per_question": 2, "window": 20, "margin": 0.01}
    assert second.asked.items() >= {"window": 20, "margin": 0.01, "patience": 7}.items()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("negatives", 0),
        ("window", 0),
        ("margin", -0.1),
        ("margin", float("nan")),
        ("resamples", 0),
        ("seed", -1),
        ("warmup", 1.0),
        ("accumulate", 0),
        ("patience", 0),
    ],
)
def test_what_is_out_of_range_is_named_before_anything_is_looked_for(tmp_path, name, value):
    with pytest.raises(SpecError, match=name):
        order(tmp_path, **{name: value}).stages()
