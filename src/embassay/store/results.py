"""``result.json``: a result to canonical bytes and back.

Who reads a file has not written it. It is checked against ``data/result.schema.json``, then that what it refers to is
there, so that a report of it can be drawn; what is wrong is one message with its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from embassay.errors import SourceError
from embassay.result import (
    Comparison,
    CorpusRecord,
    EncoderRecord,
    Example,
    Failure,
    Finding,
    Result,
    Row,
    Series,
    Verdict,
)
from embassay.store.canonical import canonical, plain
from embassay.store.paths import open_file, unreadable
from embassay.store.schema import Schema, SchemaError

Content = dict[str, Any]
"""A JSON object."""
PARTS: dict[str, type[Any]] = {
    "encoders": EncoderRecord,
    "corpora": CorpusRecord,
    "rows": Row,
    "comparisons": Comparison,
    "examples": Example,
    "verdicts": Verdict,
    "failures": Failure,
    "findings": Finding,
}
SERIES_HEAD = ("diagnostic", "corpus", "name", "kind")
"""The fields of a series; the others are its data."""
OF_EXAMS = {"accuracy_l100", "coe", "roe"}
"""Quantities whose range is over exams."""
SCHEMAS = (1, 2, 3)
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


def _content(result: Result) -> Content:
    """Return the content of ``result.json``; the data of a series stands beside its name and kind."""
    content: Content = {field.name: getattr(result, field.name) for field in fields(result)}
    content["series"] = []
    for series in result.series:
        head = {name: getattr(series, name) for name in SERIES_HEAD}
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
        raise SourceError(f"not an Embassay result: not valid JSON: {error}", path) from None
    if not isinstance(data, dict) or "schema" not in data:
        raise SourceError("not an Embassay result: the field 'schema' is missing", path)
    if data["schema"] not in SCHEMAS or isinstance(data["schema"], bool):
        known = f"{SCHEMAS[0]} to {SCHEMAS[-1]}"
        raise SourceError(f"schema {str(data['schema'])[:20]}; this version reads {known}", path)
    try:
        complete = _with_defaults(_upgraded(data))
        _schema().check(complete)
        _check_references(complete)
        return _built(complete)
    except SchemaError as fault:
        raise SourceError(f"not an Embassay result: {fault}", path, field=fault.place or None) from None


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


def _upgraded(data: Content) -> Content:
    """Return the content in the newest schema.

    Files of schema 1 have no failures. What they call not separable from the best rests on tests that are no longer
    made, so it is left out; their intervals of ``accuracy_l100``, ``coe`` and ``roe`` are of exams. Up to schema 2
    findings were sentences in the notes of a verdict.
    """
    if data["schema"] == SCHEMAS[-1]:
        return data
    upgraded = {"failures": [], "findings": [], **data, "schema": SCHEMAS[-1]}
    # Nothing is checked yet: what is no list of objects is left for the schema to refuse.
    if data["schema"] == 1:
        if "verdicts" in data:
            upgraded["verdicts"] = _each(data["verdicts"], _without_superseded)
        if "rows" in data:
            upgraded["rows"] = _each(data["rows"], lambda row: {"interval": _interval_of(row), **row})
    if isinstance(upgraded.get("verdicts"), list):
        upgraded["findings"] = [finding for verdict in upgraded["verdicts"] for finding in _findings_in(verdict)]
        upgraded["verdicts"] = _each(upgraded["verdicts"], _without_notes)
    return upgraded


def _findings_in(verdict: object) -> list[Content]:
    """Return the notes of a verdict of schema 2 or 1 as findings."""
    if not isinstance(verdict, dict) or not isinstance(verdict.get("notes"), list):
        return []
    about = {name: verdict.get(name) for name in ("diagnostic", "corpus")}
    return [{"severity": "low", "sentence": note, "title": note, **about} for note in verdict["notes"]]


def _without_notes(verdict: Content) -> Content:
    return {name: value for name, value in verdict.items() if name != "notes"}


def _each(records: Any, change: Callable[[Content], Content]) -> Any:
    """Return a list with each object changed; what is no list, or no object in it, as it is."""
    if not isinstance(records, list):
        return records
    return [change(record) if isinstance(record, dict) else record for record in records]


def _without_superseded(verdict: Content) -> Content:
    """Return a verdict of schema 1 without what its figures no longer support."""
    superseded = {"not_separable", "above", "best", "value", "low", "high"}
    kept = {name: value for name, value in verdict.items() if name not in superseded}
    kept["reason"] = "an earlier version wrote this result; run it again" if verdict.get("quantity") else None
    return kept


def _interval_of(row: Content) -> str:
    """Say what kind of interval a row of schema 1 has."""
    if row.get("low") is None:
        return "none"
    return "exams" if row.get("quantity") in OF_EXAMS else "confidence"


def _with_defaults(data: Content) -> Content:
    """Return the content with the fields that an earlier version did not write: their values are the defaults."""
    complete = dict(data)
    for part, kind in PARTS.items():
        if part in data:
            complete[part] = _each(data[part], partial(_completed, _defaults(kind)))
    return complete


def _completed(defaults: Content, record: Content) -> Content:
    return {**defaults, **record}


def _defaults(kind: type[Any]) -> Content:
    """Return the default values of a record's fields, as JSON has them."""
    defaults: Content = {}
    for field in fields(kind):
        if field.default is not MISSING:
            defaults[field.name] = list(field.default) if isinstance(field.default, tuple) else field.default
        elif field.default_factory is not MISSING:
            defaults[field.name] = field.default_factory()
    return defaults


