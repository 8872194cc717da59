"""The options of an adaptation: how they reach the trainings, and what is refused at once."""

import pytest

from embassay.core.errors import SpecError
from embassay.training.adaptation.options import AdaptOptions
from embassay.training.adaptation.variants import planned_stages


def test_the_options_reach_the_stages_that_they_are_of():
    options = AdaptOptions(warmup=0.3, accumulate=4, patience=7, window=20, margin=0.01)
    first, second, _ = planned_stages(options)
    assert (first.settings.warmup, first.settings.accumulate, first.settings.patience) == (0.3, 4, 3)
    assert (second.settings.warmup, second.settings.accumulate, second.settings.patience) == (0.3, 4, 7)
    expected = {"loss": "mnr", "per_question": 2, "window": 20, "margin": 0.01, "patience": 7}
    assert second.identity.items() >= expected.items()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("negatives", 0),
        ("window", 0),
        ("margin", -0.1),
        ("margin", float("nan")),
        ("test", 0.0),
        ("test", 1.0),
        ("test", float("nan")),
        ("by", "page"),
        ("seed", -1),
        ("warmup", 1.0),
        ("accumulate", 0),
        ("patience", 0),
    ],
)
def test_what_is_out_of_range_is_named_before_anything_is_looked_for(name, value):
    with pytest.raises(SpecError, match=name):
        planned_stages(AdaptOptions(**{name: value}))
