"""Simulate the statistics with known truth and write the figures into ``docs/statistics.md``.

    python tools/simulate_statistics.py            # all simulations, a few minutes on one core
    python tools/simulate_statistics.py shares     # only those that are named

The simulations are those of ``tests/simulations``. Each has a block of its own in the page; the text around the blocks
is written by hand and stays.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "statistics.md"
sys.path.insert(0, str(ROOT / "tests"))

from simulations import Row, Simulation, every_simulation  # noqa: E402


def percent(rate: float) -> str:
    """Return a rate in per cent with one digit."""
    return f"{100 * rate:.1f} %"


def line(row: Row) -> str:
    """Return a row as a line of the table."""
    mark = ""
    if row.seen < row.wanted[0]:
        mark = "below"
    if row.seen > row.wanted[1]:
        mark = "above"
    wanted = f"{100 * row.wanted[0]:g}-{100 * row.wanted[1]:g} %"
    cells = [row.design, row.figure, wanted, percent(row.seen), percent(row.error), mark]
    return "| " + " | ".join(cells) + " |"


def table(rows: list[Row]) -> list[str]:
    """Return rows as a table."""
    return ["| design | figure | wanted | seen | error | |", "|---|---|---|---|---|---|", *map(line, rows)]


def block(simulation: Simulation) -> str:
    """Run a simulation and return its part of the page."""
    rows = list(simulation.rows())
    below = [row for row in rows if row.seen < row.wanted[0]]
    above = [row for row in rows if row.seen > row.wanted[1]]
    lowest, highest = min(row.seen for row in rows), max(row.seen for row in rows)
    lines = [
        f"### {simulation.title}",
        "",
        f"{len(rows)} designs; seen: {percent(lowest)} to {percent(highest)}. Below what is wanted: {len(below)}, "
        f"above: {len(above)}.",
        "",
    ]
    if below:
        lines += ["Designs below what is wanted:", "", *table(sorted(below, key=lambda row: row.seen)), ""]
    lines += ["<details><summary>All designs</summary>", "", *table(rows), "", "</details>"]
    return "\n".join(lines)


def replaced(page: str, name: str, text: str) -> str:
    """Return the page with the block of a simulation replaced, or added at the end."""
    start, end = f"<!-- simulation {name} -->", f"<!-- end of {name} -->"
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
