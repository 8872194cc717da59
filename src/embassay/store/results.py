"""``result.json``: a result to canonical bytes and back."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from embassay.errors import SourceError
from embassay.result import Comparison, CorpusRecord, EncoderRecord, Example, Result, Row, Series, Verdict
from embassay.store.canonical import canonical

PARTS: dict[str, type] = {
    "encoders": EncoderRecord,
    "corpora": CorpusRecord,
    "rows": Row,
    "comparisons": Comparison,
    "examples": Example,
    "verdicts": Verdict,
}


def to_bytes(result: Result) -> bytes:
    """Return the bytes of ``result.json``; the data of a series lies beside its name and kind."""
    series = [
        {**s.data, "diagnostic": s.diagnostic, "corpus": s.corpus, "name": s.name, "kind": s.kind}
        for s in result.series
    ]
    flat: dict[str, Any] = {f.name: getattr(result, f.name) for f in fields(result)}
    return canonical({**flat, "series": series})


def rounded(result: Result) -> Result:
    """Return the result as it reads back: 10 significant digits, plain lists."""
    return from_bytes(to_bytes(result), Path("result.json"))


def from_bytes(content: bytes, path: Path) -> Result:
    """Read what :func:`to_bytes` wrote.

    Raises
    ------
    SourceError
        If it is no such file, or of another schema.
    """
    try:
        data = json.loads(content)
        if data["schema"] != 1:
            raise SourceError(f"schema {data['schema']}; this version reads 1", path)
        parts: dict[str, Any] = {name: tuple(_record(kind, row) for row in data[name]) for name, kind in PARTS.items()}
        series = tuple(_series(dict(row)) for row in data["series"])
        return replace(Result(data["seed"], data["resamples"]), series=series, **parts)
    except (ValueError, KeyError, TypeError) as error:
        raise SourceError(f"not a result of embassay: {error}", path) from None


def read(path: Path) -> Result:
    """Read a ``result.json``."""
    try:
        return from_bytes(path.read_bytes(), path)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path) from None


def _record(kind: type, row: dict[str, Any]) -> Any:
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in row.items()})


def _series(row: dict[str, Any]) -> Series:
    head = {name: row.pop(name) for name in ("diagnostic", "corpus", "name", "kind")}
    return Series(**head, data=row)
