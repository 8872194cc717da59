"""What the model card beside a model's weights (``README.md``) says about its training data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

CARD = "README.md"
_HEADING = re.compile(r"#{1,6}\s")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def training_datasets(folder: Path) -> tuple[str, ...]:
    """Return the data sets that a model card names as training data, as it writes them; empty without a card.

    They are in the field ``datasets`` of its front matter, and in the first column of a table below a heading with the
    words "training data" in it. What the text says is not read: it also names data that the model was evaluated on.
    """
    from huggingface_hub import metadata_load

    path = folder / CARD
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        datasets = (metadata_load(path) or {}).get("datasets") or []
    except Exception:
        # Of whatever kind: a card may have any content, and the model works without it.
        return ()
    listed = [datasets] if isinstance(datasets, str) else datasets
    return tuple(dict.fromkeys([*(name for name in listed if isinstance(name, str)), *_table(text)]))


def _table(text: str) -> Iterator[str]:
    """Yield the first column of each table of data sets below a heading about training data."""
    is_about_training = False
    is_table = False
    for line in text.splitlines():
        if _HEADING.match(line):
            is_about_training = "training data" in line.lower()
        if not line.startswith("|"):
            is_table = False
        elif is_about_training:
            name = _LINK.sub(r"\1", line.split("|")[1]).strip()
            if name.lower() in ("dataset", "datasets", "data set", "data sets"):
                is_table = True
            elif is_table and name.strip("-: *"):
                # "Natural Questions (NQ)" and "GOOAQ: Open Question Answering" begin with a name.
                yield re.split(r" \(|: ", name)[0]
