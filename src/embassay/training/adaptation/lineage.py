"""The training and dev questions of earlier adaptations of a base: they must not be test questions.

``split.json``, beside the variants, stores under ``learnt`` the hashes of training and dev questions: ``before`` those
of the base, and ``here`` those of the fine-tuned variants. It contains no text.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.errors import SpecError
from embassay.core.types import content_hash
from embassay.training.adaptation.material import Material
from embassay.training.model_folder import RECORD, read_json
from embassay.training.triplets import normalised

SPLIT = "split.json"


def record(base: Path, material: Material) -> dict[str, list[str]]:
    """Return the ``learnt`` part of ``split.json``.

    Parameters
    ----------
    base
        The folder of the model that is adapted.
    """
    here = {_hash(text) for text in material.learnt}
    return {"before": sorted(learnt(base)), "here": sorted(here)}


def learnt(model: Path) -> frozenset[str]:
    """Return the hashes of a model's training and dev questions; none if it does not come from an adaptation."""
    training = read_json(model / RECORD)
    if not training:
        return frozenset()
    # A pre-trained variant has read sentences only, but its base may have been trained on questions.
    parts = ("before", "here") if training.get("stage") == "finetuning" else ("before",)
    hashes = read_json(model.parent / SPLIT).get("learnt", {})
    return frozenset(name for part in parts for name in hashes.get(part, ()))


def check_unlearnt(base: Path, material: Material) -> None:
    """Refuse a base whose own training or dev questions are among the test questions.

    Raises
    ------
    SpecError
        With the number of those test questions.
    """
    learnt_hashes = learnt(base)
    total = number = 0
    for test in material.tests:
        total += len(test.samples)
        number += sum(_hash(question.question) in learnt_hashes for question in test.samples)
    if number:
        raise SpecError(
            f"base {base}: an earlier adaptation used {number:,} of the {total:,} test questions to train it "
            f"({base.parent / SPLIT}); use its original base, or the corpora, --seed, --test and --by of that "
            "adaptation"
        )


def _hash(question: str) -> str:
    return content_hash(normalised(question))
