"""A result as CSV files: one for each kind of record, with a header and one record a line.

A text that a spreadsheet would compute as a formula gets an apostrophe before it, as spreadsheets themselves write it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from embassay.core.result import (
    Answer,
    Comparison,
    CorpusRecord,
    EncoderRecord,
    Finding,
    Result,
    Row,
    Verdict,
    columns_of,
)

if TYPE_CHECKING:
    from polars import DataFrame

FORMULA = r"^[=+\-@\t\r\n]"
"""How a text starts that a spreadsheet takes for a formula."""
HEADLINE = ("diagnostic", "corpus", "metric", "subset", "similarity_function", "condition")
SUPPORT = ("chance", "items", "units", "reason")
"""The fields of a verdict that each of its lines begins and ends with."""
DIFFERENCE = ("difference", "low", "high", "p", "smallest_difference")


def files(result: Result) -> dict[str, bytes]:
    """Return the CSV files of a result by name: UTF-8 with a byte order mark, without which Excel misreads it."""
    import polars

    texts = polars.col(polars.String)
    without_formulas = polars.when(texts.str.contains(FORMULA)).then("'" + texts).otherwise(texts).name.keep()
    contents = {}
    for name, frame in frames(result).items():
        # Quotes tell an empty text from a missing one.
        text = frame.with_columns(without_formulas).write_csv(quote_style="non_numeric", include_bom=True)
        contents[f"{name}.csv"] = text.encode("utf-8", "replace")
    return contents


def frames(result: Result) -> dict[str, DataFrame]:
    """Return the frames of the files by name.

    Each has the fields of a record of ``result.json`` as columns; mappings are JSON. ``verdicts`` has one line for each
    candidate: its ranks, and its differences from the lexical baseline and the reference.
    """
    import polars

    verdicts = [line for verdict in result.verdicts for line in _lines(result, verdict)]
    return {
        "rows": _frame(Row, result.rows),
        "comparisons": _frame(Comparison, result.comparisons),
        "encoders": _frame(EncoderRecord, result.encoders),
        "corpora": _frame(CorpusRecord, result.corpora),
        "verdicts": polars.DataFrame(verdicts, infer_schema_length=None),
        "answers": _frame(Answer, result.answers),
        "findings": _frame(Finding, result.findings),
    }


def _frame(kind: type, records: Sequence[object]) -> DataFrame:
    """Return records of one dataclass as a frame, whose columns have the types of its fields, also without records."""
    import polars

    lines = []
    for record in records:
        line = dict(vars(record))
        for name, value in line.items():
            if isinstance(value, (Mapping, tuple)):
                content = dict(value) if isinstance(value, Mapping) else value
                line[name] = json.dumps(content, ensure_ascii=False, sort_keys=True)
        lines.append(line)
    return polars.DataFrame(lines, schema=columns_of(kind), orient="row")


def _lines(result: Result, verdict: Verdict) -> Iterator[dict[str, object]]:
    """Yield a line for each candidate of a verdict; one without an encoder for a verdict without candidates."""
    rows = result.headline(verdict)
    for encoder in verdict.candidates or ("",):
        line = {name: getattr(verdict, name) for name in HEADLINE}
        line["encoder"] = encoder
        for name in ("value", "low", "high"):
            line[name] = getattr(rows.get(encoder), name, None)
        # Without a best set it is unknown who may be the best, which is not the same as "no".
        line["may_be_best"] = encoder in verdict.best_set if verdict.best_set else None
        for name in ("rank_low", "rank_high", "undefined_as_wrong"):
            line[name] = getattr(verdict, name).get(encoder)
        line["is_undefined"] = encoder in verdict.undefined
        line["is_left_out"] = encoder in verdict.left_out
        for role in ("baseline", "reference"):
            other = getattr(verdict, role)
            line[role] = other or None
            difference = verdict.between(encoder, other)
            line |= {f"{role}_{name}": getattr(difference, name, None) for name in DIFFERENCE}
        line |= {name: getattr(verdict, name) for name in SUPPORT}
        yield line
