"""A training says how long it takes, from its first ten steps, by a clock of the test's own."""

from types import SimpleNamespace

from embassay.adaptation import variant_training
from embassay.adaptation.variant_training import VariantTraining


def test_the_rest_of_a_training_is_estimated_from_ten_steps_after_the_first(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(variant_training.time, "perf_counter", lambda: clock[0])
    said, seen = [], []
    request = SimpleNamespace(say=said.append)
    advance = VariantTraining(request, None, None, ())._with_estimate(
        SimpleNamespace(variant="tuned"), lambda *done: seen.append(done)
    )
    for step in range(1, 21):
        # The first step takes 100 s, each other 4 s for 8 rows.
        clock[0] += 100 if step == 1 else 4
        advance(8 * step, 160)
    # After step 11, 72 of 160 rows remain: 72 / 8 * 4 s.
    assert said == ["tuned: about 36 s left without evaluations"]
    assert len(seen) == 20
