"""Answers: what everyone asks of a run, as data, on the first screen, and with the texts that are missed."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.claims import COUNT, INTERVAL, LIMIT, STANDINGS, Template
from embassay.core.result import ANSWER_KINDS, Answer, Finding, between
from embassay.corpora.builtin.handbook import write_files
from embassay.reports.answers import answer_sections
from embassay.reports.layouts import layouts
from embassay.reports.scorecard import Score, scorecard
from embassay.reports.screen import LINES, show_summary
from embassay.run.runs.results import from_bytes, to_bytes

SHARED = ["Use", "Not", "Than chance?", "Misses", "Data", "About"]
"""What is answered of search on one's own documents, in the order of the screen."""
FIRST_SCREEN = """\
mine: 60 questions about 30 of 30 pages (they count as 43)
  Use           mid. A right page is in its top 5 for 53 of 100 questions [39, 67].
  Or            hashing: 8.3 points higher [−4.1, +21.5] (7 won, 2 lost), 1.3 times the bytes.
  Not           low: 21.7 points lower than hashing [−36.8, −6.2] (3 won, 16 lost). small: 31.7
                points lower [−56.7, −6.5] (5 won, 24 lost).
  Than chance?  Search is not shown to be better than chance. small finds a right document among the
                first 5 for 21.7% [12.0, 35.9] of the questions; random order has 16.9%. That it is
                of use for search on this corpus is not shown; more questions would tell.
  Cut-off       No score is shown to separate the 8 unanswerable questions (AUC .48 [.29, .68]).
                Results of mid below 0.105 may be dropped: at most 2 points of Success@5 are lost on
                average (0.0 here); 3% of the results go.
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


@pytest.mark.parametrize("procedure", [INTERVAL, COUNT, LIMIT])
def test_a_sentence_with_a_question_makes_an_answer_that_says_what_it_claims(procedure):
    said = Template("{encoder} is {high}.", "always", procedure, question="How {high}?")
    answer = said.finding(encoder="a", high="tall")
    assert (type(answer), answer.question, answer.sentence) == (Answer, "How tall?", "a is tall.")
    assert answer.standing == STANDINGS[procedure.claims[0]]
    assert type(replace(said, question="").finding(encoder="a", high="tall")) is Finding


def test_every_question_of_search_is_answered_and_findings_say_only_what_no_answer_says(result):
    # The screen has no cut-off for the encoder to use, bm25: those of others need not be known to decide.
    assert {answer.question for answer in result.answers} == {*SHARED, "Cut-off"}
    assert not any(isinstance(finding, Answer) for finding in result.findings)
    titles = {answer.title for answer in result.answers}
    assert not titles & {finding.title for finding in result.findings}


def test_a_decision_has_the_figures_of_the_rows_and_differences(result):
    (verdict,) = result.verdicts
    use, rejected = (next(one for one in result.answers if one.question == question) for question in ("Use", "Not"))
    row = result.headline(verdict)["bm25"]
    assert (use.encoder, use.value, use.low, use.high) == ("bm25", row.value, row.low, row.high)
    assert max(one.value for one in result.headline(verdict).values()) == row.value
    for name in ("hashing", "small"):
        pair = between(result.differences(verdict), name, "bm25")
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


def test_answers_are_in_the_file_and_come_back(place, result):
    content = json.loads((place / "run" / "result.json").read_text(encoding="utf-8"))
    assert [answer["question"] for answer in content["answers"]] == [answer.question for answer in result.answers]
    places = [list(ANSWER_KINDS).index(answer["kind"]) for answer in content["answers"]]
    assert places == sorted(places)
    (section,) = answer_sections(result, layouts(result))
    assert [answer for answer in result.answers if answer in section.answers] == list(section.answers)
    assert {"sentence", "value", "low", "high", "p", "counts", "standing", "link"} <= set(content["answers"][0])
    assert from_bytes(to_bytes(result), place / "x").answers == result.answers


# --- the first screen ------------------------------------------------------------------------------------


def screen_of(result, width):
    """Return the first screen as text."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None, legacy_windows=False)
    show_summary(result, layouts(result), {}, console, "run")
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


