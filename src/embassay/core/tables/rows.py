"""A row of a user's file as a pydantic model: its kinds of fields, and one error with file, line and field."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, FiniteFloat, PrivateAttr, ValidationError

from embassay.core.errors import SourceError, listed
from embassay.core.samples.base import Words
from embassay.core.samples.checks import problem_in

YES_OR_NO = dict.fromkeys(("1", "1.0", "true", "yes"), True) | dict.fromkeys(("0", "0.0", "false", "no"), False)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


def column(*names: str, default: object = ...) -> Any:
    """Return a field by the names of its column that are recognised, tried in this order; case is ignored."""
    return Field(default, json_schema_extra={"columns": list(names)})


class TableRow(BaseModel):
    """A row, or an object inside one. The fields of a subclass are the columns that a reader uses, by their use.

    Attributes
    ----------
    unique
        Whether no two rows of a table may have the same ``key``.
    """

    unique: ClassVar[bool] = True
    _number: int = PrivateAttr(0)
    _place: tuple[Path, int | None, Mapping[str, str]] = PrivateAttr()

    @property
    def key(self) -> str:
        """Its id, or its number from 0."""
        return getattr(self, "id", "") or str(self._number)

    @property
    def line(self) -> int | None:
        """Its line in the file, from 1; None if the file is read as a whole."""
        return self._place[1]

    def error(self, problem: str, field: str) -> SourceError:
        """Return an error about a field."""
        path, line, columns = self._place
        return SourceError(problem, path, line, columns.get(field, field))


R = TypeVar("R", bound=TableRow)


@cache
def known_names(model: type[TableRow], field: str) -> Sequence[str]:
    """Return the column names that are recognised for a field: those that it lists, else its own."""
    extra = model.model_fields[field].json_schema_extra
    return cast("Sequence[str]", extra["columns"]) if isinstance(extra, dict) else [field]


def checked(
    model: type[R],
    values: Mapping[str, Any],
    path: Path,
    line: int | None = None,
    columns: Mapping[str, str] | None = None,
    number: int = 0,
) -> R:
    """Return a row as a model. Blank and null fields count as missing where a field has a default.

    Parameters
    ----------
    columns
        By field the name of its column in the file, where it is known; by default a name that is recognised.
    number
        The number of the row, from 0.

    Raises
    ------
    SourceError
        For the first wrong value, with file, line and field: ``data.0.paragraphs.2.context``.
    """
    columns = columns or {}
    fields = {}
    for field, info in model.model_fields.items():
        # A row of JSON lines may have a field that the first one lacks.
        recognised = (name for name in known_names(model, field) if name in values)
        column_name = columns.get(field) or next(recognised, field)
        if column_name in values and (info.is_required() or not is_blank(values[column_name])):
            fields[field] = values[column_name]
    try:
        row = model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field, *inside = map(str, first["loc"])
        column_name = columns.get(field) or known_names(model, field)[0]
        is_missing = first["type"] == "missing"
        problem = f"missing; found {listed(sorted(values))}" if is_missing else problem_in(first)
        raise SourceError(problem, path, line, ".".join([column_name, *inside])) from None
    row._place, row._number = (path, line, columns), number
    return row


def is_blank(value: object) -> bool:
    """Return whether a cell is missing or blank."""
    return value is None or (isinstance(value, str) and not value.strip())


def as_list(value: object) -> list[object]:
    """Return the values of a cell: those of a list, one, or none if it is blank."""
    if isinstance(value, list):
        return value
    return [] if is_blank(value) else [value]


def _key(value: object) -> object:
    # In Python true and false are numbers, too.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def yes_or_no(value: object) -> bool | None:
    """Return whether a cell says yes (1, true) or no (0, false); None if it says neither."""
    return YES_OR_NO.get(str(value).strip().lower())


def _from_spreadsheet(value: object) -> object:
    # Spreadsheets of many countries write a decimal comma.
    if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value):
        return value.replace(",", ".")
    answer = yes_or_no(value)
    return value if answer is None else answer


Text = Annotated[Words, Field(strict=True)]
"""A text that is not blank."""
Stripped = Annotated[Text, AfterValidator(str.strip)]
Key = Annotated[Stripped, BeforeValidator(_key)]
"""A text or a whole number that names something, as a text."""
YesNo = Annotated[bool, BeforeValidator(_from_spreadsheet)]
Number = Annotated[FiniteFloat, BeforeValidator(_from_spreadsheet)]
"""A finite number; yes and no are 1 and 0."""
Whole = Annotated[int, Field(ge=0, le=10**18)]
"""A whole number from 0; ``1.0`` is one."""
