"""Do the tests notice a wrong figure? Each mutant is a small mistake in a copy of the package; a test must fail.

    python tests/mutants.py [NUMBER …]      # about half an hour; prints the test that notices each mutant

The first mutants are mistakes that someone could make: a wrong end, a correction left out. The others are drawn from
the statistics and the comparison of runs, by a fixed seed.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/embassay"
DRAWN = 20
DRAWN_FROM = "stats/*.py comparison/gate.py comparison/differences.py comparison/compare.py"
NEIGHBOURS = "stats comparison diagnostics reports adaptation run golden"
"""Folders of tests that are run after the tests of the module itself, in this order."""
# A mutant may never end.
PYTEST = ["timeout", "900", sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "and": "or", "or": "and", "not": ""}
NAMED = """
stats/ranking.py | np.clip(k - nearest.greater, 0 | np.clip(k - nearest.greater - 1, 0
stats/ranking.py | (groups.right - 1) / np.maximum(groups.tied - 1, 1) | groups.right / groups.tied
stats/ranking.py | inside = best_rank < k | inside = best_rank <= k
stats/shares.py | var(ddof=1) | var(ddof=0)
stats/shares.py | values.items() if name in base_systems] | values.items()]
stats/families.py | setdefault((test.family, test.step), []) | setdefault(test.family, [])
stats/families.py | (differences) >= MIN_DIFFERENT | (differences) > MIN_DIFFERENT
core/result.py | highest_out - ROUNDING | highest_out + ROUNDING
core/result.py | len(systems) - len(worse)) | len(systems))
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
diagnostics/metrics/verdict.py | kind = cast(Kind, first.correlation) | kind = "spearman"
diagnostics/metrics/verdict.py | fold=first.fold if len(first.fold) else None | fold=None
reports/findings/limits.py | effective_units >= corpus.items / 2 | effective_units >= corpus.items
"""
"""The module, a text that stands in it once, and the text that replaces it."""
Mutant = tuple[str, str, str]
"""The module, its text with the mistake, and what the mistake is."""


def named() -> Iterator[Mutant]:
    """Yield the named mutants."""
    for line in NAMED.strip().splitlines():
        module, old, new = line.split(" | ")
        before, after = (PACKAGE / module).read_text("utf-8").split(old)
        yield module, before + new + after, f"{old} → {new}"


def drawn() -> Iterator[Mutant]:
    """Yield mutants at random places, the same ones as long as these modules stay the same."""
    paths = [path for pattern in DRAWN_FROM.split() for path in sorted(PACKAGE.glob(pattern))]
    places = [(path, token) for path in paths for token in tokens(path) if token.string in OTHER or is_number(token)]
    for path, token in random.Random(20261129).sample(places, DRAWN):  # noqa: S311 - no secret
        (row, start), (_, end) = token.start, token.end
        lines = path.read_text("utf-8").splitlines(keepends=True)
        before = lines[row - 1]
        lines[row - 1] = before[:start] + OTHER.get(token.string, f"({token.string} + 1)") + before[end:]
        yield str(path.relative_to(PACKAGE)), "".join(lines), f"line {row}: {before.strip()} → {lines[row - 1].strip()}"


def tokens(path: Path) -> list[tokenize.TokenInfo]:
    """Return the tokens of a module."""
    with path.open("rb") as file:
        return list(tokenize.tokenize(file.readline))


def is_number(token: tokenize.TokenInfo) -> bool:
    """Return whether a token is a number."""
    return token.type == tokenize.NUMBER


def tests_of(module: str) -> Iterator[list[Path]]:
    """Yield where a mutant of a module is looked for: its own test, the tests that import it, whole folders.

    The frozen outputs come early: hardly a figure moves without them.
    """
    tests, room = ROOT / "tests", module.split("/")[0]
    yield [tests / room / f"test_{Path(module).stem}.py"]
    dotted = module.removesuffix(".py").replace("/", ".")
    yield [path for path in sorted(tests.rglob("test_*.py")) if f"embassay.{dotted} import" in path.read_text("utf-8")]
    for folder in ["frozen", room, *NEIGHBOURS.split()]:
        yield [tests / folder]


def killer(module: str, package: Path) -> str:
    """Return the first failing test of a module in a copy of the package."""
    settings = {**os.environ, "PYTHONPATH": str(package)}
    for paths in tests_of(module):
        tests = [str(path) for path in paths if path.exists()]
        if not tests:
            continue
        done = subprocess.run([*PYTEST, *tests], cwd=ROOT, env=settings, capture_output=True, text=True, check=False)
        # 5: none of the tests runs without "-m slow".
        if done.returncode not in (0, 5):
            failures = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return failures[0] if failures else f"no end of {tests}"
    return "SURVIVED"


def main(numbers: list[str]) -> None:
    """Try the mutants with these numbers, or all."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(shutil.copytree(ROOT / "src", Path(folder) / "src"))
        for number, (module, text, name) in enumerate([*named(), *drawn()], start=1):
            if not numbers or str(number) in numbers:
                path = package / "embassay" / module
                path.write_text(text, encoding="utf-8")
                print(f"{number:2} {module}: {name}\n   {killer(module, package)}", flush=True)
                shutil.copy(PACKAGE / module, path)


if __name__ == "__main__":
    main(sys.argv[1:])
