"""``result.json``: a result to canonical bytes and back.

Who reads a file has not written it. It is checked against ``data/result.schema.json``, then that what it refers to is
there, so that a report of it can be drawn; what is wrong is one message with its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from embassay.errors import SourceError
from embassay.result import Comparison, CorpusRecord, EncoderRecord, Example, Failure, Result, Row, Series, Verdict
from embassay.store.canonical import canonical, plain
from embassay.store.paths import open_file, unreadable
from embassay.store.schema import Schema, SchemaError

PARTS: dict[str, type[Any]] = {
    "encoders": EncoderRecord,
    "corpora": CorpusRecord,
    "rows": Row,
    "comparisons": Comparison,
    "examples": Example,
    "verdicts": Verdict,
    "failures": Failure,
}
OF_EXAMS = {"accuracy_l100", "coe", "roe"}
"""Quantities whose range is over exams."""
SCHEMAS = (1, 2)
"""The schemas that can be read; the last one is written."""


def to_bytes(result: Result) -> bytes:
    """Return the bytes of ``result.json``."""
    return canonical(_content(result))


def rounded(result: Result) -> Result:
    """Return the result as it reads back: 10 significant digits, plain lists.

    Raises
    ------
    ValueError
        For NaN or infinity.
    """
    return _built(plain(_content(result)))


def _content(result: Result) -> dict[str, Any]:
    """Return the content of ``result.json``; the data of a series stands beside its name and kind."""
    content = {field.name: getattr(result, field.name) for field in fields(result)}
    content["series"] = []
    for series in result.series:
        head = {"diagnostic": series.diagnostic, "corpus": series.corpus, "name": series.name, "kind": series.kind}
        content["series"].append({**series.data, **head})
    return content


def from_bytes(content: bytes, path: Path) -> Result:
    """Read what :func:`to_bytes` wrote.

    Raises
    ------
    SourceError
        If it is no such file, of another schema, or damaged; with the place of the first fault.
    """
    try:
        data = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not a result of embassay: not JSON: {error}", path) from None
    if not isinstance(data, dict) or "schema" not in data:
        raise SourceError("not a result of embassay: an object with 'schema' is needed", path)
    if data["schema"] not in SCHEMAS or isinstance(data["schema"], bool):
        known = " and ".join(map(str, SCHEMAS))
        raise SourceError(f"schema {str(data['schema'])[:20]}; this version reads {known}", path)
    try:
        complete = _with_defaults(_upgraded(data))
        _schema().check(complete)
        _check_references(complete)
        return _built(complete)
    except SchemaError as fault:
        raise SourceError(f"not a result of embassay: {fault}", path, field=fault.place or None) from None


def read(path: Path) -> Result:
    """Read a ``result.json``."""
    try:
        with open_file(path) as file:
            return from_bytes(file.read(), path)
    except OSError as error:
        raise unreadable(error, path) from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


@cache
def _schema() -> Schema:
    root = json.loads(files("embassay.data").joinpath("result.schema.json").read_text(encoding="utf-8"))
    return Schema(root, root)


def _upgraded(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the content in the newest schema.

    Files of schema 1 have no failures. What they call not separable from the best rests on tests that are no longer
    made, so it is left out; their intervals of ``accuracy_l100``, ``coe`` and ``roe`` are of exams.
    """
    upgraded = {"failures": [], **data, "schema": SCHEMAS[-1]}
    if data["schema"] == SCHEMAS[-1]:
        return upgraded
    if isinstance(verdicts := data.get("verdicts"), list):
        upgraded["verdicts"] = [_without_superseded(v) if isinstance(v, dict) else v for v in verdicts]
    if isinstance(rows := data.get("rows"), list):
        upgraded["rows"] = [{"interval": _interval_of(r), **r} if isinstance(r, dict) else r for r in rows]
    return upgraded


def _without_superseded(verdict: Mapping[str, Any]) -> dict[str, Any]:
    superseded = {"not_separable", "above", "best", "value", "low", "high"}
    kept = {name: value for name, value in verdict.items() if name not in superseded}
    reason = "an earlier version wrote this result; run it again" if verdict.get("quantity") else None
    return {**kept, "reason": reason}


def _interval_of(row: Mapping[str, Any]) -> str:
    """Say what kind of interval a row of schema 1 has."""
    if row.get("low") is None:
        return "none"
    return "exams" if row.get("quantity") in OF_EXAMS else "confidence"


