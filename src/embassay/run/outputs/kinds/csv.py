"""All figures as CSV: a file for each kind of record, with a header and one record a line.

A text that a spreadsheet would compute as a formula gets an apostrophe before it, as spreadsheets themselves write it.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, get_args, get_type_hints

from embassay.core.result import Result
from embassay.core.store.canonical import plain
from embassay.run.finished import FinishedRun
from embassay.run.outputs.formats import Export

if TYPE_CHECKING:
    from polars import DataFrame

HOLDS = "file"
RECORDS = ("rows", "comparisons", "verdicts", "answers", "findings", "encoders", "corpora")
"""The records of a result that have a file; their fields are its columns."""
FORMULA = r"^[=+\-@\t\r\n]"
"""How a text starts that a spreadsheet takes for a formula."""


def export(finished: FinishedRun) -> Export:
    """Make the files: UTF-8 with a byte order mark, without which Excel misreads it."""
    import polars

    texts = polars.col(polars.String)
    without_formulas = polars.when(texts.str.contains(FORMULA)).then("'" + texts).otherwise(texts).name.keep()
    contents = {}
    for name in RECORDS:
        safe = frame(finished.result, name).with_columns(without_formulas)
        # Quotes tell an empty text from a missing one.
        contents[f"{name}.csv"] = safe.write_csv(quote_style="non_numeric", include_bom=True)
    return Export(contents)


def frame(result: Result, name: str) -> DataFrame:
    """Return the records of a file; mappings and lists are JSON. Without records there are columns, too."""
    import polars

    lines = []
    for record in getattr(result, name):
        values = {field: plain(value) for field, value in vars(record).items()}
        nested = {field: json.dumps(value) for field, value in values.items() if isinstance(value, dict | list)}
        lines.append({**values, **nested})
    record_type, _ = get_args(get_type_hints(Result)[name])
    return polars.DataFrame(lines, schema=[field.name for field in fields(record_type)], infer_schema_length=None)
