"""``result.json``: a result to canonical bytes and back.

A file may come from another machine or have been edited. It is checked against the dataclasses of a result and the
classes below; then every encoder and corpus that a record names must be listed. An error is one message with its place
in the file. ``data/result.schema.json`` is generated from the same classes (``tools/result_schema.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from embassay.core.errors import SourceError
from embassay.core.result import (
    Answer,
    Comparison,
    CorpusRecord,
    EncoderRecord,
    Example,
    Failure,
    Finding,
    Result,
    Row,
    Screening,
    Series,
    Verdict,
)
from embassay.core.store.canonical import canonical, plain
from embassay.core.store.paths import open_file, unreadable
from embassay.core.types import JsonObject

SERIES_HEAD = ("diagnostic", "corpus", "name", "kind")
"""The fields of a series; the others are its data."""
ENCODER_FIELDS = ("encoder", "a", "b", "best", "base")
"""The fields of the records of a corpus that name an encoder; empty or None for none."""
UNION_TAGS = ("int", "float", "str", "bool")
"""What pydantic adds to the place of a value that may have several types."""
MENDED = "repeat the run's command"

Number = float | int
"""A number that stays whole where it was written so."""
OPEN = ConfigDict(extra="allow")


class SeriesHead(TypedDict):
    """What every series has, besides its kind and its data."""

    diagnostic: str
    corpus: str
    name: str


class CurveLine(TypedDict):
    """A line of a curve; it may have its own places on the x axis. ``y`` has a number for each place."""

    encoder: str
    line: str
    at: NotRequired[list[Number]]
    y: list[Number | None]


@with_config(OPEN)
class Curve(SeriesHead):
    """Lines over a common axis, or over one of their own."""

    kind: Literal["curve"]
    x: str
    y: str
    at: list[Number]
    lines: list[CurveLine]


class HistogramPanel(TypedDict):
    """The shares of a histogram for one encoder, one less than there are edges."""

    encoder: str
    line: str
    shares: list[Number | None]


@with_config(OPEN)
class Histogram(SeriesHead):
    """A share between each two neighbouring edges."""

    kind: Literal["histogram"]
    x: str
    edges: list[Number]
    panels: list[HistogramPanel]


@with_config(OPEN)
class MatrixData(SeriesHead):
    """A share for each pair of names, as a fraction."""

    kind: Literal["matrix"]
    names: list[str]
    numerator: list[list[int]]
    denominator: list[list[int]]
    diagonal: str
    note: str
    signatures: list[str]


@with_config(OPEN)
class TableData(SeriesHead):
    """A cell for each column in every row, and how each column is written."""

    kind: Literal["table"]
    columns: list[str]
    formats: list[str]
    rows: list[list[Number | str | bool | None]]
    signatures: NotRequired[list[str]]
    note: NotRequired[str]
    source: NotRequired[str]


@with_config(ConfigDict(extra="forbid", allow_inf_nan=False))
class ResultFile(TypedDict):
    """The content of ``result.json``. The data of a series is in the same object as its name and kind."""

    schema: Literal[6]
    seed: Annotated[int, Field(ge=0)]
    resamples: Annotated[int, Field(ge=1)]
    encoders: tuple[EncoderRecord, ...]
    corpora: tuple[CorpusRecord, ...]
    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]
    series: list[Annotated[Curve | Histogram | MatrixData | TableData, Field(discriminator="kind")]]
    examples: tuple[Example, ...]
    verdicts: tuple[Verdict, ...]
    screenings: tuple[Screening, ...]
    failures: tuple[Failure, ...]
    answers: tuple[Answer, ...]
    findings: tuple[Finding, ...]


@cache
def _adapter() -> TypeAdapter[ResultFile]:
    """Return what checks and reads a result; it is made when the first one is read, which takes a moment."""
    return TypeAdapter(ResultFile)


def json_schema() -> JsonObject:
    """Return the JSON schema of ``result.json``."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_adapter().json_schema()}


