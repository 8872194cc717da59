"""Do the tests notice a wrong figure? Each mutant is a small mistake in a copy of the package; a test must fail.

    python tests/mutants.py [NUMBER …]      # about half an hour; prints the test that kills each mutant

The first mutants are mistakes that someone could make: a wrong end, a correction left out. The others are drawn from
the statistics and the comparison of runs, by a fixed seed.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from copy import copy
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/embassay"
SECONDS = 900
"""A mutant may never end, which counts as noticed."""
DRAWN = 20
DRAWN_FROM = ("stats/*.py", "comparison/gate.py", "comparison/differences.py", "comparison/compare.py")
NEIGHBOURS = ("stats", "comparison", "diagnostics", "reports", "frozen", "adaptation", "integrations", "run", "golden")
"""Folders of tests that are run after the tests of the module itself, in this order."""
SWAPPED = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Add, ast.Sub), (ast.And, ast.Or)
OTHER = {one: other for pair in SWAPPED for one, other in (pair, pair[::-1])}
NAMED = """
stats/ranking.py | np.clip(k - nearest.greater, 0 | np.clip(k - nearest.greater - 1, 0
stats/ranking.py | (groups.right - 1) / np.maximum(groups.tied - 1, 1) | groups.right / groups.tied
stats/ranking.py | inside = best_rank < k | inside = best_rank <= k
stats/shares.py | var(ddof=1) | var(ddof=0)
stats/shares.py | values.items() if name in base_systems] | values.items()]
stats/families.py | setdefault((test.family, test.step), []) | setdefault(test.family, [])
stats/families.py | (differences) >= MIN_DIFFERENT | (differences) > MIN_DIFFERENT
stats/best.py | highest_out - ROUNDING | highest_out + ROUNDING
stats/best.py | 1 + len(better), len(ranked) - len(beaten) | 1 + len(beaten), len(ranked) - len(better)
stats/gate.py | most = max(most, -float(gains.min())) | most = float(most)
stats/gate.py | float((sizes**2).sum() / sizes.sum()) | float(sizes.mean())
stats/gate.py | if sums.sum() >= 0: | if sums.sum() > 0:
stats/thresholds.py | side="left" | side="right"
stats/thresholds.py | min(widened, 1 + partners) | widened
stats/detectable.py | CLEARLY_BELOW = 0.7 | CLEARLY_BELOW = 0.9
comparison/differences.py | consistent_interval(row.low, row.high, row.difference, p) | row.low, row.high
comparison/differences.py | items if gain < 0} | items if gain < -0.5}
comparison/differences.py | min(2 * alone, 1.0) if pair.since else alone | alone
core/columns.py | self.kind in ("share", "mean over folds") | self.kind == "share"
diagnostics/metrics/summary.py | return cast(Kind, metric.correlation) | return "spearman"
diagnostics/metrics/summary.py | fold=self._folds(metric) if metric.kind == "mean over folds" else None | fold=None
reports/findings/limits.py | effective_units >= corpus.items / 2 | effective_units >= corpus.items
"""
"""The module, a text that stands in it once, and the text that replaces it."""


def named() -> Iterator[tuple[str, str, str]]:
    """Yield the module, its text and the name of each named mutant."""
    for line in NAMED.strip().splitlines():
        module, old, new = line.split(" | ")
        text = (PACKAGE / module).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{module} must have once: {old}")
        yield module, text.replace(old, new), f"{old} → {new}"


def drawn() -> Iterator[tuple[str, str, str]]:
    """Yield mutants at random places, the same ones as long as these modules stay the same."""
    trees = {path: ast.parse(path.read_text("utf-8")) for one in DRAWN_FROM for path in sorted(PACKAGE.glob(one))}
    places = [(path, *change) for path, tree in trees.items() for change in changes_of(tree)]
    for path, node, field, value in random.Random(20261129).sample(places, DRAWN):  # noqa: S311 - no secret
        before, own = ast.unparse(node), getattr(node, field)
        setattr(node, field, value)
        name = f"line {node.lineno}: {before} → {ast.unparse(node)}"
        yield path.relative_to(PACKAGE).as_posix(), ast.unparse(trees[path]), name
        setattr(node, field, own)


def changes_of(tree: ast.AST) -> Iterator[tuple[ast.expr, str, object]]:
    """Yield each node that a mutant may change, the field, and the other value of the field."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
            yield node, "ops", [OTHER[type(node.ops[0])](), *node.ops[1:]]
        elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OTHER:
            yield node, "op", OTHER[type(node.op)]()
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
            # Twice is not at all.
            yield node, "operand", copy(node)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node, "value", node.value + 1


def tests_for(module: str) -> list[list[str]]:
    """Return where a mutant of a module is looked for: its own test, the tests that import it, whole folders."""
    room, name = module.split("/")[0], Path(module).stem
    own = [ROOT / "tests" / room / f"test_{name}.py"]
    dotted = f"embassay.{module[:-3].replace('/', '.')} import"
    others = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if dotted in path.read_text("utf-8")]
    folders = [[ROOT / "tests" / folder] for folder in dict.fromkeys([room, *NEIGHBOURS])]
    return [[str(path) for path in paths if path.exists()] for paths in (own, others, *folders)]


def killer(module: str, package: Path) -> str:
    """Return the first failing test of a module in a copy of the package; empty for none."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider"]
    settings = {**os.environ, "PYTHONPATH": str(package)}
    for tests in filter(None, tests_for(module)):
        try:
            done = subprocess.run(
                [*command, *tests], cwd=ROOT, env=settings, timeout=SECONDS, capture_output=True, text=True, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no end of {tests}"
        if done.returncode:
            failures = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return failures[0][:120] if failures else f"{tests} cannot be run"
    return ""


def main(numbers: list[int]) -> None:
    """Try the mutants with these numbers, or all."""
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "src"
        shutil.copytree(ROOT / "src", package, ignore=shutil.ignore_patterns("__pycache__"))
        for number, (module, text, name) in enumerate([*named(), *drawn()], start=1):
            if numbers and number not in numbers:
                continue
            path = package / "embassay" / module
            before = path.read_text(encoding="utf-8")
            path.write_text(text, encoding="utf-8")
            failed = killer(module, package)
            path.write_text(before, encoding="utf-8")
            survived += not failed
            print(f"{number:2} {module}: {name}\n   {failed or 'SURVIVED'}", flush=True)
    print(f"{survived} survived")


if __name__ == "__main__":
    main([int(number) for number in sys.argv[1:]])
