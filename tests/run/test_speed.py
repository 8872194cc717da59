"""The speed of an encoder is measured when it encodes, and read from the cache when it does not."""

import numpy as np

from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.record import finished_record, latencies, speeds
from embassay.run.request import RunRequest
from embassay.types import Card


class Slow:
    """An encoder that takes its time and whose vectors are cached."""

    name = "slow"
    fingerprint = "slow"

    def __init__(self, spec="slow", cached=True):
        self.card = Card(spec, cached=cached)

    def fit(self, texts):
        return self

    def encode(self, texts, role="text"):
        return np.array([[len(text), len(text.split()), 1.0] for text in texts], dtype=np.float32)


def run(folder, encoder=None, **options):
    request = RunRequest(
        encoders=(encoder or Slow(),),
        corpora=("opposites",),
        cache=folder,
        baselines=False,
        quiet=True,
        robustness=True,
        **options,
    )
    plan = prepare(request)
    outcome = execute(plan)
    return outcome, finished_record({}, plan, outcome, 1.0)


def test_a_later_run_knows_the_speed_of_cached_vectors(tmp_path):
    outcome, record = run(tmp_path)
    assert outcome.encoders[0].effort.encoded > 64
    measured, milliseconds = speeds(record)["slow"], latencies(record)["slow"]
    assert measured > 0
    assert milliseconds > 0

    later, record = run(tmp_path, resamples=50)
    assert later.encoders[0].effort.encoded == 0
    assert later.encoders[0].texts_per_second is None
    assert (speeds(record)["slow"], latencies(record)["slow"]) == (measured, milliseconds)


def test_reading_vectors_has_no_speed(tmp_path):
    _, record = run(tmp_path, Slow("vectors:files", cached=False))
    assert speeds(record) == {}
    assert latencies(record) == {}
