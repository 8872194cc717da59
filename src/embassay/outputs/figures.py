"""The figures of a run for print."""

from __future__ import annotations

import importlib.util
from typing import Literal

from embassay.errors import MissingExtraError, OutputError
from embassay.outputs.citations import citations_of
from embassay.outputs.exhibits import Exhibit, exhibits, figures_of, print_spec
from embassay.reports.charts import Spec
from embassay.reports.layouts import layouts
from embassay.run.finished import FinishedRun
from embassay.run.progress import Bar


def drawn(finished: FinishedRun, style: Literal["svg", "pdf"]) -> tuple[list[Exhibit[Spec]], dict[str, bytes]]:
    """Draw the figures of a run; return them, and by the name of its file what was drawn.

    Raises
    ------
    MissingExtraError
        If the extra ``charts`` is not installed.
    OutputError
        If the run has no figure.
    """
    if importlib.util.find_spec("vl_convert") is None:
        raise MissingExtraError(f"--format {style}", "charts")
    import vl_convert

    result = finished.result
    figures = exhibits(result, layouts(result), citations_of(result), figures_of)
    if not figures:
        raise OutputError("this run has no figures to draw; its tables are written by --format latex")
    contents = {}
    with Bar().counting("figures", len(figures)) as advance:
        for figure in figures:
            spec = print_spec(figure.content)
            if style == "pdf":
                drawing = vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[])
            else:
                drawing = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode("utf-8")
            contents[f"{figure.name}.{style}"] = drawing
            advance(1)
    return figures, contents
