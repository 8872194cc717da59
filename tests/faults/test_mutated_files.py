"""Damaged files: small valid files of every form, changed at random, bring a corpus or one line for a person.

Every change is drawn by a seed, which a failure names together with the bytes of the file. The full number of files
is read with ``-m slow``.
"""

from __future__ import annotations

import html
import io
import json
import random
import sys
import tomllib
from pathlib import Path

import pytest

import embassay as ea
import embassay.corpora
import embassay.corpora.io
from embassay.core.errors import InputError
from embassay.core.plugins import CORPORA, Folder
from embassay.run import config, loaders, resolve
from embassay.run.resolve import load_corpus

LONGEST_MESSAGE = 2_000
FILES, FEW = 5_000, 300
"""How many files are read by the slow test, and by the fast one."""
LARGEST = 150_000
"""Bytes of a mutated file, at most."""
STEPS_OF_A_BYTE, STEPS_OF_A_FILE = 100, 20_000
"""Lines that reading may execute in :data:`READERS`: so many for each byte of the file, and so many besides."""
READERS = tuple(
    str(Path(module.__file__).parent) for module in (embassay.corpora.io, embassay.corpora, json, tomllib, html)
)


def lines(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def parquet(rows):
    import polars as pl

    content = io.BytesIO()
    pl.DataFrame(rows).write_parquet(content)
    return content.getvalue()


SETS = {"A": "a b", "B": "b c", "overlap": "b", "A_minus_B": "a", "B_minus_A": "c", "union": "a b c"}
FUSION = {"S1": "It rained.", "S2": "We ran.", "S3": "She sang.", "F12": "It rained; we ran.", "F23": "We ran; sang."}
ANSWER = {"text": "May", "answer_start": 14}
ASKED = [{"id": "a", "question": "When did it rain?", "answers": [ANSWER], "is_impossible": False}]
SQUAD = {"data": [{"title": "Rain", "paragraphs": [{"context": "It rained in “May”. We ran.", "qas": ASKED}]}]}
DOCUMENTS = b'id,title,text\na,Rain,It rained.\nb,,"We ran, home."\n'
ASKED_TABLE = b"question,document\nx,a\n"
QUESTIONS = b"id,question,document\n1,Did it rain?,a\n2,Who ran?,a b\n"
MSRP = (
    b"Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\tIt rained.\tRain fell.\n1\t1\t3\tIt rained.\tIt was wet.\n"
)
CONFIG = b"""encoders = ["bow", { spec = "random", name = "r", dim = 64 }]
corpora = ["opposites"]
diagnostics = ["negated_antonyms", { spec = "isotropy" }]
out = "here"
seed = 3
resamples = 100
limit = 10
baselines = false
[[extra]]
when = 2024-01-01T00:00:00Z
"""
FORMS = {
    "composition": lines(
        {"operator": "union", "a": "It rained.", "b": "We ran.", "target": "It rained; we ran.", "ratings": [3, 3.5]},
        {"operator": "overlap", "a": "It rained a lot.", "b": "It rained here.", "target": "It rained.", "unit": "x"},
    ),
    "fusions": lines(FUSION, {field: f"More. {text}" for field, text in FUSION.items()}),
    "groups": b'text,label\nIt rained here.,1\n"No, it ""rained"".",1\nRain fell.,1\nWe ran.,2\n',
    "groups.jsonl": lines(*({"sentence": f"Rain {n}.", "group_id": 7} for n in range(3))),
    "groups.parquet": parquet({"sentence": ["a", "b", "c"], "group": [1, 1, 1]}),
    "heros": b"Original\tSynonym\tAntonym\tNegation\tRandom\tTypo\tNegation\n"
    b"He was glad.\tHe was happy.\tHe was sad.\tHe wasn't glad.\tHe was tall.\tHe was gald.\tHe was not glad.\n",
    "minimal_pairs": lines(
        {"original": "He was glad.", "edits": {"synonym": "He was happy."}, "source": {"synonym": "rule"}, "id": "x"},
        {"original": "“It's on,” she said.", "edits": {"antonym": "“It's off,” she said."}, "unit": "u"},
    ),
    "msrp": MSRP,
    "pairs": b'sentence1,sentence2,score\nIt rained.,It poured.,4.5\n"Well, no.","He said ""no"".",1\n',
    "pairs.jsonl": lines({"first": "It rained.", "second": "It poured.", "score": 2, "subset": "x"}),
    "pairs.stsb": b'main\tx\t2012\t0001\t3.25\tIt rained.\tIt poured "down.\nmain\tx\t2012\t2\t0\tA b.\tC d.\ts\tt\n',
    "retrieval": lines(
        {"document": "r", "passages": ["It rained in “May”."], "unit": "diary"},
        {"document": "s", "passages": ["We ran.", "She sang."], "unit": "letters"},
        {"id": "a", "question": "When did it rain?", "right": ["r"], "gains": [2], "split": "train"},
        {"id": "b", "question": "What did we do?", "right": ["s"], "split": "test", "answer": "ran", "source": "x"},
    ),
    "semantoneg": lines(
        {"idx": 0, "label": 2, "input": "It's on.", "sentences": ["It's off.", "It's not on.", "It's not off."]},
        {"idx": 1, "label": 0, "input": "He's in.", "sentences": ["He's not out.", "He's out.", "He's not in."]},
    ),
    "squad": json.dumps(SQUAD, ensure_ascii=False, indent=1).encode(),
    "tuples": lines(SETS, {**SETS, "A": {"text": "a b d", "ratings": [1]}, "overlap": None}),
    "wikisplit": b"It rained and we ran .\tIt rained . <::::> We ran .\nHe 's in .\tHe is . <::::> In .\n",
}
"""A small valid file of each form that a loader of files reads, by the name of the loader."""
DOCUMENT_FORMS = {
    "documents.csv": DOCUMENTS,
    "documents.jsonl": lines({"_id": "a", "contents": "It rained."}, {"_id": "b", "contents": "We ran."}),
    "documents.parquet": parquet({"id": ["a", "b"], "text": ["It rained.", "We ran."]}),
}
FOLDERS = {
    "beir": {
        "corpus.jsonl": lines({"_id": "d", "title": "T", "text": "It rained."}, {"_id": 2, "text": "We ran."}),
        "queries.jsonl": lines({"_id": "q", "text": "Did it rain?", "metadata": {}}),
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq\td\t1\n",
    },
    "trec": {
        "topics.txt": b"1\train\n",
        "qrels.txt": b"1 0 d 1\n1 0 e 0\n",
        "docs.tsv": b"d\tIt rained.\ne\tWe ran.\n",
    },
    "opinosis": {
        "phrases.txt": b"It rained.\nRain fell.\nIt was wet.\n",
        "phrase_groups.csv": b"phrase_index,paraphrase_group_index\n0,0\n1,0\n2,0\n",
    },
    "msrp": {"msr_paraphrase_train.txt": MSRP, "msr_paraphrase_test.txt": MSRP},
    "documents": {
        "a.txt": "It “rained”.\r\n\r\nIt poured.\n".encode(),
        "b.md": b"---\ntitle: x\n---\n# Tea\n\nIt is *hot*.\n",
        "c.rst": b"Tea\n===\n\n.. note:: It is :ref:`hot <x>`.\n\n.. code::\n\n   x\n\nAnd ``wet``::\n\n  so\n",
        "d.html": b"<html><head><title>T</title></head><body><p>Tea &amp; milk<br>hot<script>x</script></body></html>",
    },
}
"""Small valid folders."""
SAMPLES = [
    *(("file", name, name) for name in FORMS),
    *(("documents", name, name) for name in DOCUMENT_FORMS),
    ("questions", "questions.csv", "questions.csv"),
    *(("folder", name, file) for name, files in FOLDERS.items() for file in files),
    ("config", "config", "run.toml"),
    ("config", "config", "run.toml"),
]
BYTES = (b"\0", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xff", b"\r", b"\r\n", b"\n\n", b'"', b",", b"\t", b"{", b"[")
BYTES += (b"\\ud800", b"<", b"&#0;", b"\xc2\x85", b"\xe2\x80\xa8")
NUMBERS = (b"1e999", b"-1e999", b"9" * 400, b"9" * 5_000, b"NaN", b"-0", b"0x10", b"1_000", b"\xd9\xa1", b"1" * 30)
NESTED = (b"[" * 3_000, b'{"a":' * 3_000, b"[" * 100_000, b"a = " + b"[" * 3_000, b"<p>" * 3_000, b"<a " * 3_000)
NESTED += (b"a = " + b"{b = " * 300 + b"1" + b"}" * 300,)
VALUES = (None, True, False, 0, -1, 1.5, 10**30, -(10**400), float("nan"), float("inf"), "", " ", "\0", "\ud800", "x\n")
CONTAINERS = ([], {}, [[]], [None], {"": ""}, ["a", "a"], {"text": {}}, [[["a"]]], {"text": "x", "ratings": [1e999]})


def mutated(content, rng):
    """Return the bytes of a file after one to three changes."""
    for _ in range(rng.randint(1, 3)):
        content = rng.choice(CHANGES)(content, rng)
    return content[:LARGEST]


def flipped(content, rng):
    changed = bytearray(content)
    for _ in range(rng.randint(1, 8) if content else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncated(content, rng):
    return content[: rng.randint(0, len(content))]


def doubled(content, rng):
    start, end = sorted(rng.randint(0, len(content)) for _ in range(2))
    return content[:end] + content[start:end] * rng.randint(1, 3) + content[end:]


def removed(content, rng):
    start, end = sorted(rng.randint(0, len(content)) for _ in range(2))
    return content[:start] + content[end:]


def inserted(content, rng):
    piece = rng.choice(rng.choice((BYTES, BYTES, NUMBERS, NESTED)))
    place = rng.choice((0, len(content), rng.randint(0, len(content))))
    return content[:place] + piece + content[place:]


def with_other_line_ends(content, rng):
    ends = (b"\n", b"\r\n", b"\r", b"\n\r", b"\n\n", b"")
    return b"".join(line + rng.choice(ends) for line in content.split(b"\n"))


def with_another_number(content, rng):
    digits = [place for place, byte in enumerate(content) if chr(byte).isdigit()]
    if not digits:
        return content
    place = rng.choice(digits)
    return content[:place] + rng.choice(NUMBERS) + content[place + 1 :]


def with_another_value(content, rng):
    """Change the type of a field somewhere inside a line of JSON, or inside a file of JSON."""
    rows = content.split(b"\n")
    number = rng.randrange(len(rows))
    for whole in (False, True):
        try:
            value = json.loads(content if whole else rows[number])
        except (ValueError, RecursionError):
            continue
        new = json.dumps(_changed(value, rng), ensure_ascii=rng.random() < 0.7).encode("utf-8", "surrogatepass")
        return new if whole else b"\n".join([*rows[:number], new, *rows[number + 1 :]])
    return content


def _changed(value, rng):
    """Return a value of JSON of which one part, at any depth, is another one, gone, or under another name."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(list(value))
        if rng.random() < 0.1:
            return {key: part for key, part in value.items() if key != name}
        return {**value, name: _changed(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        return [*value[:place], _changed(value[place], rng), *value[place + 1 :]]
    return rng.choice((*VALUES, *CONTAINERS))


CHANGES = (
    flipped,
    truncated,
    doubled,
    removed,
    inserted,
    inserted,
    with_other_line_ends,
    with_another_number,
    with_another_value,
    with_another_value,
)


class TooManyStepsError(Exception):
    """Reading a file of this size took more lines of Python than a size like that can need."""


class Steps:
    """Counts the lines of Python that run inside of it, and stops what goes on without end."""

    def __init__(self, limit):
        self.limit, self.taken = limit, 0

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _called(self, frame, event, argument):
        return self._line if frame.f_code.co_filename.startswith(READERS) else None

    def _line(self, frame, event, argument):
        self.taken += 1
        if self.taken > self.limit:
            raise TooManyStepsError(f"{self.limit:,} lines")
        return self._line


def written(kind, name, file, seed, folder):
    """Write the mutated sample of a seed, and return its path and how it is read."""
    rng = random.Random(seed)  # noqa: S311
    folder.mkdir()
    if kind == "config":
        return _put(folder / file, mutated(CONFIG, rng)), _read_config
    if kind == "file":
        path = _put(folder / f"mine{Path(name).suffix}", mutated(FORMS[name], rng))
        if rng.random() < 0.5:
            return path, lambda path: load_corpus(str(path))
        return path, lambda path: load_corpus(f"{path},loader={name.partition('.')[0]}")
    if kind == "folder":
        for other, content in FOLDERS[name].items():
            _put(folder / other, content)
        path = _put(folder / file, mutated(FOLDERS[name][file], rng))
        options = _asked(folder.parent) if name == "documents" else ""
        if name in ("beir", "trec", "documents"):
            options += f",passages={rng.choice(('sentence', 'paragraph', '3'))}"
        return path, lambda _: load_corpus(f"{folder},loader={name}{options}")
    documents, asked = folder / f"docs{Path(name).suffix}", folder / "asked.csv"
    changed = documents if kind == "documents" else asked
    _put(documents, DOCUMENT_FORMS.get(name, DOCUMENTS))
    _put(asked, QUESTIONS)
    _put(changed, mutated(changed.read_bytes(), rng))
    return changed, lambda _: load_corpus(f"{documents},questions={asked}")


def _asked(folder):
    """Write a table of one question, and return the option that names it."""
    return f",questions={_put(folder / 'asked.csv', ASKED_TABLE)}"


def _put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _read_config(path):
    settings = config.read(path)
    return settings.options()


def assert_read_or_refused(seed, folder):
    """Read the file of a seed: a corpus, or one line for a person; nothing else and not without end."""
    kind, name, file = SAMPLES[seed % len(SAMPLES)]
    path, read = written(kind, name, file, seed, folder)
    content = path.read_bytes()
    place = f"seed {seed}, {kind} {name} {file}: {content[:400]!r}{'…' if len(content) > 400 else ''}"
    try:
        with Steps(STEPS_OF_A_FILE + STEPS_OF_A_BYTE * len(content)):
            read(path)
    except InputError as error:
        message = str(error)
        assert "\n" not in message, place
        assert "\r" not in message, place
        assert len(message) < LONGEST_MESSAGE, f"{place}: {len(message):,} characters"
    except Exception as error:
        raise AssertionError(f"{place}: {type(error).__name__}: {str(error)[:300]}") from error


@pytest.fixture(autouse=True)
def _plug_ins_known_beforehand(monkeypatch):
    """Look for plug-ins once, not for each of thousands of files: that takes longer than to read them."""
    names = loaders.builtin_names()
    for module in (loaders, resolve):
        monkeypatch.setattr(module, "builtin_names", lambda: names)
    monkeypatch.setattr(Folder, "_entry_points", lambda folder: {})


@pytest.mark.parametrize("first", range(0, FEW, 50))
def test_a_few_hundred_damaged_files(first, tmp_path):
    for seed in range(first, first + 50):
        assert_read_or_refused(seed, tmp_path / str(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FEW, FILES, 100))
def test_thousands_of_damaged_files(first, tmp_path):
    for seed in range(first, first + 100):
        assert_read_or_refused(seed, tmp_path / str(seed))


def test_the_samples_are_valid(tmp_path):
    """Otherwise nothing but the first line of each loader would be tried."""
    for name, content in FORMS.items():
        path = _put(tmp_path / f"mine{Path(name).suffix}", content)
        assert load_corpus(f"{path},loader={name.partition('.')[0]}").samples
    for name, files in FOLDERS.items():
        for file, content in files.items():
            _put(tmp_path / name / file, content)
        options = _asked(tmp_path) if name == "documents" else ""
        assert load_corpus(f"{tmp_path / name}{options}").samples
    assert ea.load(str(_put(tmp_path / "x.jsonl", FORMS["retrieval"]))).samples


def test_every_loader_of_files_and_folders_is_tried():
    tried = {name.partition(".")[0] for name in (*FORMS, *FOLDERS, *DOCUMENT_FORMS)}
    # Damaged parts are tried in tests/parts/test_part_vectors.py.
    assert tried == set(CORPORA.names()) - set(resolve.builtin_names()) - {"parts"}
