"""How many items it takes: one formula with the run's own figures, and questions to label first."""

import csv
import json

import numpy as np
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.comparison.labelling import _order, choose
from embassay.errors import SourceError, SpecError, UnknownNameError
from embassay.run.command import carry_out
from embassay.run.request import RunRequest

TWO = ["a=hashing,dim=512", "b=hashing,dim=64"]


def test_the_figures_are_those_that_the_run_states(make_run):
    run = make_run("run", [*TWO, "c=hashing,dim=32", "fused=hybrid:b+c"])
    verdict = ea.read(run).verdict("retrieval")
    pairs = ea.plan(run).pairs
    assert {(pair.a, pair.b) for pair in pairs} == {(one.a, one.b) for one in verdict.differences}
    for pair in pairs:
        stated = verdict.between(pair.a, pair.b)
        assert (pair.family, pair.difference, pair.low, pair.high) == (
            stated.family,
            stated.difference,
            stated.low,
            stated.high,
        )
        assert pair.smallest_difference == pytest.approx(stated.smallest_difference, rel=1e-6)


def test_the_advice_of_a_run_is_that_of_its_plan(make_run):
    run = make_run("run", TWO)
    advised = [one for one in ea.read(run).verdict("retrieval").differences if one.target is not None]
    assert advised
    for one in advised:
        (pair,) = [pair for pair in ea.plan(run, one.target).pairs if (pair.a, pair.b) == (one.a, one.b)]
        assert pair.items_needed == one.items_needed


@pytest.mark.slow
def test_every_diagnostic_has_a_plan_that_agrees_with_the_run(tmp_path):
    out = tmp_path / "run"
    assert carry_out(RunRequest(["hashing", "hashing64=hashing,dim=64"], (), (), out=out, quiet=True)) == 0
    result = ea.read(out)
    plan = ea.plan(out)
    assert {pair.diagnostic for pair in plan.pairs} == {v.diagnostic for v in result.verdicts if v.metric}
    for pair in plan.pairs:
        stated = result.verdict(pair.diagnostic, pair.corpus).between(pair.a, pair.b)
        assert pair.smallest_difference == pytest.approx(stated.smallest_difference, rel=1e-6)


def test_the_size_for_the_smallest_difference_is_the_present_one(make_run):
    run = make_run("run", TWO)
    pair = ea.plan(run).pairs[0]
    assert ea.plan(run, pair.smallest_difference).pairs[0].items_needed == pair.items
    assert ea.plan(run, pair.smallest_difference / 2).pairs[0].items_needed >= 2 * pair.items


