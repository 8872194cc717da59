"""What a whole screen gets wrong where all systems are equally good."""

from __future__ import annotations

from collections.abc import Iterator

from embassay.core.result import worse_systems
from embassay.stats.families import Roles
from simulations import Row, rate, simulation
from simulations.comparisons import BETWEEN, DESIGNS, answers_by_label, compared
from simulations.designs import stream

SHARE = 0.75
MODELS = (1, 2, 4, 8)
NAMES = ("28 units, 1 item", "20 units, 4 items", "labels like pip's")


@simulation("screens", "A screen of equally good systems: how often it calls one better or worse")
def screens(repeats: int = 600) -> Iterator[Row]:
    """Cross labels with models; bm25 is as good as all. Copies of a model have families of their own."""
    for name in NAMES:
        for models in MODELS:
            rng = stream("screens", name, models)
            names = [f"m{place}" for place in range(models)]
            roles = Roles(tuple(names), lexical="bm25")
            verdicts = main = 0
            for repeat in range(repeats):
                belongs = DESIGNS[name](rng)
                items = answers_by_label(rng, belongs, [SHARE] * (models + 1), 0.3, BETWEEN)
                values = dict(zip([*names, "bm25"], items.T, strict=True))
                rows = compared(values, belongs, roles, repeat)
                verdicts += bool(worse_systems(rows))
                main += rows[0].is_significant
            design = f"{models} models and bm25, {name}"
            most = 0.065 if models == 1 else 0.15
            yield Row(design, "some false verdict", (0.0, most), *rate(verdicts, repeats), accepted=(0.0, most))
            yield Row(design, "false in the main family", (0.0, 0.065), *rate(main, repeats), accepted=(0.0, 0.065))
