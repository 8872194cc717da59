"""Write the sample report of the documentation site: docs/sample-report.html, on the built-in corpora.

``make docs`` runs it; the page is not part of the repository.
"""

from __future__ import annotations

from pathlib import Path

import embassay as ea
from embassay.core.result import Result

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "sample-report.html"
ENCODERS = ("all-MiniLM-L6-v2", "MiniLM-128=all-MiniLM-L6-v2,dim=128", "MiniLM-32=all-MiniLM-L6-v2,dim=32", "bow")
"""One model, its first 128 and 32 dimensions, and a bag of words."""
CORPORA = ("handbook", "opposites", "edits", "paraphrases", "vignettes")
MOST_BYTES = 2_000_000


def sample(encoders: tuple[str, ...] = ENCODERS) -> Result:
    """Return the result of the sample report."""
    return ea.assay(list(encoders), list(CORPORA), seed=0)


def main() -> None:
    """Write the page, and check its size."""
    ea.report(sample(), PAGE)
    size = PAGE.stat().st_size
    if size > MOST_BYTES:
        raise SystemExit(f"{PAGE} has {size:,} bytes, more than {MOST_BYTES:,}")
    print(f"{PAGE}: {size:,} bytes")


if __name__ == "__main__":
    main()
