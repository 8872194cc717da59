"""A result as CSV files: one for each kind of record, with a header and one record a line.

A text that a spreadsheet would compute as a formula gets an apostrophe before it, as spreadsheets themselves write it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from embassay.result import Comparison, CorpusRecord, EncoderRecord, Finding, Result, Row, Verdict

if TYPE_CHECKING:
    from polars import DataFrame

FORMULA = r"^[=+\-@\t\r\n]"
"""How a text starts that a spreadsheet takes for a formula."""
ColumnType = type[str] | type[float] | type[int] | type[bool]
TYPES: dict[str, ColumnType] = {"str": str, "float": float, "int": int, "bool": bool}
RANKING: dict[str, ColumnType] = {
    "encoder": str,
    "value": float,
    "low": float,
    "high": float,
    "may_be_best": bool,
    "rank_low": int,
    "rank_high": int,
    "undefined_as_wrong": float,
    "is_undefined": bool,
    "is_left_out": bool,
}
"""The columns of ``verdicts.csv`` about a candidate, before those of its comparisons."""
OPPONENTS = ("reference", "baseline", "second_baseline")
DIFFERENCE = ("difference", "low", "high", "p", "smallest_difference")


def files(result: Result) -> dict[str, bytes]:
    """Return the CSV files of a result by name: UTF-8 with a byte order mark, without which Excel misreads it."""
    contents = {}
    for name, frame in frames(result).items():
        safe = without_formulas(frame)
        # Quotes tell an empty text from a missing one.
        text = safe.write_csv(quote_style="non_numeric", include_bom=True)
        contents[f"{name}.csv"] = text.encode("utf-8", "replace")
    return contents


def frames(result: Result) -> dict[str, DataFrame]:
    """Return the frames of the files by name.

    Each has the fields of a record of ``result.json`` as columns; mappings are JSON. ``verdicts`` has one line for each
    candidate: its ranks, and its differences from reference and baselines.
    """
    return {
        "rows": _frame(Row, [vars(row) for row in result.rows]),
        "comparisons": _frame(Comparison, [vars(comparison) for comparison in result.comparisons]),
        "encoders": _frame(EncoderRecord, [vars(encoder) for encoder in result.encoders]),
        "corpora": _frame(CorpusRecord, [vars(corpus) for corpus in result.corpora]),
        "verdicts": _verdicts(result),
        "findings": _frame(Finding, [vars(finding) for finding in result.findings]),
    }


def without_formulas(frame: DataFrame) -> DataFrame:
    """Return a frame in which no text is a formula for a spreadsheet."""
    import polars

    texts = polars.col(polars.String)
    is_formula = texts.str.contains(FORMULA)
    return frame.with_columns(polars.when(is_formula).then("'" + texts).otherwise(texts).name.keep())


def _frame(kind: type, records: Sequence[Mapping[str, object]]) -> DataFrame:
    """Return records of one dataclass as a frame, whose columns have the types of its fields, also without records."""
    import polars

    schema = dict[str, ColumnType]()
    for name, hint in kind.__annotations__.items():
        # ``float | None`` is a column of floats; polars columns may always hold null.
        type_name = str(hint).split(" ")[0]
        schema[name] = TYPES.get(type_name, str)
    rows = [{name: _cell(record[name]) for name in schema} for record in records]
    return polars.DataFrame(rows, schema=schema, orient="row")


def _cell(value: object) -> object:
    """Return a mapping as JSON, and any other value as it is."""
    if isinstance(value, Mapping):
        return json.dumps(dict(value), ensure_ascii=False, sort_keys=True)
    return value


def _verdicts(result: Result) -> DataFrame:
    """Return one line for each candidate of each verdict; one without an encoder for a verdict without candidates."""
    import polars

    key = ("diagnostic", "corpus", "quantity", "subset", "measure", "condition")
    schema: dict[str, ColumnType] = {**dict.fromkeys(key, str), **RANKING}
    for opponent in OPPONENTS:
        schema[opponent] = str
        schema |= {f"{opponent}_{name}": float for name in DIFFERENCE}
    schema |= {"chance": float, "items": int, "units": int, "reason": str}
    lines = list[dict[str, object]]()
    for verdict in result.verdicts:
        lines += _lines(result, verdict)
    return polars.DataFrame(lines, schema=schema, orient="row")


def _lines(result: Result, verdict: Verdict) -> Iterator[dict[str, object]]:
    """Yield the lines of a verdict."""
    key = (verdict.diagnostic, verdict.corpus, verdict.quantity, verdict.subset, verdict.condition)
    rows: dict[str, Row] = {}
    for row in result.rows:
        has_key = (row.diagnostic, row.corpus, row.quantity, row.subset, row.condition) == key
        if has_key and verdict.measure in ("", row.measure):
            rows.setdefault(row.encoder, row)
    for encoder in verdict.candidates or ("",):
        # Without a best set it is unknown who may be the best, which is not the same as "no".
        may_be_best = None
        if verdict.best_set:
            may_be_best = encoder in verdict.best_set
        line: dict[str, object] = {
            "diagnostic": verdict.diagnostic,
            "corpus": verdict.corpus,
            "quantity": verdict.quantity,
            "subset": verdict.subset,
            "measure": verdict.measure,
            "condition": verdict.condition,
            "encoder": encoder,
            "may_be_best": may_be_best,
            "rank_low": verdict.rank_low.get(encoder),
            "rank_high": verdict.rank_high.get(encoder),
            "undefined_as_wrong": verdict.undefined_as_wrong.get(encoder),
            "is_undefined": encoder in verdict.undefined,
            "is_left_out": encoder in verdict.left_out,
            "chance": verdict.chance,
            "items": verdict.items,
            "units": verdict.units,
            "reason": verdict.reason,
        }
        if encoder in rows:
            row = rows[encoder]
            line |= {"value": row.value, "low": row.low, "high": row.high}
        for opponent in OPPONENTS:
            line[opponent] = getattr(verdict, opponent)
            differences = getattr(verdict, f"against_{opponent}").get(encoder, {})
            line |= {f"{opponent}_{name}": differences.get(name) for name in DIFFERENCE}
        yield line
