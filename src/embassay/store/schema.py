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

KINDS: dict[type[object], str] = {
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

    def check(self, value: object, place: str = "") -> None:
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
        smallest = self.rules.get("minimum")
        if smallest is not None and value < smallest:
            raise SchemaError(place, f"must be {smallest} or more, is {shown(value)}")
        bound = self.rules.get("exclusiveMinimum")
        if bound is not None and value <= bound:
            raise SchemaError(place, f"must be more than {bound}, is {shown(value)}")
        largest = self.rules.get("maximum")
        if largest is not None and value > largest:
            raise SchemaError(place, f"must be {largest} or less, is {shown(value)}")

    def _check_list(self, values: list[object], place: str) -> None:
        if len(values) < self.rules.get("minItems", 0):
            raise SchemaError(place, "must not be empty")
        if "items" not in self.rules:
            return
        schema = self.part(self.rules["items"])
        for number, value in enumerate(values):
            schema.check(value, f"{place}[{number}]")

    def _check_object(self, values: dict[str, object], place: str) -> None:
        for name in self.rules.get("required", ()):
            if name not in values:
                raise SchemaError(place, f"has no {name!r}")
        properties = self.rules.get("properties", {})
        # True if other properties are allowed, False if they are not, or the schema that they must match.
        others = self.rules.get("additionalProperties", True)
        for name, value in values.items():
            place_of_value = f"{place}.{name}"
            rules = properties.get(name, others)
            if rules is False:
                raise SchemaError(place_of_value, "is not known in this version")
            if rules is not True:
                self.part(rules).check(value, place_of_value)
        if "oneOf" in self.rules:
            schema = self._alternative(values.get("kind"), place)
            schema.check(values, place)

    def _alternative(self, kind: object, place: str) -> Schema:
        """Return the alternative of ``oneOf`` for objects of this ``kind``."""
        alternatives: dict[str, Schema] = {}
        for rules in self.rules["oneOf"]:
            alternative = self.part(rules)
            properties = alternative.rules["properties"]
            alternatives[properties["kind"]["const"]] = alternative
        if not isinstance(kind, str) or kind not in alternatives:
            raise SchemaError(f"{place}.kind", f"must be one of {', '.join(alternatives)}, is {shown(kind)}")
        return alternatives[kind]


def shown(value: object) -> str:
    """Return a value for a message: a scalar, truncated if it is long; a list or an object by its kind only."""
    if isinstance(value, (list, dict)):
        return KINDS[type(value)]
    try:
        text = repr(value)
    except ValueError:
        # Python writes no integer of more than 4,300 digits.
        return "a very large number"
    if len(text) <= SHOWN:
        return text
    return f"{text[:SHOWN]}…"


def _check_constant(value: object, constant: object, place: str) -> None:
    # The types are compared too, because 1, 1.0 and True are equal.
    if type(value) is not type(constant) or value != constant:
        raise SchemaError(place, f"must be {constant!r}, is {shown(value)}")


def _check_type(value: object, types: str | list[str], place: str) -> None:
    """Raise SchemaError if a value is of none of the types, is not finite, or is too large an integer."""
    if isinstance(types, str):
        types = [types]
    if not any(_has_type(value, name) for name in types):
        expected = " or ".join(NAMES[name] for name in types)
        raise SchemaError(place, f"must be {expected}, is {KINDS[type(value)]}")
    if isinstance(value, float) and not math.isfinite(value):
        raise SchemaError(place, f"must be finite, is {value}")
    if isinstance(value, int) and abs(value) >= LARGEST:
        raise SchemaError(place, "is too large a number")


def _has_type(value: object, schema_type: str) -> bool:
    """Return whether a value is of a type of JSON Schema. In Python True is an int; here it is no number."""
    match schema_type:
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
