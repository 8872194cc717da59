"""A run's settings from a TOML file, checked with their place; what the command line says goes before it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError

from embassay.errors import SourceError
from embassay.specs import Spec, parse


class Item(BaseModel):
    """A spec in its long form: ``spec``, ``name``, and options, which may hold commas and spaces."""

    model_config = ConfigDict(extra="allow")
    spec: str
    name: str | None = None

    def to_spec(self, what: str) -> Spec:
        """Return the parsed spec with the options added."""
        parsed = parse(self.spec, what)
        options = {**parsed.options, **(self.model_extra or {})}
        return Spec(parsed.head, self.name or parsed.label, options)


class Settings(BaseModel):
    """Everything that ``embassay run`` can be told in a file."""

    model_config = ConfigDict(extra="forbid", strict=True)
    encoders: list[str | Item] = Field(default_factory=list)
    corpora: list[str | Item] = Field(default_factory=list)
    diagnostics: list[str | Item] = Field(default_factory=list)
    out: str | None = None
    seed: NonNegativeInt | None = None
    resamples: PositiveInt | None = None
    limit: PositiveInt | None = None
    device: str | None = None
    backend: str | None = None
    baselines: bool | None = None
    texts: bool | None = None

    def specs(self, field: str) -> list[Spec]:
        """Return the specs of ``encoders``, ``corpora`` or ``diagnostics``."""
        what = field.removesuffix("s") if field != "corpora" else "corpus"
        items: list[str | Item] = getattr(self, field)
        return [parse(item, what) if isinstance(item, str) else item.to_spec(what) for item in items]


def read(path: Path) -> Settings:
    """Read a TOML file.

    Raises
    ------
    SourceError
        With file and field, for the first thing that does not fit.
    """
    if path.suffix != ".toml":
        raise SourceError("not a config file (.toml); a corpus is given with -c, an encoder with -e", path)
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return Settings.model_validate(data)
    except OSError as error:
        raise SourceError(error.strerror or "cannot be read", path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"not TOML: {error}", path) from None
    except ValidationError as error:
        first = error.errors()[-1]
        place = ".".join(str(part) for part in first["loc"] if part not in ("str", "Item"))
        if first["type"] == "extra_forbidden":
            raise SourceError(f"unknown; known: {', '.join(Settings.model_fields)}", path, field=place) from None
        raise SourceError(first["msg"], path, field=place) from None