def _with_defaults(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with the fields that an earlier version did not write: their values are the defaults."""
    complete = dict(data)
    for name, kind in PARTS.items():
        optional = [f for f in fields(kind) if f.default is not MISSING or f.default_factory is not MISSING]
        defaults = {f.name: _plain_default(f) for f in optional}
        if isinstance(records := data.get(name), list):
            complete[name] = [{**defaults, **r} if isinstance(r, dict) else r for r in records]
    return complete


def _plain_default(field: Any) -> Any:
    """Return a field's default value as JSON has it."""
    value: Any = field.default if field.default is not MISSING else field.default_factory()
    return list(value) if isinstance(value, tuple) else value


def _built(data: Mapping[str, Any]) -> Result:
    """Return the result that a sound content stands for."""
    parts: dict[str, Any] = {}
    for name, kind in PARTS.items():
        parts[name] = tuple(_record(kind, row, f"{name}[{place}]") for place, row in enumerate(data[name]))
    series = tuple(_series(dict(row)) for row in data["series"])
    return replace(Result(data["seed"], data["resamples"]), series=series, **parts)


def _record(kind: type[Any], row: Mapping[str, Any], place: str) -> Any:
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    try:
        return kind(**values)
    except ValueError as error:  # figures that contradict each other, an interval the wrong way round
        raise SchemaError(place, str(error)) from None


def _series(row: dict[str, Any]) -> Series:
    head = {name: row.pop(name) for name in ("diagnostic", "corpus", "name", "kind")}
    return Series(**head, data=row)


def _check_references(data: Mapping[str, Any]) -> None:
    """Raise SchemaError where a record names what is not there, or lists that belong together differ in length."""
    encoders, corpora = (_names(data, part) for part in ("encoders", "corpora"))
    for part in ("rows", "comparisons", "series", "examples", "verdicts"):
        for number, record in enumerate(data[part]):
            place = f"{part}[{number}]"
            _check_known(record, "corpus", corpora, place)
            for field in ("a", "b", "best", "reference", "baseline"):
                if record.get(field) is not None and part != "series":
                    _check_known(record, field, encoders, place)
            if part == "examples" or (part == "rows" and record["encoder"]):
                _check_known(record, "encoder", encoders, place)
    figures = {(row["diagnostic"], row["corpus"]) for row in data["rows"]}
    for number, verdict in enumerate(data["verdicts"]):
        if (verdict["diagnostic"], verdict["corpus"]) not in figures:
            raise SchemaError(f"verdicts[{number}]", "there is no row of its diagnostic and corpus")
        if (verdict["smallest_difference"] is None) is not (verdict["smallest_units"] is None):
            raise SchemaError(f"verdicts[{number}].smallest_units", "must stand beside smallest_difference, or neither")
    for number, series in enumerate(data["series"]):
        _check_lengths(series, f"series[{number}]")


def _names(data: Mapping[str, Any], part: str) -> frozenset[str]:
    """Return the names of the encoders or corpora; each stands once."""
    names = [record["name"] for record in data[part]]
    seen: set[str] = set()
    for number, name in enumerate(names):
        if name in seen:
            raise SchemaError(f"{part}[{number}].name", f"{name!r} stands there twice")
        seen.add(name)
    return frozenset(seen)


def _check_known(record: Mapping[str, Any], field: str, known: frozenset[str], place: str) -> None:
    if record[field] not in known:
        raise SchemaError(f"{place}.{field}", f"{record[field]!r} is not among those of the result")


def _check_lengths(series: Mapping[str, Any], place: str) -> None:
    """Refuse lists that belong together and differ in length."""
    if series["kind"] == "curve":
        for number, line in enumerate(series["lines"]):
            _check_long(line["y"], line.get("at", series["at"]), f"{place}.lines[{number}].y")
    elif series["kind"] == "histogram":
        for number, panel in enumerate(series["panels"]):
            _check_long(panel["shares"], series["edges"][1:], f"{place}.panels[{number}].shares")
    elif series["kind"] == "table":
        _check_long(series["formats"], series["columns"], f"{place}.formats")
        _check_cells(series, place)
    elif series["kind"] == "matrix":
        for name in ("numerator", "denominator"):
            _check_long(series[name], series["names"], f"{place}.{name}")
            for number, row in enumerate(series[name]):
                _check_long(row, series["names"], f"{place}.{name}[{number}]")


def _check_long(values: list[Any], others: Iterable[Any], place: str) -> None:
    if len(values) != (number := len(list(others))):
        raise SchemaError(place, f"must have {number} entries, has {len(values)}")


def _check_cells(table: Mapping[str, Any], place: str) -> None:
    """Refuse rows of another length, and a text where a number is to be written."""
    for number, row in enumerate(table["rows"]):
        _check_long(row, table["columns"], f"{place}.rows[{number}]")
        for column, (cell, style) in enumerate(zip(row, table["formats"], strict=True)):
            if style in NUMERIC and isinstance(cell, str) and cell:
                raise SchemaError(f"{place}.rows[{number}][{column}]", f"must be a number, is {cell[:60]!r}")


NUMERIC = frozenset({"percent", "points", "number", "count", "decimal"})
"""How the cells of a column of numbers are written."""
