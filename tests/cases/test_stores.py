"""Indexes of stores over fewer vectors than they are made for."""

import pytest

from cases.case import CORPUS, RUN, Case, each, lines

SAME = {
    "docs.jsonl": lines({"id": f"d{n}", "text": "The same text stands here."} for n in range(40)),
    "q.jsonl": lines({"question": f"same text {n}", "document": f"d{n}"} for n in range(12)),
}


def store(options, shows=(r"\bh 100\.0%", r"\be 100\.0%"), code=0, dim=64, files=CORPUS):
    """Return the case of an index over hashed words, beside an exact search."""
    return Case(shows, files, f"{RUN} -e h=hashing,dim={dim} -e e=store:{options},encoder=h", code=code)


CASES = {
    "store-faiss-depth-more": store("faiss,index=none,depth=500"),
    # Documents with the same text are tied, also those that the index does not list.
    "store-faiss-dup": store("faiss,index=none", (r"\bh 2\.5%", r"\be 2\.5%"), files=SAME),
    "store-faiss-ivf-default": store("faiss,index=ivf"),
    "store-faiss-ivf-lists-more": store("faiss,index=ivf,lists=64", "lists=64 are more than its 12 vectors", 3),
    "store-faiss-probes-more": store("faiss,index=ivf,lists=4,probes=99"),
    # Seven dimensions are not a multiple of the parts of product quantization.
    "store-lance-dim7": store("lancedb,index=ivf_pq", r"\be \d+\.\d%", dim=7),
    "store-lance-ivfpq": store("lancedb,index=ivf_pq"),
    "store-lance-none": store("lancedb,index=none"),
}


@each(CASES)
def test_store(case, capfd):
    pytest.importorskip("lancedb" if "lancedb" in case.command else "faiss")
    case.check(capfd)
