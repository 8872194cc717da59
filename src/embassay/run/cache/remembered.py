"""What is kept from run to run because it is costly: probes of services, and times of encoders."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from embassay.core.store.canonical import write
from embassay.run.cache.folder import PROBES_FILE


class Remembered(dict[str, str]):
    """Texts in a file, such as the results of probing services, which cost a request each."""

    # Another process that is sent these texts sets them before their path.
    _path: Path | None = None

    def __init__(self, folder: Path | None, name: str = PROBES_FILE):
        """Store them in the file of this name in ``folder``; with None they are not stored."""
        self._path = folder / name if folder else None
        super().__init__()
        if self._path:
            # All values can be computed again, so a file that is missing or damaged is not an error.
            with suppress(Exception):
                self.update(dict(json.loads(self._path.read_text(encoding="utf-8"))))

    def __setitem__(self, key: str, value: str) -> None:
        """Set a value and write the file."""
        super().__setitem__(key, value)
        if self._path:
            write(self._path, json.dumps(self, indent=0).encode())
