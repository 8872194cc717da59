"""What tests of loaders share: a file of JSON lines."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def file(tmp_path):
    """Write objects as JSON lines and return the path of the file."""

    def write(*rows):
        path = tmp_path / "mine.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)

    return write
