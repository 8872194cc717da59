"""How long local models take is measured on the same texts, in turn, without a cache."""

import json

import numpy as np

from embassay.core.errors import EncoderError
from embassay.core.types import Card
from embassay.run.command import carry_out
from embassay.run.record import measured_times
from embassay.run.request import RunRequest

calls = []


class Model:
    """An encoder that notes what it encodes."""

    def __init__(self, name, *, fails=False, remote=False, spec=""):
        self.name = self.fingerprint = name
        self.card = Card(spec or name, cached=True, remote=remote)
        self.fails = fails

    def fit(self, texts):
        return self

    def encode(self, texts, role="text"):
        calls.append((self.name, tuple(texts)))
        # Only the times are measured a second time.
        if self.fails and len([name for name, _ in calls if name == self.name]) > 5:
            raise EncoderError("no room")
        return np.array([[len(text), len(text.split()), 1.0] for text in texts], dtype=np.float32)


def run(folder, *encoders, **options):
    """Run, and return the times in its record."""
    calls.clear()
    request = RunRequest(
        encoders=encoders, corpora=("opposites",), cache=folder / "cache", out=folder / "run", baselines=False,
        quiet=True, **options,
    )  # fmt: skip
    carry_out(request)
    return measured_times(json.loads((folder / "run" / "run.json").read_text()))


def test_two_models_are_timed_in_turn_on_the_same_texts_though_their_vectors_are_cached(tmp_path, capsys):
    # A first run fills the cache.
    run(tmp_path, Model("a"), Model("b"), cost=False)
    times = run(tmp_path, Model("a"), Model("b"), overwrite=True, resamples=50)
    assert {name: (one.encoder, one.texts) for name, one in times.items()} == {"a": ("a", 64), "b": ("b", 64)}
    assert all(seconds > 0 for seconds in times["a"].wall)
    assert len(times["a"].wall) == len(times["b"].cpu) == 3
    # 4 texts before the clock starts, then all of them.
    texts_in_turn = {name: [] for name in "ab"}
    order = []
    for name, texts in calls:
        texts_in_turn[name] += texts
        if order[-1:] != [name]:
            order.append(name)
    assert order == ["a", "b"] * 3
    assert sorted(texts_in_turn["a"]) == sorted(texts_in_turn["b"])
    assert len(texts_in_turn["a"]) == 3 * (4 + 64)
    assert len(set(texts_in_turn["a"])) == 64
    # The same command again measures nothing.
    assert run(tmp_path, Model("a"), Model("b"), resamples=50) == times
    assert calls == []
