"""What a base has learnt that an adaptation made: a test must not ask it again.

``split.json``, beside the variants, holds under ``learnt`` the hashes of questions that were learnt from or stopped by:
``before`` by the base, and ``here`` by the variants that were fine-tuned. It holds no text.
"""

from __future__ import annotations

from pathlib import Path

from embassay.adaptation.material import Material
from embassay.errors import SpecError
from embassay.samples.retrieval import Question
from embassay.training.checkpoints import read_record
from embassay.training.folders import read_json
from embassay.training.triplets import normalised
from embassay.types import content_hash

SPLIT = "split.json"


def record(base: Path, material: Material) -> dict[str, list[str]]:
    """Return the ``learnt`` part of ``split.json``.

    Parameters
    ----------
    base
        The folder of the model that is adapted.
    """
    here = {_hash(question) for question in (*material.train, *material.dev)}
    return {"before": sorted(learnt(base)), "here": sorted(here)}


def learnt(model: Path) -> frozenset[str]:
    """Return the hashes of the questions that a model has learnt; none if no adaptation made it."""
    training = read_record(model)
    if not training:
        return frozenset()
    # A pre-trained variant has read sentences only; what its base had learnt it still knows.
    parts = ("before", "here") if training.get("stage") == "finetuning" else ("before",)
    hashes = read_json(model.parent / SPLIT).get("learnt")
    if not isinstance(hashes, dict):
        return frozenset()
    return frozenset(str(name) for part in parts for name in hashes.get(part) or ())


def check_unlearnt(base: Path, material: Material) -> None:
    """Refuse a base that has learnt test questions.

    Raises
    ------
    SpecError
        With the number of test questions that it has learnt.
    """
    known = learnt(base)
    tested = [question for test in material.tests for question in test.samples]
    number = sum(_hash(question) in known for question in tested)
    if number:
        raise SpecError(
            f"base {base}: it has learnt {number:,} of the {len(tested):,} test questions ({base.parent / SPLIT}); "
            "take the base that it was made from, or the corpora, --seed, --test and --by that it was made with"
        )


def _hash(question: Question) -> str:
    return content_hash(normalised(question.question))
