"""Simulate the statistics with known truth and write the figures into ``docs/simulations.md``.

    python tools/simulate_statistics.py            # all simulations, a quarter of an hour on one core
    python tools/simulate_statistics.py shares     # only those that are named

The simulations are those of ``tests/simulations``. Each has a block of its own in the page; the text around the blocks
is written by hand and stays.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "simulations.md"
sys.path.insert(0, str(ROOT / "tests"))

from simulations import Row, Simulation, every_simulation  # noqa: E402


def percent(rate: float) -> str:
    """Return a rate in per cent with one digit."""
    return f"{100 * rate:.1f} %".replace("-0.0 %", "0.0 %")


def written(row: Row, figure: float) -> str:
    """Return a figure of a row: a rate in per cent with one digit, a number with three."""
    return f"{figure:.3f}" if row.number else percent(figure)


def line(row: Row) -> str:
    """Return a row as a line of the table."""
    mark = ""
    if row.seen < row.wanted[0]:
        mark = "below"
    if row.seen > row.wanted[1]:
        mark = "above"
    low, high = row.wanted
    wanted = f"{low:g}-{high:g}" if row.number else f"{100 * low:g}-{100 * high:g} %"
    cells = [row.design, row.figure, wanted, written(row, row.seen), written(row, row.error), mark]
    return "| " + " | ".join(cells) + " |"


def table(rows: list[Row]) -> list[str]:
    """Return rows as a table."""
    return ["| design | figure | wanted | seen | error | |", "|---|---|---|---|---|---|", *map(line, rows)]


def block(simulation: Simulation) -> str:
    """Run a simulation and return its part of the page."""
    rows = list(simulation.rows())
    lines = [f"### {simulation.title}", ""]
    for figure in dict.fromkeys(row.figure for row in rows):
        lines += [summary([row for row in rows if row.figure == figure]), ""]
    worst = [row for row in rows if outside(row)]
    if worst:
        lines += ["Designs outside what is wanted, on the side that does harm:", "", *table(worst), ""]
    lines += ["<details><summary>All designs</summary>", "", *table(rows), "", "</details>"]
    return "\n".join(lines)


def summary(rows: list[Row]) -> str:
    """Return a sentence on the rows of one figure."""
    rates = [row.seen for row in rows]
    # All rows of one figure are written alike.
    lowest = written(rows[0], min(rates))
    highest = written(rows[0], max(rates))
    below = sum(row.seen < row.wanted[0] for row in rows)
    above = sum(row.seen > row.wanted[1] for row in rows)
    figure = rows[0].figure[0].upper() + rows[0].figure[1:]
    if len(rows) == 1:
        return f"{figure}: {lowest}."
    return f"{figure}, {len(rows)} designs: {lowest} to {highest}. Below what is wanted: {below}, above: {above}."


def outside(row: Row) -> bool:
    """Return whether a figure is outside its wanted range on the harmful side. Coverage that is too high does no harm.

    A range that starts at 0 belongs to an error rate or a loss, which is harmful if it is too high.
    """
    if row.wanted[0] > 0:
        return row.seen < row.wanted[0]
    return row.seen > row.wanted[1]


def replaced(page: str, name: str, text: str) -> str:
    """Return the page with the block of a simulation replaced, or added at the end."""
    start = f"<!-- simulation {name} -->"
    end = f"<!-- end of {name} -->"
    whole = f"{start}\n\n{text}\n\n{end}"
    pattern = re.compile(re.escape(start) + ".*?" + re.escape(end), flags=re.S)
    if pattern.search(page):
        return pattern.sub(lambda _: whole, page)
    return f"{page.rstrip()}\n\n{whole}\n"


def main(names: list[str]) -> int:
    """Run the simulations that are named, or all, and write the page after each."""
    known = every_simulation()
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.stderr.write(f"unknown simulation: {', '.join(unknown)}; there are {', '.join(known)}\n")
        return 2
    for name in names or known:
        sys.stderr.write(f"{name} …\n")
        text = block(known[name])
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), name, text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
