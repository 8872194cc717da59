"""Simulate the statistics with known truth, print every design, and write the table of ``docs/simulations.md``.

    python tools/simulate_statistics.py            # all simulations, hours on one core
    python tools/simulate_statistics.py shares     # only those that are named

The simulations are those of ``tests/simulations``. The terminal gets a line for each design. The page gets one row for
each promise: the range over its designs and the worst of them. The text around the table is written by hand and stays.
"""

from __future__ import annotations

import sys
from inspect import signature
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "simulations.md"
RULE = "|---|---|---|---|---|"
"""The line below the heading of the table."""
MOST_CLAIMS = 3
"""A figure with more claims than this has one row for all of them."""
sys.path.insert(0, str(ROOT / "tests"))

from simulations import Row, Simulation, every_simulation  # noqa: E402


def written(row: Row, figure: float) -> str:
    """Return a figure of a row: a rate in per cent with one digit, a number with three."""
    if row.number:
        return f"{figure:.3f}".replace("-0.000", "0.000")
    return f"{100 * figure:.1f}".replace("-0.0", "0.0").removesuffix(".0") + " %"


def claim(row: Row) -> str:
    """Return the range that a row should be in."""
    low, high = row.wanted
    return f"{low:g}-{high:g}" if row.number else f"{100 * low:.3g}-{100 * high:.3g} %"


def excess(row: Row) -> float:
    """Return by how much a row is outside its claim on the harmful side, negative inside it.

    A range that starts at 0 belongs to an error rate or a loss, which is harmful if it is too high. Any other
    range belongs to a coverage or a power, of which more is harmless.
    """
    low, high = row.wanted
    return low - row.seen if low > 0 else row.seen - high


def promises(rows: list[Row]) -> list[list[Row]]:
    """Return the rows of each figure, apart for each claim where there are few; a range of all rates is no claim."""
    found = []
    for figure in dict.fromkeys(row.figure for row in rows):
        of_figure = [row for row in rows if row.figure == figure]
        claims = dict.fromkeys(row.wanted for row in of_figure)
        groups = [[row for row in of_figure if row.wanted == wanted] for wanted in claims]
        groups = [group for group in groups if group[0].number or group[0].wanted != (0.0, 1.0)]
        found += groups if len(groups) <= MOST_CLAIMS else [of_figure]
    return found


def table_row(simulation: Simulation, rows: list[Row]) -> str:
    """Return the row of the page for the designs of one promise."""
    lowest = written(rows[0], min(row.seen for row in rows)).removesuffix(" %")
    highest = written(rows[0], max(row.seen for row in rows))
    observed = highest if lowest == highest.removesuffix(" %") else f"{lowest} to {highest}"
    if max(map(excess, rows)) > 0:
        observed = f"**{observed}**"
    claims = {claim(row) for row in rows}
    claimed = claims.pop() if len(claims) == 1 else "one for each design"
    designs = max(rows, key=excess).design
    if len(rows) > 1:
        designs = f"{len(rows)}: {designs}"
    repeats = signature(simulation.rows).parameters["repeats"].default
    cells = [f"`{simulation.name}` {rows[0].figure}", designs, claimed, observed, f"{repeats:,}"]
    return "| " + " | ".join(cells) + " |"


def replaced(page: str, name: str, rows: list[str]) -> str:
    """Return the page with the rows of a simulation replaced, or added below the table's heading."""
    lines = page.splitlines()
    own = [number for number, line in enumerate(lines) if line.startswith(f"| `{name}` ")]
    place = own[0] if own else lines.index(RULE) + 1
    before = lines[:place]
    after = [line for number, line in enumerate(lines) if number >= place and number not in own]
    return "\n".join([*before, *rows, *after]) + "\n"


def printed(row: Row) -> str:
    """Return the line of a design for the terminal."""
    mark = "  OUTSIDE" if excess(row) > 0 else ""
    seen = f"{written(row, row.seen)} (error {written(row, row.error)}, claimed {claim(row)})"
    return f"  {row.design}: {row.figure} {seen}{mark}\n"


def main(names: list[str]) -> int:
    """Run the simulations that are named, or all; print each design and write the page after each simulation."""
    known = every_simulation()
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.stderr.write(f"unknown simulation: {', '.join(unknown)}; there are {', '.join(known)}\n")
        return 2
    for name in names or known:
        simulation = known[name]
        sys.stdout.write(f"{name}: {simulation.title}\n")
        rows = []
        for row in simulation.rows():
            rows.append(row)
            sys.stdout.write(printed(row))
            sys.stdout.flush()
        lines = [table_row(simulation, group) for group in promises(rows)]
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), name, lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
