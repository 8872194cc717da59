"""A metric more in retrieval: one declaration, and every command knows it (``docs/architecture.md``)."""

import importlib.util
import inspect
from pathlib import Path

import numpy as np
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.cli.catalogue import listed_metrics
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.diagnostics.retrieval import retrieval
from embassay.run.command import carry_out
from embassay.run.request import RunRequest
from tables import Table

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS, QUESTIONS, WIDTH = 30, 45, 8


def r_precision(places, k):
    """Return (n,) the expected share of right documents among the first R, R their number: ``Rprec``."""
    right = np.bincount(places.question, minlength=places.questions)
    first = right[places.question]
    share_inside = np.clip(first - places.greater, 0, places.tied) / np.maximum(places.tied, 1)
    total = np.bincount(places.question, share_inside, places.questions)
    return total / np.where(right > 0, right, np.nan)


DECLARATION = retrieval.ranking_metric(
    "Rprec",
    r_precision,
    kind="share",
    compared="on request",
    beside_headline=True,
    meaning="share of right documents among the first R, R the number of right ones",
)


@pytest.fixture
def declared(monkeypatch):
    """The only change: the declaration stands at the end of the METRICS of retrieval."""
    monkeypatch.setattr(retrieval, "METRICS", (*retrieval.METRICS, DECLARATION))


# Each question has one to three right documents, and the last one none.
RIGHT = [[(3 * n + i) % DOCUMENTS for i in range(1 + n % 3)] for n in range(QUESTIONS - 1)] + [[]]
CORPUS = Corpus(
    "mine",
    "retrieval",
    tuple(
        Question(f"q{n}", f"question {n}", tuple(f"d{d}" for d in right), units=(f"u{n}",))
        for n, right in enumerate(RIGHT)
    ),
    documents=tuple(Document(f"d{d}", (f"passage {d}",)) for d in range(DOCUMENTS)),
)


def encoder(name, noise):
    """Questions lie near their right documents, as far off as the noise."""
    rng = np.random.default_rng(5)
    vectors = {f"passage {d}": rng.normal(size=WIDTH) for d in range(DOCUMENTS)}
    for n, right in enumerate(RIGHT):
        centre = np.sum([vectors[f"passage {d}"] for d in right], axis=0)
        vectors[f"question {n}"] = centre + noise * rng.normal(size=WIDTH)
    return Table(name, vectors)


def finished(folder, *, noise=1.0, options=",compare=all"):
    """Make a finished run and return its folder."""
    encoders = [encoder("a", noise), encoder("b", 1.5)]
    request = RunRequest(
        encoders, [CORPUS], [f"retrieval{options}"], out=folder, quiet=True, resamples=50, baselines=False, cache=None
    )
    assert carry_out(request) == 0
    return folder


def printed(capsys, *arguments, code=0):
    """Run a command and return what it prints, on one line."""
    capsys.readouterr()
    assert exit_code_of([str(argument) for argument in arguments]) == code
    output = capsys.readouterr()
    return " ".join((output.out + output.err).split())


def by_hand(vectors):
    """Rank the documents of each question and count the right ones among the first R."""
    passages = np.array([vectors[f"passage {d}"] for d in range(DOCUMENTS)])
    passages /= np.linalg.norm(passages, axis=1, keepdims=True)
    values = []
    for n, right in enumerate(RIGHT):
        nearest = np.argsort(-passages @ vectors[f"question {n}"])[: len(right)]
        if right:
            values.append(len(set(right) & set(nearest.tolist())) / len(right))
    return np.mean(values)


def test_its_rows_and_comparisons_are_made(declared):
    encoders = [encoder("a", 1.0), encoder("b", 1.5)]
    result = ea.assay(encoders, [CORPUS], ["retrieval,compare=all"], resamples=50, baselines=False, cache=None)
    rows = {row.encoder: row for row in result.rows if row.metric == "Rprec"}
    for one in encoders:
        row = rows[one.name]
        assert row.value == pytest.approx(by_hand(one.vectors))
        assert row.low < row.value < row.high
        assert (row.subset, row.items, row.undefined) == ("all", QUESTIONS - 1, 0)
    (comparison,) = [c for c in result.comparisons if c.metric == "Rprec"]
    assert comparison.difference == pytest.approx(rows[comparison.a].value - rows[comparison.b].value)


