"""Answers: what everyone asks of a run, as data and on the first screen."""

import io

import pytest
from rich.console import Console

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.corpora.builtin.handbook import write_files
from embassay.reports.layouts import layouts
from embassay.reports.scorecard import scorecard
from embassay.reports.screen import LINES, show_summary

FIRST_SCREEN = """\
mine: 60 questions about 30 of 30 pages (they count as 43)
  Use           mid. A right page is in its top 5 for 53 of 100 questions [39, 67].
  Or            hashing: 8.3 points higher [−4.1, +21.5] (7 won, 2 lost), 1.3 times the bytes.
  Not           low: 21.7 points lower than hashing [−36.8, −6.2] (3 won, 16 lost). small: 31.7
                points lower [−56.7, −6.5] (5 won, 24 lost).
  Cut-off       No score is shown to separate the 8 unanswerable questions (AUC .48 [.29, .68]).
                Results of mid below 0.105 may be dropped: at most 2 points of Success@5 are lost on
                average (0.0 here); 3% of the results go.
  Than chance?  Search is not shown to be better than chance. small finds a right document among the
                first 5 for 21.7% [12.0, 35.9] of the questions; random order has 16.9%. That it is
                of use for search on this corpus is not shown; more questions would tell.
  Misses        28 questions. embassay show run --failures
  Data          A true difference of 21.8 points between mid and hashing would be detected 80% of
                the time; 15 points need about 95 questions.
  About         other pages like these. If these are all the pages: about=these-documents.

         Success@5                                     95%
hashing    61.7% ▲               ─────●─────  [46.8, 74.6]
mid        53.3% ▲            ─────●─────     [38.8, 67.3]
low        40.0% ▲       ─────●──────         [26.8, 54.8]
small      21.7% ?  ────●─────                [12.0, 35.9]
▲ above chance, ▼ below, ? not shown to differ (95%)

  More  4 statements, tests and p-values: embassay show run

"""
"""Of four encoders and every second question of the handbook, where 10 points may be lost for a smaller index."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with documents, questions, and a run of two encoders on them."""
    place = tmp_path_factory.mktemp("answers")
    questions = write_files(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EMBASSAY_CACHE", str(place / "cache"))
        corpus = f"mine={place}/docs,questions={questions}"
        run = ["run", "-e", "hashing", "-e", "small=hashing,dim=8", "-c", corpus, "-o", str(place / "run"), "--quiet"]
        assert exit_code_of(run) == 0
    return place


@pytest.fixture(scope="module")
def result(place):
    return ea.read(place / "run")


# --- data ------------------------------------------------------------------------------------------------


def test_a_decision_has_the_figures_of_the_rows_and_differences(result):
    (verdict,) = result.verdicts
    use, rejected = (next(one for one in result.answers if one.question == question) for question in ("Use", "Not"))
    row = result.headline(verdict)["bm25"]
    assert (use.encoder, use.value, use.low, use.high) == ("bm25", row.value, row.low, row.high)
    assert max(one.value for one in result.headline(verdict).values()) == row.value
    for name in ("hashing", "small"):
        pair = verdict.between(name, "bm25")
        assert pair.is_significant
        assert f"{name}: {-100 * pair.difference:.1f} points lower [" in rejected.sentence
        assert f"({pair.won} won, {pair.lost} lost)" in rejected.sentence


def test_missed_questions_are_counted_by_who_finds_them(result):
    (answer,) = [answer for answer in result.answers if answer.question == "Misses"]
    right = {}
    for row in result.scores("retrieval").to_dicts():
        if row["subset"] == "answerable":
            right.setdefault(row["item"], {})[row["encoder"]] = row["correct"]
    missed = [by for by in right.values() if by["bm25"] is False]
    by_none = [by for by in missed if not any(right is not False for name, right in by.items() if name != "random")]
    assert answer.encoder == "bm25"
    assert answer.counts == {"missed": len(missed), "items": len(right), "found by none": len(by_none)}
    assert (len(right), answer.value) == (120, pytest.approx(len(missed) / 120))


# --- the first screen ------------------------------------------------------------------------------------


def screen_of(result, width):
    """Return the first screen as text."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None, legacy_windows=False)
    show_summary(result, layouts(result), {}, {}, console, "run")
    return console.file.getvalue()


def test_the_first_screen_decides_in_at_most_16_lines_before_the_table(place, tmp_path):
    lines = (place / "questions.csv").read_text(encoding="utf-8").splitlines()
    every_second = tmp_path / "questions.csv"
    every_second.write_text("\n".join([lines[0], *lines[1::2]]), encoding="utf-8")
    encoders = ["hashing", "mid=hashing,dim=192", "low=hashing,dim=48", "small=hashing,dim=8"]
    corpus = f"mine={place}/docs,questions={every_second}"
    result = ea.assay(encoders, corpus, baselines=False, accept=0.1, cache=None)
    screen = screen_of(result, 100)
    assert screen == FIRST_SCREEN
    decision, table, *_ = screen.split("\n\n")
    assert len(decision.splitlines()) <= 16
    for question in ("Use", "Or", "Not", "Misses", "Data", "About"):
        assert f"\n  {question} " in decision
    assert "●" in table
    assert "●" not in decision


def test_the_screen_fits_a_terminal_of_80_columns(result):
    lines = screen_of(result, 80).splitlines()
    assert max(map(len, lines)) <= 80
    # The last one is empty.
    assert len(lines) <= LINES + 1


def test_an_interval_is_drawn_where_its_value_lies(result):
    card = scorecard(result, layouts(result))
    values = {name: score.value for name, score in card.questions[0].scores.items()}
    lines = card.intervals(110)
    places = {line.split()[0]: line.index("●") for line in lines if "●" in line}
    assert sorted(places, key=places.get) == sorted(places, key=lambda name: values[name])
    assert max(map(len, lines)) <= 110
    narrow = card.intervals(60)
    assert max(map(len, narrow)) <= 60
    assert not any("●" in line for line in narrow)
    assert card.intervals(20) == []
