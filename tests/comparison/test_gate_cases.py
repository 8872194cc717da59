"""Sixteen checks of runs that differ at random: what the gate says of each metric is what it said when it was frozen.

``gate_cases.json`` was written by a gate that computed everything again from the stored scores of both runs:

    PYTHONPATH=src:tests python tests/comparison/test_gate_cases.py      # writes it again, after a move that is meant
"""

import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

import embassay as ea
from comparison.choice_runs import Answers, choices, finished_run
from embassay.run.command import carry_out
from embassay.run.request import RunRequest

FROZEN = Path(__file__).with_name("gate_cases.json")
FIGURES = ("encoder", "metric", "outcome", "reason", "margin", "old", "new", "limit", "p", "items", "undefined")


def run_of(folder, name, encoder, corpus, diagnostic):
    out = folder / name
    request = RunRequest([encoder], [corpus], [diagnostic], out=out, quiet=True, resamples=100, cache=None)
    assert carry_out(request) == 0
    return out


def random_case(folder, rng, number):
    """Two runs of a model on choices: another answer here and there, texts without a vector, items left out."""
    items, unit_size = rng.choice([60, 120, 200, 300]), rng.choice([1, 1, 2, 5])
    before = set(rng.sample(range(items), int(items * rng.uniform(0.5, 0.95))))
    changed = rng.choice([0.02, 0.1, 0.3])
    after = {item for item in range(items) if (item in before) ^ (rng.random() < changed)}
    broken = rng.sample(range(items), rng.choice([0, 0, 7]))
    first = rng.choice([0, 0, 10])
    other = Answers(range(items // 2), name="other")
    old = finished_run(
        folder, f"old-{number}", [Answers(before, name="model"), other], choices(range(items), unit_size)
    )
    models = [Answers(after, broken, name="model"), other]
    new = finished_run(folder, f"new-{number}", models, choices(range(first, items), unit_size))
    return old, new, {"chosen[antonym]": 0.1} if number % 2 else {}, {"accuracy": 0.7}


def pairs_file(folder):
    rng = np.random.default_rng(2)
    words = ["tea", "cup", "hot", "red", "sun", "day", "sea", "ice"]
    rows = ["sentence1,sentence2,score"]
    for _ in range(60):
        shared = int(rng.integers(0, 5))
        one, other = rng.choice(words, 5, replace=False), rng.choice(words, 5, replace=False)
        other[:shared] = one[:shared]
        rows.append(f"{' '.join(one)},{' '.join(other)},{shared}")
    path = folder / "pairs.csv"
    path.write_text("\n".join(rows) + "\n")
    return f"pairs={path}"


def cases(folder):
    rng = random.Random(2)  # noqa: S311 - no secret
    for number in range(12):
        yield f"choices {number}", random_case(folder, rng, number)
    runs = [
        run_of(folder, f"handbook-{name}", f"m={name}", "handbook", "retrieval,k=5")
        for name in ("bow", "hashing,dim=32")
    ]
    yield "handbook", (*runs, {"RR": 0.05}, {"Success@5": 0.4})
    yield "unchanged", (runs[0], runs[0], {}, {})
    scored = pairs_file(folder)
    runs = [run_of(folder, f"pairs-{name}", f"m={name}", scored, "similarity") for name in ("bow", "tfidf")]
    yield "pairs", (*runs, {}, {})
    runs = [
        run_of(folder, f"edits-{name}", f"m={name}", "edits", "minimal_pairs") for name in ("bow", "hashing,dim=32")
    ]
    yield "edits", (*runs, {"nearer[synonym>antonym]": 0.1}, {})


def content_of(check):
    changes = []
    for change in check.changes:
        figures = {name: getattr(change, name) for name in FIGURES}
        changes.append(figures | {"lost": list(change.lost), "gained": list(change.gained)})
    floors = [{"encoder": one.encoder, "outcome": one.outcome, "value": one.new} for one in check.floors]
    return {"outcome": check.outcome, "exit code": check.exit_code, "changes": changes, "floors": floors}


def outcomes(folder):
    return {
        name: content_of(ea.check(new, old, margins=margins, floors=floors))
        for name, (old, new, margins, floors) in cases(folder)
    }


@pytest.mark.slow
def test_the_gate_says_what_it_said(tmp_path, capsys):
    from frozen.freeze import moved

    found = json.loads(json.dumps(outcomes(tmp_path)))
    assert len(found) == 16
    assert list(moved(json.loads(FROZEN.read_text()), found, 1e-9)) == []


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        content = outcomes(Path(place))
    FROZEN.write_text(json.dumps(content, indent=0, sort_keys=True) + "\n")
    sys.stdout.write(f"{FROZEN}\n")
