"""``result.json``: a result to canonical bytes and back.

A file may come from another machine or have been edited. It is checked against ``data/result.schema.json``; then every
encoder and corpus that a record names must be listed, so that a report can be drawn. An error is one message with its
place in the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

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
from embassay.types import JsonObject

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
ENCODER_FIELDS = {
    "rows": ("encoder",),
    "comparisons": ("a", "b"),
    # The data of a series may use these names for something else.
    "series": (),
    "examples": ("encoder",),
    "verdicts": ("best", "reference", "baseline", "second_baseline"),
}
"""The fields of the records of a corpus that name an encoder."""
SERIES_HEAD = ("diagnostic", "corpus", "name", "kind")
"""The fields of a series; the others are its data."""
OF_EXAMS = {"accuracy_l100", "coe", "roe"}
"""Quantities whose range is over exams."""
SCHEMAS = (1, 2, 3)
"""The schemas that can be read; the last one is written."""
SUPERSEDED = {"not_separable", "above", "best", "value", "low", "high"}
"""Fields of a verdict of schema 1 that rest on tests that are no longer made."""
NUMERIC = frozenset({"percent", "points", "number", "count", "decimal"})
"""The formats of table columns that hold numbers."""


def to_bytes(result: Result) -> bytes:
    """Return the bytes of ``result.json``."""
    return canonical(_content(result))


def rounded(result: Result) -> Result:
    """Return the result as it is when read from its file: with 10 significant digits and plain lists.

    Raises
    ------
    ValueError
        For NaN or infinity.
    """
    content = {name: plain(value) for name, value in _content(result).items()}
    return _built(content)


def _content(result: Result) -> JsonObject:
    """Return the content of ``result.json``; the data of a series is in the same object as its name and kind."""
    content: JsonObject = {}
    for field in fields(result):
        if field.name == "items":
            continue  # the scores are in files of their own
        content[field.name] = getattr(result, field.name)
    # In Python the name is that of a method.
    content["failures"] = content.pop("failed")
    content["series"] = []
    for series in result.series:
        record = dict(series.data)
        for name in SERIES_HEAD:
            record[name] = getattr(series, name)
        content["series"].append(record)
    return content


def from_bytes(content: bytes, path: Path) -> Result:
    """Read what :func:`to_bytes` wrote.

    Raises
    ------
    SourceError
        If it is not such a file, has another schema, or is damaged; with the place of the first error.
    """
    try:
        data = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not an Embassay result: not valid JSON: {error}", path) from None
    if not isinstance(data, dict) or "schema" not in data:
        raise SourceError("not an Embassay result: the field 'schema' is missing", path)
    schema = data["schema"]
    # True equals 1.
    if schema not in SCHEMAS or isinstance(schema, bool):
        raise SourceError(f"schema {str(schema)[:20]}; this version reads {SCHEMAS[0]} to {SCHEMAS[-1]}", path)
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


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python's reader of JSON would accept."""
    raise ValueError(f"{name} is not JSON")


@cache
def _schema() -> Schema:
    file = files("embassay.data").joinpath("result.schema.json")
    root = json.loads(file.read_text(encoding="utf-8"))
    return Schema(root, root)


def _upgraded(data: JsonObject) -> JsonObject:
    """Return the content in the newest schema.

    Nothing has been checked yet. Values of the wrong type are kept, so that the schema rejects them.
    """
    upgraded = data
    if upgraded["schema"] == 1:
        upgraded = _schema_2_from_1(upgraded)
    if upgraded["schema"] == 2:
        upgraded = _schema_3_from_2(upgraded)
    return upgraded


def _schema_2_from_1(data: JsonObject) -> JsonObject:
    """Return content of schema 1 in schema 2: rows say what their interval is, and verdicts have other fields."""
    upgraded = {**data, "schema": 2}
    if "verdicts" in data:
        upgraded["verdicts"] = _each(data["verdicts"], _without_superseded)
    if "rows" in data:
        upgraded["rows"] = _each(data["rows"], _with_interval)
    return upgraded


