"""A small validator for the part of JSON Schema that ``data/result.schema.json`` uses; it locates the first error.

The schema ships with the package and is the only definition of the content of ``result.json``. Tests compare this
validator with jsonschema. It is stricter in one point: an integer must be written as one and fit into 64 bits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KINDS = {
    type(None): "null",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}
NAMES = {
    "null": "null",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}
"""The names of the schema types in messages."""
LARGEST = 2**63
"""Integers must be smaller than this in magnitude, as they are stored in 64 bits."""
SHOWN = 60
"""Characters of a value that a message quotes."""


class SchemaError(ValueError):
    """A value does not match a schema; ``place`` is its position, such as ``rows[3].value``."""

    def __init__(self, place: str, problem: str):
        super().__init__(problem)
        self.place = place.removeprefix(".")


@dataclass(frozen=True)
class Schema:
    """A schema, or a part of one.

    Attributes
    ----------
    rules
        The schema or the part of it.
    root
        The whole schema, in which references are looked up.
    """

    rules: Mapping[str, Any]
    root: Mapping[str, Any]

    def part(self, rules: Mapping[str, Any]) -> Schema:
        """Return a part of the same schema, following references."""
        while "$ref" in rules:
            name = rules["$ref"].removeprefix("#/$defs/")
            rules = self.root["$defs"][name]
        return Schema(rules, self.root)

    def check(self, value: Any, place: str = "") -> None:
        """Raise SchemaError for the first part of a value that does not match the schema."""
        rules = self.rules
        if "const" in rules:
            _check_constant(value, rules["const"], place)
        if "enum" in rules and value not in rules["enum"]:
            choices = ", ".join(map(str, rules["enum"]))
            raise SchemaError(place, f"must be one of {choices}, is {shown(value)}")
        if "type" in rules:
            _check_type(value, rules["type"], place)
        if isinstance(value, str):
            self._check_text(value, place)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            self._check_number(value, place)
        elif isinstance(value, list):
            self._check_list(value, place)
        elif isinstance(value, dict):
            self._check_object(value, place)

    def _check_text(self, value: str, place: str) -> None:
        if len(value) < self.rules.get("minLength", 0):
            raise SchemaError(place, "must not be empty")
        if "pattern" in self.rules and not re.search(self.rules["pattern"], value):
            raise SchemaError(place, f"must match {self.rules['pattern']}, is {shown(value)}")

    def _check_number(self, value: float, place: str) -> None:
        rules = self.rules
        if "minimum" in rules and value < rules["minimum"]:
            raise SchemaError(place, f"must be {rules['minimum']} or more, is {shown(value)}")
        if "exclusiveMinimum" in rules and value <= rules["exclusiveMinimum"]:
            raise SchemaError(place, f"must be more than {rules['exclusiveMinimum']}, is {shown(value)}")
        if "maximum" in rules and value > rules["maximum"]:
            raise SchemaError(place, f"must be {rules['maximum']} or less, is {shown(value)}")

    def _check_list(self, values: list[Any], place: str) -> None:
        if "items" in self.rules:
            items = self.part(self.rules["items"])
            for number, value in enumerate(values):
                items.check(value, f"{place}[{number}]")

    def _check_object(self, values: dict[str, Any], place: str) -> None:
        rules = self.rules
        properties = rules.get("properties", {})
        # True if other properties are allowed, False if they are not, or the schema that they must match.
        others = rules.get("additionalProperties", True)
        for name in rules.get("required", ()):
            if name not in values:
                raise SchemaError(place, f"has no {name!r}")
        for name, value in values.items():
            if name in properties:
                self.part(properties[name]).check(value, f"{place}.{name}")
            elif others is False:
                raise SchemaError(f"{place}.{name}", "is not known in this version")
            elif others is not True:
                self.part(others).check(value, f"{place}.{name}")
        if "oneOf" in rules:
            self._chosen(values, place).check(values, place)

    def _chosen(self, values: dict[str, Any], place: str) -> Schema:
        """Return the alternative of ``oneOf`` whose ``kind`` equals that of the object."""
        kinds: dict[str, Schema] = {}
        for alternative in self.rules["oneOf"]:
            part = self.part(alternative)
            name = part.rules["properties"]["kind"]["const"]
            kinds[name] = part
        kind = values.get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            raise SchemaError(f"{place}.kind", f"must be one of {', '.join(kinds)}, is {shown(kind)}")
        return kinds[kind]


def shown(value: Any) -> str:
    """Return a value for a message: a scalar, truncated if it is long; a list or an object by its kind only."""
    if isinstance(value, (list, dict)):
        return KINDS[type(value)]
    try:
        text = repr(value)
    except ValueError:
        return "a very large number"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _check_constant(value: Any, constant: Any, place: str) -> None:
    # The types are compared too, because 1, 1.0 and True are equal.
    if type(value) is not type(constant) or value != constant:
        raise SchemaError(place, f"must be {constant!r}, is {shown(value)}")


def _check_type(value: Any, types: str | list[str], place: str) -> None:
    if isinstance(types, str):
        types = [types]
    if not any(_is(value, name) for name in types):
        expected = " or ".join(NAMES[name] for name in types)
        raise SchemaError(place, f"must be {expected}, is {KINDS[type(value)]}")
    if isinstance(value, float) and not math.isfinite(value):
        raise SchemaError(place, f"must be finite, is {value}")
    if isinstance(value, int) and abs(value) >= LARGEST:
        raise SchemaError(place, "is too large a number")


def _is(value: Any, name: str) -> bool:
    match name:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
    return isinstance(value, dict)
