"""Count what the project consists of, room by room, beside the budget of each; a test fails above one.

    python tools/budgets.py            # print the table
    python tools/budgets.py --lower    # make each budget that is larger than what is there as large as that

Nodes are those of the syntax tree, as in ``tools/readability.py``, so neither line breaks nor comments change them.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from readability import FUNCTIONS, VAGUE_NAMES

ROOT = Path(__file__).parent.parent
BUDGETS = Path(__file__).with_suffix(".json")
PACKAGE = ROOT / "src" / "embassay"
TEMPLATES = (".html", ".css", ".js", ".toml", ".sh")
"""Suffixes of what is no Python and no data, so that logic does not move there unseen."""
PREPOSITIONS = frozenset(
    "about above after among as at before below beside between by for from in inside into like near of on outside over "
    "per since than through to under until up with within without".split()
)
"""A function that begins with one says where a thing stands, not what it returns."""


def measured() -> dict[str, int]:
    """Return the size of each room and of everything else that has a budget."""
    sizes: Counter[str] = Counter()
    for path in _files("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        sizes[f"{room_of(path)}, nodes"] += len(nodes)
        if path.is_relative_to(PACKAGE):
            sizes["vague names of variables"] += vague_names(nodes)
            sizes["names of functions that begin with a preposition"] += prepositional_names(nodes)
    for suffix in TEMPLATES:
        sizes["templates and scripts, bytes"] += sum(
            path.stat().st_size for path in _files(f"*{suffix}") if path.is_relative_to(PACKAGE)
        )
    sizes["docs, words"] = sum(len(path.read_text(encoding="utf-8").split()) for path in _files("docs/*.md"))
    return dict(sorted(sizes.items()))


def annotations() -> int:
    """Return the nodes of the package that are annotations; they are not to be saved on."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in _files("*.py") if path.is_relative_to(PACKAGE)]
    return sum(annotation_nodes(ast.walk(tree)) for tree in trees)


def room_of(path: Path) -> str:
    """Return ``src/ROOM`` for a file of the package, else the first folder."""
    folder, *inside = path.relative_to(ROOT).parts
    if folder != "src":
        return folder
    return f"src/{inside[1]}" if len(inside) > 2 else "src"


def vague_names(nodes: Iterable[ast.AST]) -> int:
    """Return how many of some nodes assign to a vague name."""
    return sum(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE_NAMES for node in nodes
    )


def prepositional_names(nodes: Iterable[ast.AST]) -> int:
    """Return how many of some nodes define a function whose name begins with a preposition."""
    return sum(isinstance(node, FUNCTIONS) and node.name.lstrip("_").split("_")[0] in PREPOSITIONS for node in nodes)


def annotation_nodes(nodes: Iterable[ast.AST]) -> int:
    """Return how many nodes the annotations of some nodes have."""
    parts = [getattr(node, field, None) for node in nodes for field in ("annotation", "returns")]
    return sum(1 for part in parts if isinstance(part, ast.AST) for _ in ast.walk(part))


def _files(pattern: str) -> list[Path]:
    """Return the files that match and that git tracks: a new file counts from ``git add`` on."""
    command = ["git", "ls-files", "--", pattern]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    return [path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file()]


def main() -> None:
    """Print the table, or lower the budgets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lower", action="store_true")
    arguments = parser.parse_args()
    sizes = measured()
    budgets = json.loads(BUDGETS.read_text(encoding="utf-8")) if BUDGETS.exists() else {}
    for name, size in sizes.items():
        print(f"{name:<50} {size:>9,} of {budgets.get(name, size):>9,}")
    package = sum(size for name, size in sizes.items() if name.startswith("src"))
    print(f"{'the package, nodes':<50} {package:>9,}, of which annotations {annotations():,}")
    if arguments.lower:
        lowered = {name: min(size, budgets.get(name, size)) for name, size in sizes.items()}
        BUDGETS.write_text(json.dumps(lowered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