def test_how_many_more_questions_a_gate_takes(make_run, capsys):
    run = make_run("run", TWO)
    (gate,) = ea.plan(run).gates
    assert (gate.corpus, gate.margin, gate.target, gate.more) == ("docs", 0.13, 0.05, 230)
    assert exit_code_of(["plan", str(run)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "About 230 more questions about these documents bring the margin from 13 down to 5 points." in printed
    assert [gate.more for gate in ea.plan(make_run("many", TWO, questions=400)).gates] == [1200]
    assert ea.plan(run, diagnostics=["retrieval"]).gates == (gate,)


def test_more_power_takes_more_items(make_run):
    run = make_run("run", TWO)
    usual, strict = ea.plan(run, 0.05).pairs[0], ea.plan(run, 0.05, power=0.95).pairs[0]
    assert strict.items_needed > usual.items_needed
    assert strict.smallest_difference > usual.smallest_difference


def test_the_curve_is_the_formula_at_larger_sizes(make_run):
    (pair, *_) = ea.plan(make_run("run", TWO)).pairs
    assert [point.items for point in pair.curve] == [pair.items * growth for growth in (1, 2, 4, 8)]
    assert pair.curve[0].difference == pair.smallest_difference
    differences = [point.difference for point in pair.curve]
    assert differences == sorted(differences, reverse=True)


def test_under_ten_units_there_is_no_plan(make_run, capsys):
    run = make_run("run", TWO, questions=8)
    plan = ea.plan(run, 0.05)
    assert plan.pairs
    assert all(pair.smallest_difference is None and pair.items_needed is None for pair in plan.pairs)
    assert exit_code_of(["plan", str(run)]) == 0
    assert "no plan, because these items are too few" in " ".join(capsys.readouterr().out.split())


def test_a_frame(make_run):
    frame = ea.plan(make_run("run", TWO), 0.05).table()
    assert frame["family"].to_list()[0] in ("main", "lexical", "models")
    assert frame["items_needed"].min() > 0


def test_the_command(make_run, tmp_path, capsys):
    run = make_run("run", TWO)
    out = tmp_path / "plan.json"
    assert exit_code_of(["plan", str(run), "--difference", "0.02", "-o", str(out)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "A true difference of 2.0 points between a and b needs about" in printed
    assert "Power 80%" in printed
    assert json.loads(out.read_text())["difference"] == 0.02


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--difference", "3"], "difference must be above 0 and below 1, is 3; 3 points are 0.03"),
        (["--difference", "0"], "difference must be above 0"),
        (["--power", "1"], "power must be above 0 and below 1"),
        (["-d", "isotropy"], "isotropy"),
        (["-o", "x.txt"], "the suffix must be .json"),
        (["--unlabelled", "x.csv"], "needs -o FILE.csv"),
    ],
)
def test_bad_input_is_one_message(make_run, capsys, arguments, message):
    run = make_run("run", TWO)
    assert exit_code_of(["plan", str(run), *arguments]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said
    assert len(said.splitlines()) == 1


def test_an_unknown_diagnostic_is_refused(make_run):
    with pytest.raises(UnknownNameError, match="composition"):
        ea.plan(make_run("run", TWO), diagnostics=["composition"])


@pytest.fixture
def unlabelled(tmp_path):
    """Write 20 questions that are made of words of the documents."""
    path = tmp_path / "new.csv"
    rng = np.random.default_rng(3)
    syllables = ["ba", "ke", "li", "mo", "nu"]
    rows = [" ".join(f"{first}dor" for first in rng.choice(syllables, 4)) for _ in range(20)]
    path.write_text("question\n" + "".join(f"{row} {number}\n" for number, row in enumerate(rows)))
    return path


def test_questions_to_label_first(make_run, unlabelled, tmp_path, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    chosen = choose(make_run("run", TWO), unlabelled, 8)
    assert len(chosen.questions) == 8
    assert [question.chosen_by for question in chosen.questions] == ["random", "disagreement"] * 4
    hardest = [question.disagreement for question in chosen.questions if question.chosen_by == "disagreement"]
    assert hardest == sorted(hardest, reverse=True)
    assert all(0 <= question.disagreement <= 1 for question in chosen.questions)
    assert all(set(question.first) == {"a", "b"} for question in chosen.questions)
    again = choose(make_run("run2", TWO), unlabelled, 8)
    assert again == chosen


def test_a_run_of_someone_else_runs_no_code(make_run, unlabelled, tmp_path, user_module, monkeypatch, capsys):
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    called = tmp_path / "called"
    code = f"""
import pathlib
import numpy as np

def encode(texts):
    pathlib.Path({str(called)!r}).touch()
    return np.array([[len(text), 1.0] for text in texts])
"""
    user_module("mymodel", code)
    run = make_run("run", ["a=hashing,dim=512", "mine=python:mymodel:encode,version=1"])
    called.unlink()
    command = ["plan", str(run), "--unlabelled", str(unlabelled), "-o", "label.csv"]
    assert exit_code_of(command) == 2
    assert "is named by a file" in " ".join(capsys.readouterr().err.split())
    assert not called.exists()
    assert exit_code_of([*command, "--trust-remote-code", "mine"]) == 0
    assert called.exists()


def test_more_questions_than_there_are_means_all(make_run, unlabelled, tmp_path, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    assert len(choose(make_run("run", TWO), unlabelled, 35).questions) == 20


def test_the_disagreement_is_that_of_the_documents_found(make_run, unlabelled, tmp_path, monkeypatch):
    """Compared with a search by numpy for k=1: two candidates agree where their first documents are the same."""
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    chosen = choose(make_run("run", TWO), unlabelled, 20)
    for question in chosen.questions:
        same_first = question.first["a"] == question.first["b"]
        assert same_first or question.disagreement > 0


def test_the_written_table_is_read_when_it_is_filled(make_run, unlabelled, tmp_path, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    run = make_run("run", TWO)
    out = tmp_path / "label.csv"
    arguments = ["plan", str(run), "--unlabelled", str(unlabelled), "--count", "6", "-o", str(out)]
    assert exit_code_of(arguments) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 6
    for row in rows:
        assert row["document"] == ""
        row["document"] = "d1"
    rewrite(out, rows)
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(8):
        (folder / f"d{number}.txt").write_text(f"document {number}")
    corpus = ea.load(f"docs={folder},questions={out}")
    asked = {way: [row["question"] for row in rows if row["chosen_by"] == way] for way in ("random", "disagreement")}
    assert [sample.question for sample in corpus.samples] == asked["random"]
    assert any("only the 3 questions with chosen_by=random, 3 others are left out" in note for note in corpus.notes)
    apart = ea.load(f"docs={folder},questions={out},chosen=disagreement")
    assert [sample.question for sample in apart.samples] == asked["disagreement"]
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["question", "document", "disagreement"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(SourceError, match="'disagreement' is from 'embassay plan --unlabelled', but 'chosen_by'"):
        ea.load(f"docs={folder},questions={out}")
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "question", "document"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(SourceError, match="line 2, field 'id': 'to-label-0' is from 'embassay plan --unlabelled'"):
        ea.load(f"docs={folder},questions={out}")


def test_a_second_round_adds_other_questions_to_the_file(make_run, unlabelled, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    run, out = make_run("run", TWO), tmp_path / "label.csv"
    command = ["plan", str(run), "--unlabelled", str(unlabelled), "--count", "6", "-o", str(out)]
    assert exit_code_of(command) == 0
    first = list(csv.DictReader(out.read_text().splitlines()))
    for row in first:
        row["document"], row["note"] = "d1", "checked"
    rewrite(out, first)
    capsys.readouterr()
    # Further rounds until no question is left: 6 + 6 + 6 + 2.
    for _ in range(3):
        assert exit_code_of(command) == 0
    assert "2 questions added to the 18 rows" in " ".join(capsys.readouterr().err.split())
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["id"] for row in rows] == [f"to-label-{number}" for number in range(20)]
    assert len({row["question"] for row in rows}) == 20
    kept = [{**row, "chosen_by": ""} for row in rows[:6]]
    assert kept == [{**row, "chosen_by": ""} for row in first]
    assert all(row["document"] == "" for row in rows[6:])
    assert exit_code_of(command) == 2
    assert "has no question that the run's corpus or the file of -o does not have" in capsys.readouterr().err
    # A random question stays one; a hard one becomes one where it is drawn.
    ways = [(earlier["chosen_by"], later["chosen_by"]) for earlier, later in zip(first, rows, strict=False)]
    assert ("random", "disagreement") not in ways


def test_the_random_questions_of_two_rounds_are_a_sample_of_all():
    """Each question is in the random half of both rounds equally often, also those on which candidates disagree."""
    count, seeds, questions = 10, 2_000, 40
    disagreement = np.linspace(0, 1, questions)
    random = np.zeros(questions)
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        order, _ = _order(disagreement, 0, count, rng)
        first = [place for place, way in order if way == "random"]
        hard = [place for place, way in order if way == "disagreement"]
        rest = np.setdiff1d(np.arange(questions), first + hard)
        order, drawn_again = _order(disagreement[rest], len(hard), count, rng)
        second = [int(rest[place]) for place, way in order if way == "random"]
        random[[*first, *second, *(hard[place] for place in drawn_again)]] += 1
    # Ten draws of 40 without replacement: each in a quarter of the rounds, with a standard error of 1 point.
    assert random.sum() == count * seeds
    assert np.abs(random / seeds - 0.25).max() < 0.04


def test_the_file_of_a_second_round_is_that_of_the_first(make_run, unlabelled, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "label.csv"
    assert exit_code_of(["plan", str(make_run("run", TWO)), "--unlabelled", str(unlabelled), "-o", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    folder = tmp_path / "docs"
    folder.mkdir()
    for number, row in enumerate(rows):
        row["document"] = f"d{number}"
        (folder / f"d{number}.txt").write_text(row["question"])
    rewrite(out, rows)
    later = tmp_path / "later"
    request = RunRequest(TWO, [f"docs={folder},questions={out}"], ["retrieval"], out=later, quiet=True, resamples=100)
    assert carry_out(request) == 0
    unlabelled.write_text(unlabelled.read_text() + "badore kedor\n")
    command = ["plan", str(later), "--unlabelled", str(unlabelled), "-o"]
    capsys.readouterr()
    assert exit_code_of([*command, str(tmp_path / "other.csv")]) == 2
    assert "name the file of that round with -o" in " ".join(capsys.readouterr().err.split())
    assert exit_code_of([*command, str(out)]) == 0
    grown = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["question"] for row in grown[len(rows) :]] == ["badore kedor"]
    unlabelled.write_text("question\nother\n")
    out.write_text("id,question\n1,what\n")
    assert exit_code_of(["plan", str(tmp_path / "run"), *command[2:], str(out)]) == 2
    assert "is no file of questions to label (no column 'document')" in " ".join(capsys.readouterr().err.split())
    assert out.read_text() == "id,question\n1,what\n"


def rewrite(path, rows):
    """Write the rows of a table."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_labelling_refuses_what_it_cannot_use(make_run, unlabelled, tmp_path, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    with pytest.raises(SpecError, match="two candidates or more"):
        choose(make_run("one", ["a=hashing"]), unlabelled, 5)
    run = make_run("run", TWO)
    with pytest.raises(SpecError, match="--count must be 1 or more"):
        choose(run, unlabelled, 0)
    other = tmp_path / "other.csv"
    other.write_text("name\nx\n")
    with pytest.raises(SourceError, match="no column of questions"):
        choose(run, other, 5)
    known = tmp_path / "known.txt"
    known.write_text("\n".join(sample.question for sample in read_samples(run)))
    with pytest.raises(SourceError, match="no question that the run's corpus or the file of -o does not have already"):
        choose(run, known, 5)


def read_samples(run):
    from embassay.comparison.runs import read_run
    from embassay.run.items import read_corpora

    stored = read_run(run)
    return read_corpora(stored.path, stored.record)["docs"].samples
