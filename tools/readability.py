"""Print signs of how readable the code is: for the whole package, each of its folders, or the densest functions.

    python tools/readability.py                     # the whole package
    python tools/readability.py --by-folder
    python tools/readability.py src/embassay/stats --densest 20

These are signs, not goals. The goal is that a stranger understands a function in one reading.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "embassay"
SMALLEST_BODY = 5
"""Density is measured over function bodies of this many lines and more: shorter ones say nothing."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
VAGUE_NAMES = {"found", "own", "asked", "known", "given", "told", "left", "level", "figure"}
"""Names that say what part of speech a thing plays in a sentence instead of what it is."""


@dataclass
class Signs:
    """Counts over some files."""

    files: int = 0
    private_files: int = 0
    nodes: int = 0
    physical_lines: int = 0
    lines: int = 0
    conditional_expressions: int = 0
    comprehensions: int = 0
    comments: int = 0
    lines_with_any: int = 0
    vague_names: int = 0
    most_parameters: int = 0
    densities: list[tuple[float, str]] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Count one file in."""
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        self.files += 1
        if path.name.startswith("_") and not path.name.startswith("__"):
            self.private_files += 1
        for line in text.splitlines():
            self.physical_lines += 1
            stripped = line.strip()
            # Shares are of the lines that are not empty.
            if stripped:
                self.lines += 1
            if stripped.startswith("# ") and "noqa" not in stripped:
                self.comments += 1
        for node in ast.walk(tree):
            self.add_node(node, path)
        self.lines_with_any += sum(1 for line in text.splitlines() if re.search(r"\bAny\b", line))

    def add_node(self, node: ast.AST, path: Path) -> None:
        """Count one node of a file's syntax tree in."""
        self.nodes += 1
        if isinstance(node, ast.IfExp):
            self.conditional_expressions += 1
        elif isinstance(node, COMPREHENSIONS):
            self.comprehensions += 1
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self.vague_names += node.id in VAGUE_NAMES
        elif isinstance(node, FUNCTIONS):
            self.add_function(node, path)

    def add_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef, path: Path) -> None:
        """Count a function's parameters and the density of its body."""
        arguments = function.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.most_parameters = max(self.most_parameters, len(parameters))
        body = function.body
        if ast.get_docstring(function) is not None:
            body = body[1:]
        if not body:
            return
        lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
        if lines < SMALLEST_BODY:
            return
        nodes = 0
        for statement in body:
            nodes += sum(1 for _ in ast.walk(statement))
        self.densities.append((nodes / lines, f"{path}:{function.lineno} {function.name}"))

    def row(self) -> list[str]:
        """Return the counts as the cells of a table row."""
        median = statistics.median(density for density, _ in self.densities) if self.densities else 0.0
        return [
            str(self.nodes),
            str(self.physical_lines),
            str(self.files),
            f"{median:.1f}",
            f"{1000 * self.conditional_expressions / self.lines:.0f}",
            f"{1000 * self.comprehensions / self.lines:.0f}",
            f"{100 * self.comments / self.lines:.1f}",
            str(self.most_parameters),
            str(self.lines_with_any),
            str(self.private_files),
            str(self.vague_names),
        ]


HEADER = [
    "where",
    "AST nodes",
    "lines",
    "files",
    "nodes per body line (median)",
    "conditional expressions / 1,000 lines",
    "comprehensions / 1,000 lines",
    "comments / 100 lines",
    "parameters, max",
    "lines with Any",
    "private modules",
    "vague names",
]
AIMS = ["aim", "430000", "", "", "≤ 10", "≤ 8", "≤ 20", "≥ 2", "≤ 10", "< 400", "≤ 25", ""]


def python_files(place: Path) -> list[Path]:
    """Return the Python files of a place, sorted."""
    if place.is_file():
        return [place]
    return sorted(place.rglob("*.py"))


def signs_of(places: list[Path]) -> Signs:
    """Count over all files of the places."""
    signs = Signs()
    for place in places:
        for path in python_files(place):
            signs.add(path)
    return signs


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", type=Path, default=[PACKAGE], help="files and folders")
    parser.add_argument("--by-folder", action="store_true", help="one row for each folder")
    parser.add_argument("--densest", type=int, default=0, metavar="N", help="list the N densest functions")
    arguments = parser.parse_args()

    total = signs_of(arguments.places)
    if arguments.densest:
        for density, name in sorted(total.densities, reverse=True)[: arguments.densest]:
            print(f"{density:6.1f}  {name}")
        return
    print(" | ".join(HEADER))
    if arguments.by_folder:
        for place in arguments.places:
            for child in sorted(place.iterdir()):
                if child.suffix == ".py" or (child.is_dir() and python_files(child)):
                    print(" | ".join([child.name, *signs_of([child]).row()]))
    print(" | ".join(["all", *total.row()]))
    print(" | ".join(AIMS))


if __name__ == "__main__":
    main()
