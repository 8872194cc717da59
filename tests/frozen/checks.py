"""Ten checks against a baseline: outcome, exit code, and limit and p of each change."""

from __future__ import annotations

import contextlib
import io
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import embassay as ea
from comparison.choice_runs import Answers, choices, finished_run
from embassay.comparison.differences import Change

OLD = Answers(range(180))


@dataclass(frozen=True)
class Trial:
    """A model beside a baseline that is right about ``old``, on 200 choices or fewer, and the options of the check."""

    new: Answers
    old: Answers = OLD
    items: int = 200
    unit_size: int = 1
    code: int = 0
    options: dict[str, Any] = field(default_factory=dict)


TRIALS = {
    "unchanged": Trial(OLD),
    "better": Trial(Answers(range(195))),
    "worse": Trial(Answers(range(120))),
    "a little worse": Trial(Answers(range(10, 184)), options={"margins": {"accuracy": 0.03}}),
    "a little worse, strict": Trial(Answers(range(10, 184)), options={"margins": {"accuracy": 0.03}, "strict": True}),
    "a little worse, wide margin": Trial(Answers(range(10, 184)), options={"margins": {"accuracy": 0.2}}),
    "below a floor": Trial(OLD, options={"floors": {"negated_antonyms/accuracy": 0.95}}),
    "documents as a sample": Trial(Answers(range(15, 180)), unit_size=5, options={"pages": "sampled"}),
    "values lost": Trial(Answers(range(180), broken=range(0, 200, 16))),
    "failed": Trial(Answers(range(180), fails=True), code=3),
}


def checks() -> dict[str, Any]:
    """Make the runs and check them."""
    outcomes = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        for number, (name, trial) in enumerate(TRIALS.items()):
            corpus = choices(range(trial.items), unit_size=trial.unit_size)
            old = finished_run(Path(folder), f"old-{number}", [trial.old], corpus)
            new = finished_run(Path(folder), f"new-{number}", [trial.new], corpus, code=trial.code)
            outcomes[name] = content_of(ea.check(new, old, **trial.options))
    return outcomes


def content_of(check: ea.Check) -> dict[str, Any]:
    """Return what a check says in figures."""
    return {
        "outcome": check.outcome,
        "exit code": check.exit_code,
        "changes": [figures_of(change) for change in check.changes],
        "floors": [{"metric": floor.metric, "value": floor.new, "floor": floor.margin} for floor in check.floors],
    }


def figures_of(change: Change) -> dict[str, Any]:
    """Return what was decided about a metric, and the number of items that were lost and gained."""
    names = ("metric", "outcome", "reason", "margin", "old", "new", "limit", "p", "items", "undefined")
    figures = {name: getattr(change, name) for name in names}
    return figures | {"lost": len(change.lost), "gained": len(change.gained)}