def _schema_3_from_2(data: JsonObject) -> JsonObject:
    """Return content of schema 2 in schema 3: what were notes of the verdicts is now a list of findings."""
    # Files of schema 1 have no failures either.
    upgraded = {"failures": [], "findings": [], **data, "schema": 3}
    verdicts = data.get("verdicts")
    if isinstance(verdicts, list):
        findings = []
        for verdict in verdicts:
            findings += _findings_in(verdict)
        upgraded["findings"] = findings
        upgraded["verdicts"] = _each(verdicts, _without_notes)
    return upgraded


def _findings_in(verdict: object) -> list[JsonObject]:
    """Return the notes of a verdict of schema 2 as findings."""
    if not isinstance(verdict, dict) or not isinstance(verdict.get("notes"), list):
        return []
    findings = []
    for note in verdict["notes"]:
        finding = {
            "severity": "low",
            "sentence": note,
            "title": note,
            "diagnostic": verdict.get("diagnostic"),
            "corpus": verdict.get("corpus"),
        }
        findings.append(finding)
    return findings


def _without_notes(verdict: JsonObject) -> JsonObject:
    return {name: value for name, value in verdict.items() if name != "notes"}


def _each(records: object, change: Callable[[JsonObject], JsonObject]) -> object:
    """Return a list with ``change`` applied to each object in it; any other value is returned unchanged."""
    if not isinstance(records, list):
        return records
    changed = []
    for record in records:
        if isinstance(record, dict):
            changed.append(change(record))
        else:
            changed.append(record)
    return changed


def _without_superseded(verdict: JsonObject) -> JsonObject:
    """Return a verdict of schema 1 without the fields that were based on tests no longer made."""
    kept = {name: value for name, value in verdict.items() if name not in SUPERSEDED}
    # Encoders are ranked by a quantity. Without one there is no best set, and no reason why there is none.
    kept["reason"] = None
    if verdict.get("quantity"):
        kept["reason"] = "an earlier version wrote this result; run it again"
    return kept


def _with_interval(row: JsonObject) -> JsonObject:
    """Return a row of schema 1 with the kind of its interval."""
    if row.get("low") is None:
        kind = "none"
    elif row.get("quantity") in OF_EXAMS:
        kind = "exams"
    else:
        kind = "confidence"
    return {"interval": kind, **row}


def _with_defaults(data: JsonObject) -> JsonObject:
    """Return the content with the fields that an earlier version did not write, set to their default values."""
    complete = dict(data)
    for part, kind in PARTS.items():
        if part in data:
            complete[part] = _each(data[part], _completion(kind))
    return complete


def _completion(kind: type[Any]) -> Callable[[JsonObject], JsonObject]:
    """Return the function that adds to a record the default values of the fields that it lacks."""
    defaults = _defaults(kind)

    def complete(record: JsonObject) -> JsonObject:
        return {**defaults, **record}

    return complete


def _defaults(kind: type[Any]) -> JsonObject:
    """Return the default values of a record's fields as JSON has them; fields without a default are left out."""
    defaults: JsonObject = {}
    for field in fields(kind):
        if isinstance(field.default, tuple):
            # JSON has lists only.
            defaults[field.name] = list(field.default)
        elif field.default is not MISSING:
            defaults[field.name] = field.default
        elif field.default_factory is not MISSING:
            defaults[field.name] = field.default_factory()
    return defaults


def _built(data: JsonObject) -> Result:
    """Return the result of a content that passed all checks."""
    parts: dict[str, Any] = {}
    for name, kind in PARTS.items():
        records = []
        for number, content in enumerate(data[name]):
            place = f"{name}[{number}]"
            records.append(_record(kind, content, place))
        parts[name] = tuple(records)
    series = tuple(_series(record) for record in data["series"])
    failed = parts.pop("failures")
    return Result(data["seed"], data["resamples"], series=series, failed=failed, **parts)


def _series(record: JsonObject) -> Series:
    """Return a series: its data are all fields but those of ``SERIES_HEAD``."""
    data = {name: value for name, value in record.items() if name not in SERIES_HEAD}
    return Series(record["diagnostic"], record["corpus"], record["name"], record["kind"], data)


