"""``result.json`` of fourteen runs."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import embassay as ea
from embassay.run.runs.results import to_bytes
from frozen.texts import scored_pairs, write_handbook

KEYS = {
    "rows": ("diagnostic", "corpus", "encoder", "subset", "similarity_function", "condition", "metric"),
    "comparisons": (
        "diagnostic",
        "corpus",
        "a",
        "b",
        "subset",
        "similarity_function",
        "condition",
        "metric",
        "family",
        "step",
    ),
}
"""The fields that tell records apart; those of other sections are numbered."""
FIGURES = ("value", "low", "high", "items", "units", "undefined", "interval", "reason")
"""The other fields of a row; there are many rows, so these are written without names."""
RECIPES = {"signature", "signatures"}
"""They hash scores to the last digit, in which processors differ, and name the version."""
VECTORS = (
    "bow",
    "treebank=bow,tokens=treebank",
    "tfidf",
    "split=tfidf,tokens=treebank",
    "hashing",
    "short=hashing,dim=32",
    "random",
)
COUNTS = (*VECTORS[:4], "bm25", *VECTORS[4:])
"""BM25 is for retrieval alone. None of them learns, and all give the same vectors on every processor."""
BUILT_IN = ("edits", "handbook", "opposites", "paraphrases", "vignettes")


@dataclass(frozen=True)
class Run:
    """What is assayed; ``FOLDER`` in a source is a folder with the pages and questions of the handbook."""

    encoders: Sequence[str]
    corpora: Sequence[str | Callable[[], ea.Corpus[Any]]]
    diagnostics: Sequence[str] = ()
    profile: str = "default"
    limit: int | None = None
    examples: int = 3


HANDBOOK = "docs=FOLDER/docs,questions=FOLDER/questions.csv"
PIP = "pip=DATA/pip_docs/docs,questions=DATA/pip_docs/questions.csv"
RUNS = {
    "composition": Run(VECTORS, ["vignettes"], ["composition"], examples=20),
    "isotropy": Run(COUNTS, BUILT_IN, ["isotropy"]),
    "localization": Run(VECTORS, ["paraphrases"], ["localization"], examples=20),
    "minimal_pairs": Run(VECTORS, ["edits"], ["minimal_pairs"], examples=20),
    "negated_antonyms": Run(VECTORS, ["opposites"], ["negated_antonyms"], examples=20),
    "retrieval": Run(COUNTS, ["handbook"], ["retrieval,transforms=all,paper=true"], examples=20),
    "shift": Run(VECTORS, ["paraphrases", "vignettes"], ["shift,domain=paraphrases,general=vignettes"]),
    "similarity": Run(VECTORS, [scored_pairs], ["similarity"], examples=20),
    "hybrid": Run(["bow", "bm25", "both=hybrid:bow+bm25,weight=auto"], ["handbook"], ["retrieval,paper=true"]),
    "rerank": Run(
        ["bow", "again=rerank:python:frozen.results:shared_words,over=bow,depth=20,version=1"],
        ["handbook"],
        ["retrieval,paper=true"],
    ),
    # All cells are searched and all documents are listed: so the clusters, which depend on last digits, do not matter.
    "store": Run(
        ["hashing", "index=store:faiss,index=ivf,lists=4,probes=4,depth=301,encoder=hashing"],
        ["handbook"],
        ["retrieval,paper=true"],
    ),
    "sweep": Run(
        ["h=hashing,dim=[64,512]"], [f"{HANDBOOK},passages=[document,40]"], ["retrieval,k=1,psi=25,paper=true"]
    ),
    "minilm": Run(["all-MiniLM-L6-v2", "bow"], [], profile="research", limit=12),
    # No text of others is stored.
    "pip_docs": Run(["bow", "bm25"], [PIP], ["retrieval,paper=true"], examples=0),
}
NEURAL = {"minilm"}


def shared_words(query: str, texts: Sequence[str]) -> list[float]:
    """Rerank by the share of the words of a text that are in the query."""
    asked = set(query.lower().split())
    shares = []
    for text in texts:
        words = set(text.lower().split())
        shares.append(len(asked & words) / len(words))
    return shares


def result(name: str) -> dict[str, Any]:
    """Assay what a run is made of, and return the records of its result by what tells them apart."""
    run = RUNS[name]
    with tempfile.TemporaryDirectory() as folder:
        write_handbook(Path(folder))
        places = {"FOLDER": folder, "DATA": os.environ.get("EMBASSAY_DATA", "")}
        assayed = ea.assay(
            list(run.encoders),
            [corpus() if callable(corpus) else _placed(corpus, places) for corpus in run.corpora],
            list(run.diagnostics),
            profile=run.profile,
            limit=run.limit,
            examples=run.examples,
            backend="light" if name in NEURAL else "auto",
            cache=None,
        )
        text = to_bytes(assayed).decode()
        for place, path in places.items():
            if path:
                text = text.replace(path, place)
    return by_key(json.loads(text))


def _placed(source: str, places: dict[str, str]) -> str:
    for place, path in places.items():
        source = source.replace(place, path)
    return source


def by_key(content: dict[str, Any]) -> dict[str, Any]:
    """Return the records of a result by section and key, without recipes."""
    records: dict[str, Any] = {}
    for section, values in content.items():
        if not isinstance(values, list):
            records[section] = values
            continue
        for number, value in enumerate(values):
            key = [str(number)]
            record = without_recipes(value)
            if section in KEYS:
                key = [str(record.pop(field)) for field in KEYS[section]]
            name = "|".join([section, *key])
            if name in records:
                raise ValueError(f"two records with the key {name}")
            records[name] = (
                [record.pop(field) for field in FIGURES] + list(record.values()) if section == "rows" else record
            )
    return records


def without_recipes(value: Any) -> Any:
    """Return a JSON value without signatures."""
    if isinstance(value, dict):
        return {name: without_recipes(content) for name, content in value.items() if name not in RECIPES}
    if isinstance(value, list):
        return [without_recipes(content) for content in value]
    return value
