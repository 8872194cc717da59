"""Run the cells of a notebook in order, and write what their last lines show into it: text and HTML, no charts.

python tools/run_notebook.py docs/notebook.ipynb
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]


def execute(notebook: Notebook) -> Notebook:
    """Return the notebook with the outputs of its code cells; the first error ends it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            shown = _run("".join(cell["source"]), names)
            outputs = [] if shown is None else [_output(shown)]
            cell = {**cell, "outputs": outputs, "execution_count": None}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell and return the value of its last line, as notebooks do; None if that is no expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - our own notebook
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


def _output(shown: Any) -> dict[str, Any]:
    """Return a value as the output of a cell."""
    data = {"text/plain": repr(shown).splitlines(keepends=True)}
    if hasattr(shown, "_repr_html_"):
        data["text/html"] = shown._repr_html_().splitlines(keepends=True)
    if type(shown).__module__.startswith("altair"):
        data = {"text/plain": ["(a chart)"]}
    return {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}


def main() -> None:
    """Run the notebooks that are named on the command line."""
    for name in sys.argv[1:]:
        path = Path(name)
        executed = execute(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(executed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