def test_the_screen_and_the_page_have_a_column_of_it(declared, tmp_path, capsys):
    run = finished(tmp_path / "run")
    value = next(row.value for row in ea.read(run).rows if row.metric == "Rprec")
    screen = printed(capsys, "show", run, "retrieval")
    assert "Rprec" in screen and f"{value:.1%}" in screen
    page = (run / "report.html").read_text(encoding="utf-8")
    for title in ("Questions with a right document among the first 5", "Ranking metrics"):
        table = page[page.index(title) :]
        assert "<th>Rprec" in table[table.index("<thead>") : table.index("<tbody>")]


def test_the_gate_takes_a_margin_and_a_floor_of_it(declared, tmp_path, capsys):
    old = finished(tmp_path / "old")
    worse = finished(tmp_path / "worse", noise=6.0)
    words = printed(capsys, "check", worse, "--baseline", old, "--margin", "Rprec=0.05", "--floor", "Rprec=0.9", code=1)
    outcome = ea.check(worse, old, margins={"Rprec": 0.05}, floors={"Rprec": 0.9})
    assert "Rprec" in words
    changes = {(change.encoder, change.metric): change.outcome for change in outcome.changes}
    assert changes["a", "Rprec"] == "regression"
    assert {(floor.encoder, floor.metric, floor.margin) for floor in outcome.floors} == {
        ("a", "Rprec", 0.9),
        ("b", "Rprec", 0.9),
    }


def test_the_plan_says_how_many_questions_it_takes(declared, tmp_path, capsys):
    run = finished(tmp_path / "run")
    plan = ea.plan(run, 0.05)
    (pair,) = [pair for pair in plan.pairs if pair.heading == "Rprec"]
    assert pair.comparison.items_needed > 0 and pair.format == "percent"
    assert "Rprec (retrieval on mine)" in printed(capsys, "plan", run, "--difference", "0.05")


def test_it_is_listed(declared, capsys, monkeypatch):
    (line,) = [metric for metric in listed_metrics("retrieval") if metric.key == "Rprec[all]"]
    assert (line.better, line.range) == ("higher", "0 to 1")
    assert line.meaning.endswith("; ir-measures")
    monkeypatch.setenv("COLUMNS", "200")
    assert "Rprec[all]" in printed(capsys, "list", "metrics")


def test_it_is_in_the_table_of_the_documentation(declared):
    spec = importlib.util.spec_from_file_location("docs_figures", ROOT / "tools" / "docs_figures.py")
    docs_figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(docs_figures)
    (line,) = [line for line in docs_figures.metrics().splitlines() if "`Rprec[all]`" in line]
    assert DECLARATION.meaning in line


def test_without_the_declaration_nobody_knows_it(tmp_path, capsys):
    old, new = finished(tmp_path / "old", options=""), finished(tmp_path / "new", options="")
    assert "Rprec" not in printed(capsys, "show", new, "retrieval")
    words = printed(capsys, "check", new, "--baseline", old, "--margin", "Rprec=0.05", code=2)
    assert "unknown metric 'Rprec'" in words
    assert not [metric for metric in listed_metrics("retrieval") if metric.key == "Rprec[all]"]


def test_with_ties_it_is_the_expected_value():
    from embassay.stats.ranking import RightPlaces

    def ints(*numbers):
        return np.array(numbers, dtype=np.int64)

    # Question 0: two right documents, one first, one among four that share ranks 2 to 5: 1 + 1/4 of two.
    # Question 1: no right document. Question 2: one right document that was not retrieved.
    places = RightPlaces(3, ints(0, 0, 2), ints(0, 1, 0), ints(1, 4, 0), ints(1, 1, 1))
    np.testing.assert_allclose(r_precision(places, 5), [(1 + 1 / 4) / 2, np.nan, 0])


def test_the_documentation_shows_this_change():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert inspect.getsource(r_precision) in text