def test_the_screen_of_a_run_answers_in_the_order_of_reading(place, capsys):
    corpus = f"mine={place}/docs,questions={place}/questions.csv"
    names = ["-e", "hashing", "-e", "small=hashing,dim=8"]
    assert exit_code_of(["run", *names, "-c", corpus, "-o", str(place / "run"), "--quiet"]) == 0
    out = capsys.readouterr().out
    answers, table = out.split("\n\n")[:2]
    lines = answers.splitlines()
    assert lines[0] == "mine: 120 questions about 30 of 30 pages (they count as 75)"
    assert [question for line in lines for question in SHARED if line.startswith(f"  {question} ")] == SHARED
    assert f"embassay show {place}/run --failures" in out
    assert "●" in table
    assert "against bm25" in table


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


def test_without_intervals_there_is_nothing_to_draw(result):
    card = scorecard(result, layouts(result))
    (question,) = card.questions
    without = replace(question, scores={name: Score(0.5, "50.0%", "") for name in question.scores})
    assert replace(card, questions=(without,)).intervals(110) == []
    assert replace(card, questions=(question, question)).intervals(110) == []


# --- what is missed --------------------------------------------------------------------------------------


def test_what_the_one_to_use_misses_is_shown_with_its_rank_and_who_finds_it(place, result, capsys):
    assert exit_code_of(["show", str(place / "run"), "--failures"]) == 0
    out = capsys.readouterr().out
    assert exit_code_of(["show", str(place / "run"), "retrieval", "--failures"]) == 0
    assert capsys.readouterr().out == out
    (misses,) = [answer for answer in result.answers if answer.kind == "misses"]
    wrong = result.failures("bm25", "retrieval").to_dicts()
    by_none = misses.counts["found by none"]
    assert (misses.encoder, misses.counts["missed"]) == ("bm25", len(wrong))
    title, *_ = out.splitlines()
    assert title.startswith(f"Retrieval on mine: bm25 is wrong about {len(wrong)} questions; right about these: ")
    assert title.endswith(f"; no encoder is right about {by_none}")
    assert out.count("; no encoder finds it)\n") == by_none
    finders = {}
    for row in result.scores("retrieval").to_dicts():
        if row["correct"] and row["encoder"] != "random":
            finders.setdefault(row["item"], []).append(row["encoder"])
    for item in wrong:
        who = f"found by {', '.join(finders[item['item']])}" if item["item"] in finders else "no encoder finds it"
        assert (
            f"\n{item['item']} (rank {item['value_rank']:.0f}; {who})\n  question   {item['text_question'][:60]}" in out
        )
        assert f"  right      [{item['label_right']}] " in out
        assert f"  found      [{item['label_found1']}] {item['value_found1']:.3f} {item['text_found1'][:30]}" in out
    places = [out.index(f"\n{item['item']} (rank") for item in wrong]
    assert places == sorted(places)
    assert np.all(np.diff([item["margin"] for item in wrong if item["margin"] is not None]) >= 0)


def test_another_encoder_s_failures_are_shown(place, result, capsys):
    show = ["show", str(place / "run"), "--failures"]
    assert exit_code_of([*show, "-e", "small"]) == 0
    title, _, _, first, *_ = capsys.readouterr().out.splitlines()
    wrong = result.failures("small", "retrieval").to_dicts()
    assert f"small is wrong about {len(wrong)} questions; " in title
    assert "random" not in title
    assert f"  question   {wrong[0]['text_question'][:60]}" in first
    assert exit_code_of([*show, "-e", "small", "--against", "hashing"]) == 0
    worse = result.failures("small", "retrieval", against="hashing").to_dicts()
    title, _, first, *_ = capsys.readouterr().out.splitlines()
    assert title.startswith(f"Retrieval on mine: small is worse than hashing on {len(worse)} questions; ")
    assert first.startswith(f"{worse[0]['item']} (rank ")
    assert exit_code_of([*show, "-e", "smal"]) == 2
    assert "unknown encoder 'smal'" in capsys.readouterr().err
    assert exit_code_of(["show", str(place / "run"), "-e", "small"]) == 2
    assert "add --failures" in capsys.readouterr().err


def test_a_run_without_single_items_says_so(tmp_path, capsys):
    run = ["run", "-e", "hashing", "-d", "isotropy", "-c", "opposites", "-o", str(tmp_path / "run"), "--quiet"]
    assert exit_code_of([*run, "--cache", str(tmp_path / "cache")]) == 0
    assert exit_code_of(["show", str(tmp_path / "run"), "--failures"]) == 2
    assert "no diagnostic of this run shows single items" in capsys.readouterr().err
