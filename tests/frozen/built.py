"""What ``embassay build`` makes of texts of the built-in corpora, item by item."""

from __future__ import annotations

import csv
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import embassay as ea
from embassay.run.resolve import load_corpus
from embassay.testsets.files import lines_of
from frozen.texts import sentences, write_handbook

GROUPS = 45
TRIPLES = 25
QUESTIONS = 95


def built() -> dict[str, Any]:
    """Build test sets of every kind and return their rows; each kind also has what was left out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_handbook(folder)
        write_pairs(folder / "pairs.csv")
        sets = {
            "minimal-pairs": ea.build("minimal-pairs", sentences()),
            "negated-antonyms": ea.build("negated-antonyms", sentences()),
            "groups": ea.build("groups", folder / "pairs.csv", count=GROUPS, seed=1),
            "composition": ea.build("composition", folder / "docs", count=TRIPLES, seed=1),
            "retrieval": ea.build("retrieval", folder / "docs", method="cloze", count=QUESTIONS, seed=1),
        }
    rows: dict[str, Any] = {}
    for kind, made in sets.items():
        rows[f"{kind}|left out"] = dict(made.rejected)
        for number, line in enumerate(lines_of(made)):
            rows[f"{kind}|{number:03}"] = line
    return rows


def write_pairs(path: Path) -> None:
    """Write a table of pairs: neighbours in the corpus of paraphrases, which have the same meaning or not."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["text1", "text2", "label"])
        for first, second in pairwise(load_corpus("paraphrases").samples):
            table.writerow([first.text, second.text, int(first.group == second.group)])
