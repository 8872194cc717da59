"""What the model card beside a model's weights (``README.md``) says about its training data."""

from __future__ import annotations

from pathlib import Path

CARD = "README.md"


def training_datasets(folder: Path) -> tuple[str, ...]:
    """Return the data sets that a model card names as training data, as it writes them; empty without a card.

    They are in the field ``datasets`` of its front matter. The text is not read: it also names data that the model was
    evaluated on.
    """
    from huggingface_hub import metadata_load

    path = folder / CARD
    try:
        datasets = (metadata_load(path) or {}).get("datasets") or []
    except Exception:
        # Of whatever kind: a card may have any content, and the model works without it.
        return ()
    listed = [datasets] if isinstance(datasets, str) else datasets
    return tuple(dict.fromkeys(name for name in listed if isinstance(name, str)))