def _record(kind: type[Any], record: JsonObject, place: str) -> Any:
    """Return a record of a result; its lists become tuples."""
    values = {}
    for name, value in record.items():
        if isinstance(value, list):
            values[name] = tuple(value)
        else:
            values[name] = value
    try:
        return kind(**values)
    except ValueError as error:
        # Two numbers contradict each other, for example the ends of an interval.
        raise SchemaError(place, str(error)) from None


def _check_references(data: JsonObject) -> None:
    """Check what the schema cannot say: the names of encoders and corpora, and lists that belong together.

    Raises
    ------
    SchemaError
        If a record names an encoder or corpus that is not listed, or if parts of the result contradict each other.
    """
    encoders = _names(data, "encoders")
    corpora = _names(data, "corpora")
    for part, encoder_fields in ENCODER_FIELDS.items():
        for number, record in enumerate(data[part]):
            place = f"{part}[{number}]"
            _check_known(record, "corpus", corpora, place)
            for field in encoder_fields:
                name = record.get(field)
                # Rows of a corpus and examples of an item have an empty text as their encoder.
                is_of_no_encoder = field == "encoder" and name == ""
                if name is not None and not is_of_no_encoder:
                    _check_known(record, field, encoders, place)
    _check_verdicts(data)
    for number, finding in enumerate(data["findings"]):
        _check_finding(finding, corpora, encoders, f"findings[{number}]")
    for number, series in enumerate(data["series"]):
        _check_lengths(series, f"series[{number}]")


def _check_verdicts(data: JsonObject) -> None:
    """Raise SchemaError for a verdict without rows, or with half a minimum detectable difference."""
    with_rows = {(row["diagnostic"], row["corpus"]) for row in data["rows"]}
    for number, verdict in enumerate(data["verdicts"]):
        place = f"verdicts[{number}]"
        about = (verdict["diagnostic"], verdict["corpus"])
        if about not in with_rows:
            raise SchemaError(place, "there is no row of its diagnostic and corpus")
        has_difference = verdict["smallest_difference"] is not None
        has_units = verdict["smallest_units"] is not None
        if has_difference != has_units:
            raise SchemaError(f"{place}.smallest_units", "must stand beside smallest_difference, or neither")


def _check_finding(finding: JsonObject, corpora: frozenset[str], encoders: frozenset[str], place: str) -> None:
    """Raise SchemaError for a finding about a corpus or an encoder that is not listed; both may be empty."""
    if finding["corpus"]:
        _check_known(finding, "corpus", corpora, place)
    if finding["encoder"]:
        _check_known(finding, "encoder", encoders, place)


def _names(data: JsonObject, part: str) -> frozenset[str]:
    """Return the names of the encoders or corpora; raise SchemaError if a name appears twice."""
    names: set[str] = set()
    for number, record in enumerate(data[part]):
        name = record["name"]
        if name in names:
            raise SchemaError(f"{part}[{number}].name", f"{name!r} appears twice")
        names.add(name)
    return frozenset(names)


def _check_known(record: JsonObject, field: str, known: frozenset[str], place: str) -> None:
    """Raise SchemaError if a field of the record at ``place`` is not one of the known names."""
    if record[field] not in known:
        raise SchemaError(f"{place}.{field}", f"{record[field]!r} is not among those of the result")


def _check_lengths(series: JsonObject, place: str) -> None:
    """Raise SchemaError if lists of a series that belong together differ in length."""
    match series["kind"]:
        case "curve":
            for number, line in enumerate(series["lines"]):
                # A line may have its own positions on the x axis.
                positions = line.get("at", series["at"])
                _check_length(line["y"], len(positions), f"{place}.lines[{number}].y")
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


def _check_length(values: list[object], length: int, place: str) -> None:
    if len(values) != length:
        raise SchemaError(place, f"must have {length} entries, has {len(values)}")


def _check_row(row: list[object], formats: list[str], place: str) -> None:
    """Raise SchemaError for a row of the wrong length, or for a text in a column of numbers."""
    _check_length(row, len(formats), place)
    for column, (cell, column_format) in enumerate(zip(row, formats, strict=True)):
        # An empty cell of a column of numbers is an empty text.
        if column_format in NUMERIC and isinstance(cell, str) and cell:
            raise SchemaError(f"{place}[{column}]", f"must be a number, is {cell[:60]!r}")
