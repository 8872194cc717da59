"""Means over the classes of encoders that Bansal et al. (2025, section 5) compare: classical ones and LLMs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from statistics import mean, stdev

from embassay.core.layout import Column
from embassay.core.result import Row, Series
from embassay.core.types import Origin
from embassay.diagnostics.published import name_in_papers, published_name, table

NOTE = (
    "The classes and the encoders are those of Bansal et al. (2025, section 5), who find that classical encoders "
    "satisfy C1, C3 and C4 more often than LLMs, on average. The copy of the paper at hand lacks its figures."
)


def groups_of(encoder_set: str) -> dict[str, str]:
    """Return the paper's class of each model of a set of encoders, by :func:`name_in_papers` of its spec."""
    text = files("embassay.core.data").joinpath("encoder_sets.toml").read_text(encoding="utf-8")
    members = tomllib.loads(text)[encoder_set]["encoders"]
    # The price of a service is no property of the model.
    return {name_in_papers(re.sub(r",price=[^,]+", "", member["spec"])): member["group"] for member in members}


def grouped_lines(
    members: Mapping[str, Sequence[str]], values: Mapping[str, Sequence[float | None]]
) -> list[list[object]]:
    """Return lines of group, encoder and values; a group of several ends with means and standard deviations.

    Both are None where an encoder of the group has no value: without it they would describe another group.

    Parameters
    ----------
    members
        The encoders of each group.
    values
        The values of each encoder, a column each.
    """
    lines = list[list[object]]()
    for group, encoders in members.items():
        rows = [values[encoder] for encoder in encoders]
        lines += [[group, encoder, *row] for encoder, row in zip(encoders, rows, strict=True)]
        if len(encoders) > 1:
            for name, statistic in (("mean", mean), ("standard deviation", stdev)):
                figures = [None if None in column else statistic(column) for column in zip(*rows, strict=True)]
                lines.append([group, f"{name} of {len(encoders)}", *figures])
    return lines


def class_series(origins: Sequence[Origin], rows: Sequence[Row], columns: Sequence[Column]) -> Iterator[Series]:
    """Yield the figures of the encoders that the paper has, with mean and standard deviation of each class.

    Yields nothing if no encoder is in the paper; a spec with other options counts as another model. A mean is left
    empty if one of its encoders has no value, because it would be that of another class.

    Parameters
    ----------
    origins
        One of each encoder.
    columns
        The figures, as the page shows them.
    """
    class_of_model = groups_of("composition")
    value_of = {(row.encoder, row.key.within_diagnostic): row.value for row in rows}
    members: dict[str, list[str]] = {name: [] for name in class_of_model.values()}
    values = {}
    for origin in origins:
        values[origin.encoder] = [value_of.get((origin.encoder, column.key)) for column in columns]
        if model_class := class_of_model.get(published_name(origin)):
            members[model_class].append(origin.encoder)
    if lines := grouped_lines(members, values):
        formats = {column.heading: "points" if column.format == "points" else "percent" for column in columns}
        headings = {"class": "text", "encoder": "text", **formats}
        yield table(origins[0].diagnostic, origins[0].corpus, "classes", headings, lines, note=NOTE)
