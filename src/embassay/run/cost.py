"""How long local models take for the same texts of the corpora, measured after a run.

Other times do not compare encoders: texts differ in length, models are loaded, vectors come from a cache, and a machine
is busier at one time than at another. Here each model in turn encodes the same texts, in several rounds, without a
cache; loading it and its first texts are not timed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from embassay.core.errors import EncoderError
from embassay.core.formatting import counted
from embassay.core.randomness import generator
from embassay.core.samples.base import Text
from embassay.core.types import Encoder
from embassay.models.base import adopted, encoder_of_vectors
from embassay.reports.findings.speed import MeasuredTimes
from embassay.run.engine.encode import encode
from embassay.run.execute import Outcome
from embassay.run.plan import Plan, distinct_texts

TEXTS = 64
ROUNDS = 3
WARM_UP = 4
"""Texts that are encoded before the clock starts: the model is loaded for them, and its first batches are slow."""


def measured_cost(plan: Plan, outcome: Outcome, before: Mapping[str, MeasuredTimes]) -> dict[str, MeasuredTimes]:
    """Return by candidate the times of the local models of a run; empty where they are not measured.

    They are measured if the user asks for it, or if the run has two local models or more, unless all are known already.

    Parameters
    ----------
    before
        Those of an earlier start of the run.
    """
    models: dict[str, Encoder] = {}
    model_of: dict[str, tuple[str, str]] = {}
    for run in outcome.encoders:
        card = run.entry.card
        # Reading vectors from files says nothing about the model that made them.
        is_model = card.cached and not card.remote and not card.fitted and not card.spec.startswith("vectors:")
        if is_model and not run.entry.baseline and run.failure is None:
            # Encoders with fewer dimensions take the time of the full one.
            full = encoder_of_vectors(run.entry.encoder)
            models[full.fingerprint] = full
            model_of |= dict.fromkeys(plan.candidates_of(run.entry), (run.entry.label, full.fingerprint))
    # "e5,max_length=64" and "e5,max_length=128" are settings of one model.
    are_several = len({model.card.spec.split(",")[0] for model in models.values()}) > 1
    wanted = are_several if plan.request.cost is None else plan.request.cost
    if not wanted or model_of.keys() <= before.keys():
        return {}
    texts = distinct_texts(plan.corpora)
    chosen = generator(plan.request.seed, "cost").permutation(len(texts))[:TEXTS]
    sample = [texts[place] for place in chosen.tolist()]
    plan.request.tell(f"timing {counted(len(models), 'model')} on {counted(len(sample), 'text')}, in three rounds")
    wall: dict[str, list[float]] = {model: [] for model in models}
    cpu: dict[str, list[float]] = {model: [] for model in models}
    devices = {}
    try:
        for _ in range(ROUNDS):
            for model, encoder in models.items():
                wall_seconds, cpu_seconds = _encoding_seconds(encoder, sample)
                wall[model].append(wall_seconds)
                cpu[model].append(cpu_seconds)
                devices[model] = str(adopted(encoder).route().get("device", ""))
                # So two large models are never in memory together.
                adopted(encoder).release()
    except EncoderError as error:
        plan.request.warn(f"the times of encoding could not be measured: {error}")
        return {}
    return {
        candidate: MeasuredTimes(label, len(sample), wall[model], cpu[model], devices[model], model)
        for candidate, (label, model) in model_of.items()
    }


def _encoding_seconds(encoder: Encoder, texts: Sequence[Text]) -> tuple[float, float]:
    """Return the seconds of encoding texts, as the clock shows, and of all cores of this process together."""
    encode(encoder, texts[:WARM_UP])
    wall, cpu = time.perf_counter(), time.process_time()
    encode(encoder, texts)
    return time.perf_counter() - wall, time.process_time() - cpu
