"""What a base has learnt that an adaptation made: a test must not ask it again.

``split.json``, beside the variants, has under ``learnt`` hashes of the questions that were learnt from or stopped by,
``before`` by the base and ``here`` by those variants that were fine-tuned; no text stands in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from embassay.adaptation.material import Material
from embassay.errors import SpecError
from embassay.samples.retrieval import Question
from embassay.training.checkpoints import read_record
from embassay.training.triplets import normalised
from embassay.types import content_hash

SPLIT = "split.json"


def record(base: Path, material: Material) -> dict[str, list[str]]:
    """Return what ``split.json`` says was learnt.

    Parameters
    ----------
    base
        The folder of the model that is adapted.
    """
    here = _hashes((*material.train, *material.dev))
    return {"before": sorted(learnt(base)), "here": sorted(here)}


def learnt(model: Path) -> frozenset[str]:
    """Return the hashes of the questions that a model has learnt; none where no adaptation made it."""
    made = read_record(model)
    try:
        kept = json.loads((model.parent / SPLIT).read_bytes())["learnt"] if made else {}
        parts = ("before", "here") if made.get("stage") == "finetuning" else ("before",)
        return frozenset(str(name) for part in parts for name in kept.get(part, ()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return frozenset()


def check_unlearnt(base: Path, material: Material) -> None:
    """Refuse a base that has learnt test questions.

    Raises
    ------
    SpecError
        With how many of them it has.
    """
    known = learnt(base)
    tested = [question for test in material.tests for question in test.samples]
    number = sum(bool(_hashes([question]) & known) for question in tested)
    if number:
        raise SpecError(
            f"base {base}: it has learnt {number:,} of the {len(tested):,} test questions ({base.parent / SPLIT}); "
            "take the base that it was made from, or the corpora, --seed, --test and --by that it was made with"
        )


def _hashes(questions: Iterable[Question]) -> set[str]:
    return {content_hash(normalised(question.question)) for question in questions}
