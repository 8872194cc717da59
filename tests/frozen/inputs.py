"""What every loader reads: counts, units and fingerprint of the small files that the tests have of each format."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars

import embassay as ea
from cases import test_pages, test_tables
from cases.case import Case, write
from corpora.test_every_loader import FORMS
from embassay.core.errors import EmbassayError
from embassay.core.types import content_hash
from embassay.run.resolve import builtin_names, load_corpus

LOOK = "look -c "
CASES = {
    name: case
    for module in (
        test_pages.CASES,
        test_tables.BEIR,
        test_tables.QUESTIONS,
        test_tables.PARQUET,
        test_tables.PAIRS,
        test_tables.SQUAD,
    )
    for name, case in module.items()
}
QUESTIONS = "question,document\nWhat rained?,a\nWho ran?,b\n"
FOLDERS: dict[str, tuple[str, Mapping[str, str]]] = {
    "opinosis": (
        "set",
        {
            "set/phrases.txt": "The bed is soft.\nRooms are large\nA soft bed , too\nBig rooms.\nSo soft a bed.\n",
            "set/phrase_groups.csv": "phrase_index,paraphrase_group_index\n0,7\n1,2\n2,7\n3,5\n4,7\n",
        },
    ),
    "trec": (
        "set",
        {
            "set/topics.301": "301\tLate  trains\n302\tRain & snow\n",
            "set/qrels.txt": "301 0 A-1 2\n301 0 A-2 0\n302\t0\tA-2\t1\n",
            "set/docs/a.tsv": "A-1\tThe train was late.\nA-2\tIt rained.\n\nA-3\t \n",
        },
    ),
    "msrp": (
        "set",
        dict.fromkeys(("set/msr_paraphrase_train.txt", "set/msr_paraphrase_test.txt"), FORMS["msrp", "msrp"]),
    ),
    "parts": (
        "parts,questions=q.csv",
        {"texts.jsonl": '{"id": "a", "text": "It rained."}\n{"id": "b", "text": "We ran."}\n', "q.csv": QUESTIONS},
    ),
}
"""The source and the files of loaders that read folders, where no case has one."""


def inputs() -> dict[str, Any]:
    """Read the built-in corpora and every small file, and return what was understood."""
    read = {name: understood(name) for name in builtin_names()}
    for (loader, form), text in FORMS.items():
        read[f"{loader} as {form}"] = understood_in_folder("mine.dat", {"mine.dat": text})
    for loader, (source, files) in FOLDERS.items():
        read[f"{loader} as folder"] = understood_in_folder(source, files)
    for name, case in CASES.items():
        if case.command.startswith(LOOK):
            read[name] = understood_in_folder(source_of(case), case.files)
    return read


def source_of(case: Case) -> str:
    """Return the corpus that a case looks at."""
    return case.command.removeprefix(LOOK).split()[0]


def understood_in_folder(source: str, files: Mapping[str, Any]) -> Any:
    """Write files into an empty folder, and return what is understood there."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, content in files.items():
                write(Path(name), content)
            if source.startswith("parts"):
                polars.read_ndjson("texts.jsonl").write_parquet("texts.parquet")
                ea.encode_corpus("hashing,dim=8", "texts.parquet", "parts")
            return understood(source)
        finally:
            os.chdir(before)


def understood(source: str) -> Any:
    """Return loader, shape, counts and hashes of a corpus; ``refused`` where a message comes instead."""
    try:
        corpus = load_corpus(source)
        audit = corpus.audit()
        return {
            "loader": corpus.loader,
            "shape": corpus.shape,
            "fingerprint": corpus.fingerprint,
            "units": content_hash(corpus.units.tolist()),
            "unit labels": content_hash(corpus.unit_labels.tolist()),
            "items": audit.items,
            "independent units": audit.units,
            "duplicates": audit.duplicates,
            "distinct texts": audit.distinct_texts,
            "documents": audit.documents,
            "passages": audit.passages,
        }
    except EmbassayError:
        return "refused"