def _built(data: Content) -> Result:
    """Return the result that a sound content stands for."""
    parts: dict[str, Any] = {}
    for name, kind in PARTS.items():
        parts[name] = tuple(_record(kind, record, f"{name}[{place}]") for place, record in enumerate(data[name]))
    series = []
    for record in data["series"]:
        numbers = {name: value for name, value in record.items() if name not in SERIES_HEAD}
        series.append(Series(record["diagnostic"], record["corpus"], record["name"], record["kind"], numbers))
    return Result(data["seed"], data["resamples"], series=tuple(series), **parts)


def _record(kind: type[Any], record: Content, place: str) -> Any:
    """Return a record of a result; its lists become tuples."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
    try:
        return kind(**values)
    except ValueError as error:  # figures that contradict each other, an interval the wrong way round
        raise SchemaError(place, str(error)) from None


def _check_references(data: Content) -> None:
    """Raise SchemaError where a record names what is not there, or lists that belong together differ in length."""
    encoders, corpora = _names(data, "encoders"), _names(data, "corpora")
    for part in ("rows", "comparisons", "series", "examples", "verdicts"):
        for number, record in enumerate(data[part]):
            place = f"{part}[{number}]"
            _check_known(record, "corpus", corpora, place)
            if part == "examples" or (part == "rows" and record["encoder"]):
                _check_known(record, "encoder", encoders, place)
            for field in ("a", "b", "best", "reference", "baseline"):
                if record.get(field) is not None and part != "series":
                    _check_known(record, field, encoders, place)
    _check_verdicts(data)
    for number, finding in enumerate(data["findings"]):
        _check_finding(finding, corpora, encoders, f"findings[{number}]")
    for number, series in enumerate(data["series"]):
        _check_lengths(series, f"series[{number}]")


def _check_verdicts(data: Content) -> None:
    """Raise SchemaError for a verdict without rows, or with half a minimum detectable difference."""
    with_rows = {(row["diagnostic"], row["corpus"]) for row in data["rows"]}
    for number, verdict in enumerate(data["verdicts"]):
        if (verdict["diagnostic"], verdict["corpus"]) not in with_rows:
            raise SchemaError(f"verdicts[{number}]", "there is no row of its diagnostic and corpus")
        if (verdict["smallest_difference"] is None) is not (verdict["smallest_units"] is None):
            raise SchemaError(f"verdicts[{number}].smallest_units", "must stand beside smallest_difference, or neither")


def _check_finding(finding: Content, corpora: frozenset[str], encoders: frozenset[str], place: str) -> None:
    """Raise SchemaError for a finding about a corpus or an encoder that is not there; both may be empty."""
    if finding["corpus"]:
        _check_known(finding, "corpus", corpora, place)
    if finding["encoder"]:
        _check_known(finding, "encoder", encoders, place)


def _names(data: Content, part: str) -> frozenset[str]:
    """Return the names of the encoders or corpora; each stands once."""
    names: set[str] = set()
    for number, record in enumerate(data[part]):
        if record["name"] in names:
            raise SchemaError(f"{part}[{number}].name", f"{record['name']!r} appears twice")
        names.add(record["name"])
    return frozenset(names)


def _check_known(record: Content, field: str, known: frozenset[str], place: str) -> None:
    if record[field] not in known:
        raise SchemaError(f"{place}.{field}", f"{record[field]!r} is not among those of the result")


def _check_lengths(series: Content, place: str) -> None:
    """Refuse lists that belong together and differ in length."""
    match series["kind"]:
        case "curve":
            for number, line in enumerate(series["lines"]):
                _check_length(line["y"], len(line.get("at", series["at"])), f"{place}.lines[{number}].y")
        case "histogram":
            # Each bar lies between two edges.
            bars = max(len(series["edges"]) - 1, 0)
            for number, panel in enumerate(series["panels"]):
                _check_length(panel["shares"], bars, f"{place}.panels[{number}].shares")
        case "table":
            _check_length(series["formats"], len(series["columns"]), f"{place}.formats")
            for number, row in enumerate(series["rows"]):
                _check_row(row, series["formats"], f"{place}.rows[{number}]")
        case "matrix":
            size = len(series["names"])
            for name in ("numerator", "denominator"):
                _check_length(series[name], size, f"{place}.{name}")
                for number, row in enumerate(series[name]):
                    _check_length(row, size, f"{place}.{name}[{number}]")


def _check_length(values: list[Any], length: int, place: str) -> None:
    if len(values) != length:
        raise SchemaError(place, f"must have {length} entries, has {len(values)}")


def _check_row(row: list[Any], formats: list[str], place: str) -> None:
    """Refuse a row of another length, and a text where a number is to be written."""
    _check_length(row, len(formats), place)
    for column, (cell, style) in enumerate(zip(row, formats, strict=True)):
        if style in NUMERIC and isinstance(cell, str) and cell:
            raise SchemaError(f"{place}[{column}]", f"must be a number, is {cell[:60]!r}")


NUMERIC = frozenset({"percent", "points", "number", "count", "decimal"})
"""How the cells of a column of numbers are written."""
