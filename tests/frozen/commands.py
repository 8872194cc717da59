"""Exit code and figures of commands: of each subcommand right ones, and wrong ones."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import polars

from cases.case import CORPUS, write
from cases.test_encoders import PLAIN, TEXTS, VECTORS, VOCABULARY, arrays, text_file
from embassay.cli.app import exit_code_of
from embassay.run.resolve import load_corpus
from embassay.testsets.base import Built
from embassay.testsets.build import put
from embassay.testsets.options import Order
from frozen.texts import sentences, write_handbook

MINE = "m=docs.jsonl,questions=q.jsonl,passages=document"
PAGES = "docs=docs,questions=questions.csv"
QUIET = "--no-cache --quiet"
RIGHT = f"""
run -e bow -e hashing -c opposites -o opposites {QUIET}
run -e m=bow -e bm25 -c handbook -d retrieval -o old {QUIET}
run -e m=hashing,dim=32 -e bm25 -c handbook -d retrieval -o new {QUIET}
run -e bow -c edits -c paraphrases -o words {QUIET} --limit 20 --seed 3
run -e hashing -c opposites -c handbook --profile research -o research {QUIET} --limit 15 --resamples 200
run -e bow -e hashing -c {PAGES},passages=[document,60] -d retrieval,k=1 -o sweep {QUIET}
run -e e=vectors:vectors.npz -c {MINE} -d retrieval,k=1 -o stored {QUIET}
run -e e=words:words.txt -c {MINE} -d retrieval,k=1 -o pooled {QUIET}
run -e e=run:ranked.trec -c {MINE} -d retrieval,k=1 -o ranked {QUIET}
run -e h=hashing,dim=64 -e e=store:faiss,index=none,encoder=h -c {MINE} -d retrieval,k=1 -o index {QUIET}
run -e bow -e bm25 -e both=hybrid:bow+bm25 -c handbook -d retrieval -o fused {QUIET} --no-baselines
run run.toml --quiet
run -e bow -c opposites -o dry --dry-run --no-cache
run -e bad=python:frozen.commands:refuses -e bow -c opposites -o part {QUIET}
look
look -c handbook
look -c {PAGES}
look -c {PAGES},passages=60 -e hashing
look -c {MINE} -e bow
look -c pairs.csv
show opposites
show opposites negated_antonyms --signatures
show opposites --failures
show old
show old retrieval --failures -e m
show old --failures -e m --against bm25
show research
show sweep
show fused
report old
report old --format md -o old.md
report old --format csv -o csv
report old --format latex -o latex
report old --format parquet -o parquet
report old --format trec -o trec
report old --format config -o config
report sweep --format model-card -o cards
compare old new
compare old new --map m=bm25
bless old -o baseline
bless old -o sampled --pages sampled --margin Success@5=0.1
check old --baseline baseline
check new --baseline baseline
check new --baseline baseline --margin Success@5=0.5
check old --baseline sampled --strict
check old --baseline baseline --floor Success@5=0.9
plan old
plan old --difference 0.03
plan opposites --difference 0.1
build minimal-pairs --from sentences.txt -o pairs.jsonl --count 10
build negated-antonyms --from sentences.txt -o antonyms.jsonl
build groups --from labelled.csv -o groups.jsonl
build composition --from docs -o sets.jsonl --count 10
build retrieval --from docs -o asked.jsonl --method cloze
rate first.csv second.csv
rate first.csv -o kept.jsonl --bar 2
encode -e hashing --texts texts.parquet -o parts
train words --text sentences.txt -o trained --dim 8 --epochs 1
cache info --cache cache
cache clear --cache cache
reproduce --list
list profiles
list metrics
doctor
demo
--version
"""
WRONG = f"""
nosuch
run -e nosuch:model
run -e tfdif
run -e bow,nosuch=1
run -e bow -e bow
run -e bow -c ./nowhere.jsonl
run -e bow -c nosuch
run -e bow -d retreival
run -e bow -c opposites -d localization
run -e bow -d retrieval,k=none
run -e bow --reference tfidf
run -e bow --resamples 0
run -e vectors:./nowhere.npz
run nowhere.toml
run -e hashing -c opposites -o old --no-cache
look -c ./nowhere
look -c {PAGES},nosuch=1
show nowhere
show old isotrpy
report nowhere
report old --format nosuch
compare old
compare old nowhere
compare old stored
bless nowhere -o blessed
check nowhere --baseline baseline
check old --baseline nowhere
check old --baseline baseline --margin Success@5
plan nowhere
build nosuch --from sentences.txt -o y
build minimal-pairs --from nowhere.txt -o y
rate nowhere.csv
encode -e hashing --texts nowhere.jsonl -o encoded
train words --text nowhere.txt -o trained-nowhere
adapt ./nowhere -c {PAGES} -o adapted
cache nothing
list nothing
reproduce nosuch
"""
OF_THIS_MACHINE = ("doctor", "--version", "cache info")
"""Commands whose figures depend on the machine or the release: their exit code alone is kept."""
TIME = re.compile(
    r"[\d.,]+\s?(?:ms|s|min|h|seconds?|minutes?|hours?|[kMG]i?B|bytes)\b(?:\s[\d.]+\s?s\b)?"
    r"|[\d.,]+ (?:rows|texts|passages|documents) (?:a|per) second"
)
PATH = re.compile(r"(?<!\S)/\S+|\(\S+\.py, line \d+\)")
NUMBER = re.compile(r"(?<![\w.@#/:-])[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+|(?<=\d))(?![\w@/:])")


@contextlib.contextmanager
def users_folder() -> Iterator[Path]:
    """Make a folder with a user's files the current one, with a wide screen and a cache of its own."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = {"COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb", "EMBASSAY_CACHE": str(folder / "cache")}
        with mock.patch.dict(os.environ, settings):
            os.chdir(folder)
            try:
                write_files(folder)
                yield folder
            finally:
                os.chdir(before)