def to_bytes(result: Result) -> bytes:
    """Return the bytes of ``result.json``."""
    return canonical(_content(result))


def rounded(result: Result) -> Result:
    """Return the result as it is when read from its file: with 10 significant digits and plain lists.

    Raises
    ------
    ValueError
        For NaN or infinity, and for a series that its kind does not allow.
    """
    content = {name: plain(value) for name, value in _content(result).items()}
    return _built(_adapter().validate_python(content))


def _content(result: Result) -> JsonObject:
    """Return the content of ``result.json``."""
    # The scores of items are in files of their own.
    content: JsonObject = {field.name: getattr(result, field.name) for field in fields(result) if field.name != "items"}
    # In Python the name is that of a method.
    content["failures"] = content.pop("failed")
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
        If it is not such a file, has another schema, or is damaged; with the place of the first error.
    """
    try:
        result = _built(_adapter().validate_json(content, strict=True))
    except ValidationError as error:
        raise _refusal(error, path) from None
    _check_names(result, path)
    return result


def read(path: Path) -> Result:
    """Read a ``result.json``."""
    try:
        with open_file(path) as file:
            return from_bytes(file.read(), path)
    except OSError as error:
        raise unreadable(error, path) from None


def _built(content: ResultFile) -> Result:
    """Return the result of a content that passed all checks."""
    parts: dict[str, Any] = {**content}
    parts["failed"] = parts.pop("failures")
    all_series = []
    for record in parts["series"]:
        head = {name: record.pop(name) for name in SERIES_HEAD}
        all_series.append(Series(**head, data=record))
    parts["series"] = tuple(all_series)
    return Result(**parts)


def _refusal(error: ValidationError, path: Path) -> SourceError:
    """Return the message about the first error in a file."""
    problem = error.errors(include_url=False)[0]
    location = problem["loc"]
    if location == ("schema",) and problem["type"] == "literal_error":
        return SourceError(f"schema {str(problem['input'])[:20]}; this version reads 6; {MENDED}", path)
    place = ""
    for depth, part in enumerate(location):
        is_kind_of_series = location[0] == "series" and depth == 2
        if isinstance(part, int):
            place += f"[{part}]"
        elif not is_kind_of_series and part not in UNION_TAGS:
            place += f".{part}"
    # A contradiction that a dataclass has found is a "Value error".
    reason = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "unexpected_keyword_argument":
        reason = "this field is not known in this version"
    return SourceError(f"not an Embassay result: {reason}; {MENDED}", path, field=place.removeprefix(".") or None)


def _check_names(result: Result, path: Path) -> None:
    """Raise SourceError if two encoders or corpora have one name, or a record names one that is not listed."""
    known = {"encoders": _names(result.encoders), "corpora": _names(result.corpora)}
    for part, names in known.items():
        if len(set(names)) < len(names):
            raise SourceError(f"not an Embassay result: two {part} have the same name; {MENDED}", path, field=part)
    encoders, corpora = set(known["encoders"]), set(known["corpora"])
    for part in ("rows", "comparisons", "series", "examples", "verdicts", "screenings", "answers", "findings"):
        for number, record in enumerate(getattr(result, part)):
            for field, name in _named(record):
                if name and name not in (corpora if field == "corpus" else encoders):
                    reason = f"not an Embassay result: {name!r} is not among those of the result; {MENDED}"
                    raise SourceError(reason, path, field=f"{part}[{number}].{field}")


def _named(record: object) -> Iterator[tuple[str, str | None]]:
    """Yield the fields of a record that name a corpus or an encoder, with what they name."""
    for field in ("corpus", *ENCODER_FIELDS):
        yield field, getattr(record, field, None)
    for place, opponent in enumerate(getattr(record, "opponents", ())):
        yield f"opponents[{place}].name", opponent.name


def _names(records: tuple[EncoderRecord, ...] | tuple[CorpusRecord, ...]) -> list[str]:
    return [record.name for record in records]
