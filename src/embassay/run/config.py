"""Settings of a run from a TOML file; errors name the field. The command line overrides the file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from embassay.core.errors import SourceError
from embassay.core.store.paths import source_path
from embassay.core.tables.texts import read_text
from embassay.core.types import JsonObject
from embassay.run.options import FILE, options_in
from embassay.run.specs import Spec, parse


class SpecTable(BaseModel):
    """A spec in its long form: ``spec``, ``name`` and options, whose values may contain commas and spaces."""

    model_config = ConfigDict(extra="allow")
    spec: str
    name: str | None = None

    def to_spec(self, what: str) -> Spec:
        """Return the parsed spec with the options added."""
        parsed = parse(self.spec, what)
        options = {**parsed.options, **(self.model_extra or {})}
        return Spec(parsed.head, self.name or parsed.label, options)


class CheckSettings(BaseModel):
    """The table ``[check]``: the settings of ``embassay check``."""

    model_config = ConfigDict(extra="forbid", strict=True)
    margins: dict[str, float] = Field(default_factory=dict)
    floors: dict[str, float] = Field(default_factory=dict)
    on: list[str] = Field(default_factory=list)
    strict: bool = False
    pages: Literal["given", "sampled"] | None = None


class ConfigFile(BaseModel):
    """What a config file may hold, beside the options of a run: what the run is about, and the table ``[check]``."""

    model_config = ConfigDict(extra="forbid", strict=True)
    encoders: list[str | SpecTable] = Field(default_factory=list)
    corpora: list[str | SpecTable] = Field(default_factory=list)
    diagnostics: list[str | SpecTable] = Field(default_factory=list)
    out: str | None = None
    check: CheckSettings = Field(default_factory=CheckSettings)

    def options(self) -> JsonObject:
        """Return the settings of a run that the file has, with parsed specs, by the names of ``RunRequest``."""
        # Only what the file sets: all else has the defaults of RunRequest.
        options: JsonObject = {name: getattr(self, name) for name in self.model_fields_set - {"check"}}
        for name, what in (("encoders", "encoder"), ("corpora", "corpus"), ("diagnostics", "diagnostic")):
            entries = getattr(self, name)
            options[name] = [parse(each, what) if isinstance(each, str) else each.to_spec(what) for each in entries]
        return options


_OPTIONS: dict[str, Any] = {name: (kind, None) for name, kind in options_in(FILE).items()}
RunConfig = create_model("RunConfig", __base__=ConfigFile, **_OPTIONS)
"""The settings, with a field for each option of a run that a file can set."""


def read(path: Path) -> ConfigFile:
    """Read a TOML file.

    Raises
    ------
    SourceError
        For an invalid value; the message names the file and the field.
    """
    path = source_path(path)
    if path.suffix != ".toml":
        raise SourceError("not a config file (.toml); pass a corpus with -c and an encoder with -e", path)
    try:
        return RunConfig.model_validate(tomllib.loads(read_text(path)))
    except ValidationError as error:
        # Of a union such as str | SpecTable, the last error is that of the last type, which is no key of the file.
        problem = error.errors(include_url=False)[-1]
        place = ".".join(str(part) for part in problem["loc"] if part not in ("str", SpecTable.__name__))
        message = problem["msg"]
        if problem["type"] == "extra_forbidden":
            known = CheckSettings if place.startswith("check.") else RunConfig
            message = f"unknown setting; known settings: {', '.join(known.model_fields)}"
        raise SourceError(message, path, field=place) from None
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not valid TOML: {error}", path) from None
