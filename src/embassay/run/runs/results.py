"""``result.json``: a result to canonical bytes and back.

A file may come from another machine or have been edited. It is checked against the dataclasses of a result; an error is
one message with its place in the file. ``data/result.schema.json`` is generated from the same classes
(``tools/result_schema.py``).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from embassay.core.errors import SourceError
from embassay.core.result import Result, Series
from embassay.core.store.canonical import canonical, plain
from embassay.core.store.paths import open_file, unreadable
from embassay.core.types import JsonObject


@with_config(ConfigDict(extra="allow"))
class SeriesRecord(TypedDict):
    """A series; its data, which depend on the kind (:class:`embassay.core.result.Series`), are further fields."""

    diagnostic: str
    corpus: str
    name: str
    kind: Literal["curve", "histogram", "matrix", "table"]


# The sections of the file are those of a result.
_TYPES = get_type_hints(Result)
_FORM: dict[str, Any] = {
    **_TYPES,
    "schema": Literal[6],
    "seed": Annotated[int, Field(ge=0)],
    "resamples": Annotated[int, Field(ge=1)],
    "series": list[SeriesRecord],
    # In Python the name is that of a method.
    "failures": _TYPES["failed"],
}
# The scores of items are in files of their own.
del _FORM["failed"], _FORM["items"]


@cache
def _adapter() -> TypeAdapter[dict[str, Any]]:
    """Return what checks and reads a result; it is made when the first one is read, which takes a moment."""
    # Type checkers read only literal fields.
    typed_dict: Any = TypedDict
    form = typed_dict("ResultFile", _FORM)
    return TypeAdapter(with_config(ConfigDict(extra="forbid", allow_inf_nan=False))(form))


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
        For NaN or infinity, and for a field of a wrong type.
    """
    return _built(_adapter().validate_python(plain(_content(result))))


def _content(result: Result) -> JsonObject:
    """Return the content of ``result.json``."""
    content: JsonObject = {**vars(result), "failures": result.failed}
    del content["failed"], content["items"]
    # The data of a series is in the same object as its name and kind.
    content["series"] = []
    for series in result.series:
        head = {name: getattr(series, name) for name in SeriesRecord.__annotations__}
        content["series"].append({**series.data, **head})
    return content


def read(path: Path) -> Result:
    """Read a ``result.json``.

    Raises
    ------
    SourceError
        If it is not such a file, has another schema, or is damaged; with the place of the first error.
    """
    try:
        with open_file(path) as file:
            return _built(_adapter().validate_json(file.read(), strict=True))
    except OSError as error:
        raise unreadable(error, path) from None
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))
        reason = f"not a result of this version: {problem['msg']}; repeat the run's command"
        if problem["type"] == "json_invalid":
            reason = f"{problem['msg']}; if it has a merge conflict, or is a pointer of Git LFS, restore it"
        raise SourceError(reason, path, field=place or None) from None


def _built(content: JsonObject) -> Result:
    """Return the result of a content that passed all checks."""
    parts = {**content}
    parts["failed"] = parts.pop("failures")
    all_series = []
    for record in parts["series"]:
        head = {name: record.pop(name) for name in SeriesRecord.__annotations__}
        all_series.append(Series(**head, data=record))
    parts["series"] = tuple(all_series)
    return Result(**parts)