def write_files(folder: Path) -> None:
    """Write what the commands read."""
    write_handbook(folder)
    rows = "".join(f'"{question}","{text}",{number % 6}\n' for number, (question, text) in enumerate(TEXTS.items()))
    texts = list(TEXTS.values())
    labelled = "".join(
        f'"{one}","{other}",{number % 3 != 2:d}\n' for number, (one, other) in enumerate(pairwise(texts))
    )
    files = CORPUS | {
        "vectors.npz": arrays(VECTORS),
        "words.txt": text_file(VOCABULARY),
        "ranked.trec": PLAIN,
        "pairs.csv": f"sentence1,sentence2,score\n{rows}",
        "labelled.csv": f"text1,text2,label\n{labelled}",
        "sentences.txt": "\n".join(sentences()[:120]) + "\n",
        "run.toml": 'encoders = ["bow"]\ncorpora = ["opposites"]\nexamples = 3\nout = "configured"\n',
    }
    for name, content in files.items():
        write(folder / name, content)
    polars.read_ndjson(folder / "docs.jsonl").write_parquet(folder / "texts.parquet")
    write_sheets(folder)


def write_sheets(folder: Path) -> None:
    """Write a test set and its sheet, filled by two annotators."""
    rated = Built(tuple(load_corpus("edits").samples[:5]), Counter())
    put(folder / "rated.jsonl", rated, Order("minimal-pairs", ["It rained."]))
    rows = list(csv.DictReader(io.StringIO((folder / "rated-sheet.csv").read_bytes().decode("utf-8-sig"))))
    for annotator, name in enumerate(("first.csv", "second.csv")):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            for number, row in enumerate(rows):
                table.writerow(row | {"rating": (number + annotator * (number % 3)) % 5})


def refuses(texts: list[str]) -> list[list[float]]:
    """Fail, as an encoder may."""
    raise RuntimeError(f"no memory for {len(texts)} texts")


def commands() -> dict[str, Any]:
    """Run all commands, one after the other in one folder, and return what each leaves."""
    done = {}
    with users_folder() as folder:
        for command in RIGHT.strip().splitlines():
            code, screen = said(command)
            done[command] = {"code": code, "figures": figures(screen.replace(str(folder), ""))}
            if command.startswith(OF_THIS_MACHINE):
                del done[command]["figures"]
        for command in WRONG.strip().splitlines():
            code, screen = said(command)
            done[command] = {"code": code, "message": bool(screen.strip())}
    return done


def said(command: str) -> tuple[int, str]:
    """Return the exit code of a command, and its screen."""
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        try:
            code = exit_code_of(command.split())
        except SystemExit as end:
            code = int(end.code or 0)
    return code, screen.getvalue()


def figures(screen: str) -> list[float]:
    """Return all numbers of a screen in order, without times, sizes, paths, and numbers within names."""
    numbers = NUMBER.findall(PATH.sub(" ", TIME.sub(" ", screen)))
    return [float(number.replace(",", "").replace("−", "-")) for number in numbers]
