"""No figure and no output moves unnoticed: each is what ``freeze.py`` wrote down."""

from __future__ import annotations

import pytest

from frozen.freeze import EXACT, PARTS, moved, normal, read

SHOWN = 20


EACH = [pytest.param(name, id=name, marks=[pytest.mark.slow] if part.is_slow else []) for name, part in PARTS.items()]


@pytest.mark.parametrize("name", EACH)
def test_nothing_has_moved(name):
    part = PARTS[name]
    if part.missing:
        pytest.skip(part.missing)
    differences = list(moved(read(name), normal(part.make()), part.close))
    more = f"\nand {len(differences) - SHOWN} more" if len(differences) > SHOWN else ""
    assert not differences, f"{len(differences)} moved in {name}:\n" + "\n".join(differences[:SHOWN]) + more


def test_a_move_is_shown_with_its_place():
    old = {"a": [1.0, {"b": "x"}], "c": None, "d": 2.0}
    assert not list(moved(old, {"a": [1.0 + 1e-12, {"b": "x"}], "c": None, "d": 2}, EXACT))
    assert list(moved(old, {"a": [1.1, {"b": "y"}], "d": [2], "e": True}, EXACT)) == [
        "a/0: 1.0 → 1.1",
        'a/1/b: "x" → "y"',
        "c: null → nothing",
        "d: 2.0 → [2]",
        "e: nothing → true",
    ]
