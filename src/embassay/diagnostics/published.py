"""Figures that papers print, from the data files, and tables that hold them beside measured ones."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from statistics import mean, stdev
from typing import Any

from embassay.core.result import Series
from embassay.core.types import Origin


def published(name: str) -> Mapping[str, Any]:
    """Return what a paper prints, with its ``source``: the file ``published_{name}.json``."""
    text = files("embassay.core.data").joinpath(f"published_{name}.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


def published_name(origin: Origin) -> str:
    """Return what papers call an encoder: as the user or its weights say, else as its spec does."""
    return origin.published or name_in_papers(origin.spec)


def name_in_papers(spec: str) -> str:
    """Return a spec as papers name a model of sentence-transformers; one with options is another model."""
    return spec.removeprefix("st:").removeprefix("sentence-transformers/")


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


def table(
    diagnostic: str,
    corpus: str,
    name: str,
    columns: Mapping[str, str],
    rows: Sequence[Sequence[object]],
    source: str = "",
    note: str = "",
) -> Series:
    """Return a series that is drawn as a table.

    Parameters
    ----------
    columns
        The format of each column by its heading.
    source
        Source of the published figures in the table; empty if it has none.
    note
        What the table says on this corpus, in a sentence.
    """
    data: dict[str, object] = {
        "columns": tuple(columns),
        "formats": tuple(columns.values()),
        "rows": [list(row) for row in rows],
    }
    if source:
        data["source"] = source
    if note:
        data["note"] = note
    return Series(diagnostic, corpus, name, "table", data)
