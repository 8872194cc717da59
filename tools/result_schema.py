"""Write ``core/data/result.schema.json``, the JSON schema of ``result.json``, from the classes that read it."""

from __future__ import annotations

import json
from pathlib import Path

from embassay.run.runs.results import json_schema

FILE = Path(__file__).parent.parent / "src" / "embassay" / "core" / "data" / "result.schema.json"

if __name__ == "__main__":
    FILE.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
