"""The cost of encoding, measured after a run of several local models: the same texts of the corpus for each of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from embassay.core.errors import EncoderError
from embassay.core.formatting import counted
from embassay.core.randomness import generator
from embassay.core.types import Encoder
from embassay.models.base import encoder_of_vectors
from embassay.run.engine.encoding_times import encoding_times
from embassay.run.execute import Outcome
from embassay.run.plan import Plan, distinct_texts
from embassay.run.runs.record import Cost, RunRecord, Times

TEXTS = 64


def measured_cost(plan: Plan, outcome: Outcome, before: RunRecord) -> Cost | None:
    """Return the times of the local models of a run, for ``run.json``; None where they are not measured.

    They are measured if the user asks for it, or if the run has two local models or more, unless all are known already.

    Parameters
    ----------
    before
        The record of an earlier start of the run.
    """
    labels_of_model: dict[str, list[str]] = {}
    encoders: dict[str, Encoder] = {}
    for run in outcome.encoders:
        card = run.entry.card
        # Reading vectors from files says nothing about the model that made them.
        is_model = card.cached and not card.remote and not card.fitted and not card.spec.startswith("vectors:")
        if is_model and not run.entry.baseline and run.failure is None:
            # Encoders with fewer dimensions take the time of the full one.
            full = encoder_of_vectors(run.entry.encoder)
            encoders[full.fingerprint] = full
            labels_of_model.setdefault(full.fingerprint, []).append(run.entry.label)
    # "e5,max_length=64" and "e5,max_length=128" are settings of one model.
    models = {encoder.card.spec.split(",")[0] for encoder in encoders.values()}
    wanted = plan.request.cost
    if wanted is None:
        wanted = len(models) > 1
    all_labels = {label for labels in labels_of_model.values() for label in labels}
    if not wanted or all_labels <= before.get("cost", {}).get("encoders", {}).keys():
        return None

    texts = distinct_texts(plan.corpora)
    chosen = generator(plan.request.seed, "cost").permutation(len(texts))[:TEXTS]
    sample = [texts[place] for place in chosen.tolist()]
    plan.request.tell(f"timing {counted(len(encoders), 'model')} on {counted(len(sample), 'text')}, in three rounds")
    try:
        times = encoding_times(encoders, sample)
    except EncoderError as error:
        plan.request.warn(f"the times of encoding could not be measured: {error}")
        return None
    cost: Cost = {"texts": len(sample), "encoders": {}}
    for fingerprint, labels in labels_of_model.items():
        for label in labels:
            cost["encoders"][label] = cast("Times", {**asdict(times[fingerprint]), "model": fingerprint})
    return cost
