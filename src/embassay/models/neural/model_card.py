"""What the model card beside a model's weights (``README.md``) says about its training data."""

from __future__ import annotations

import re
from pathlib import Path

CARD = "README.md"
LARGEST = 2_000_000
"""Bytes of a card that is read."""
FRONT_MATTER = re.compile(r"\s*---\s*?\n(.*?)\n---\s*?(?:\n|$)", re.DOTALL)


def training_datasets(folder: Path) -> tuple[str, ...]:
    """Return the data sets in the front matter of a model card, its training data; empty without a card."""
    import yaml

    path = folder / CARD
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if path.stat().st_size <= LARGEST else ""
        block = FRONT_MATTER.match(text)
        datasets = yaml.safe_load(block[1])["datasets"] if block else ()
    except Exception:
        # Of whatever kind: anybody may have written the card, and the encoder works without it.
        return ()
    names = [datasets] if isinstance(datasets, str) else datasets
    return tuple(dict.fromkeys(n for n in names if isinstance(n, str))) if isinstance(names, list) else ()
