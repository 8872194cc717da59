"""The first screen: the scorecard, and the findings below it, however narrow the terminal."""

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from embassay.core.layout import Column, EncoderTable, Layout
from embassay.core.metric_key import MetricKey
from embassay.core.result import CorpusRecord, EncoderRecord, Failure, Finding, Result, Row, Verdict
from embassay.reports.answers import group_statement, grouped
from embassay.reports.scorecard import legend, scorecard
from embassay.reports.screen import LINES, show_summary

ACCURACY = Column("accuracy", "accuracy", format="percent")


def layout(title="Negated antonyms", column=ACCURACY):
    return Layout(title, "?", EncoderTable("t", (column,)), (), "source")


def accuracy_of(diagnostic, corpus):
    return MetricKey("accuracy", diagnostic=diagnostic, corpus=corpus)


def row(encoder, value, low, high, diagnostic="d", corpus="c"):
    return Row(diagnostic, corpus, "all", "cosine", "", "accuracy", encoder, value, low, high, 100, 50, 0, None, "s")


def result_of(rows, *, baselines=("random",), chance=0.5, verdicts=None, **more):
    """A result of one diagnostic on one corpus, or of several verdicts."""
    names = dict.fromkeys(r.encoder for r in rows)
    candidates = tuple(name for name in names if name not in baselines)
    encoders = tuple(
        EncoderRecord(n, name=n, fingerprint="f", dim=3, baseline=n in baselines, is_chance=n == "random")
        for n in names
    )
    verdicts = verdicts or (
        Verdict(**vars(accuracy_of("d", "c")), items=100, units=50, candidates=candidates, chance=chance),
    )
    corpora = tuple(
        CorpusRecord(
            name=name,
            shape="choice",
            fingerprint="f",
            items=100,
            units=50,
            effective_units=50.0,
            duplicates=0,
            distinct_texts=90,
            licence="CC0",
            source="",
            builtin=False,
        )
        for name in dict.fromkeys(v.corpus for v in verdicts)
    )
    return Result(0, 10, encoders=encoders, corpora=corpora, rows=tuple(rows), verdicts=verdicts, **more)


def values_of(card):
    (question,) = card.questions
    return {name: score.short for name, score in question.scores.items()}


def lines_of(result, width=100, layouts=None):
    return list(scorecard(result, layouts or {"d": layout()}).lines(width))


def test_marks_follow_from_where_the_interval_lies():
    rows = [
        row("above", 0.8, 0.7, 0.9),
        row("around", 0.52, 0.4, 0.6),
        row("few", 0.6, None, None),
        row("below", 0.2, 0.1, 0.3),
        row("random", 0.49, 0.4, 0.6),
    ]
    assert lines_of(result_of(rows))[-4:] == [
        "above     80.0% ▲",
        "few         60.0%",
        "around    52.0% ?",
        "below     20.0% ▼",
    ]
    assert legend(scorecard(result_of(rows), {"d": layout()})).endswith("; no mark: under 10 units")
    assert "no mark" not in legend(scorecard(result_of(rows[:2]), {"d": layout()}))


def test_an_interval_that_ends_at_chance_decides_nothing():
    card = scorecard(result_of([row("a", 0.6, 0.5, 0.7), row("b", 0.4, 0.3, 0.5)]), {"d": layout()})
    assert values_of(card) == {"a": "60.0% ?", "b": "40.0% ?"}


def test_a_difference_of_shares_has_a_sign():
    points = {"d": layout("Composition", Column("C1 − null", "accuracy", format="points"))}
    card = scorecard(result_of([row("a", 0.6, 0.5, 0.7), row("b", -0.2, -0.3, -0.1)], chance=0.0), points)
    assert values_of(card) == {"a": "+60.0 ▲", "b": "−20.0 ▼"}


def test_candidates_are_ordered_by_their_mean_rank_and_baselines_come_last():
    rows = [
        *(row(name, value, value - 0.1, value + 0.1) for name, value in (("a", 0.5), ("b", 0.8), ("random", 0.9))),
        *(row(n, v, v - 0.1, v + 0.1, corpus="e") for n, v in (("a", 0.9), ("b", 0.7), ("third", 0.8))),
        row("third", 0.7, 0.6, 0.8),
    ]
    verdicts = tuple(
        Verdict(**vars(accuracy_of("d", name)), items=100, units=50, candidates=("a", "b", "third"), chance=0.5)
        for name in "ce"
    )
    # Ranks: a 3 and 1, b 1 and 3, third 2 and 2: all alike, so they keep their order.
    assert scorecard(result_of(rows, verdicts=verdicts), {"d": layout()}).candidates == ("a", "b", "third")
    better = [replace(r, value=0.75) if (r.encoder, r.corpus) == ("b", "e") else r for r in rows]
    better = [replace(r, value=0.7) if (r.encoder, r.corpus) == ("third", "e") else r for r in better]
    assert scorecard(result_of(better, verdicts=verdicts), {"d": layout()}).candidates[-1] == "third"


def test_those_that_a_choice_depends_on_have_a_line():
    # Ten candidates with falling values: the first three may be the best, the ninth is the reference.
    names = [f"e{n}" for n in range(10)]
    rows = [row(name, 0.9 - n / 100, 0.4, 0.95) for n, name in enumerate(names)]
    rows += [row(name, 0.3, 0.2, 0.4) for name in ("tfidf", "bm25")]
    roles = {"best_set": ("e0", "e1", "e2"), "reference": "e8", "baseline": "bm25"}
    verdict = Verdict(**vars(accuracy_of("d", "c")), items=100, units=50, candidates=tuple(names), **roles, chance=0.5)
    lines = lines_of(result_of(rows, baselines=("tfidf", "bm25"), verdicts=(verdict,)))
    assert [line.split()[0] for line in lines[-7:-1]] == ["e0", "e1", "e2", "e3", "e8", "bm25"]
    assert lines[-1] == "and 6 more"


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (("m,dim=384,passages=100", "m,dim=384,passages=10"), ["passages=100", "passages=10"]),
        (("m,dim=64", "m,dim=128", "n,dim=64"), ["m,dim=64", "m,dim=128", "n,dim=64"]),
        (("org/all-mini", "org/all-mpnet"), ["all-mini", "all-mpnet"]),
        (("org/all-mini",), ["org/all-mini"]),
    ],
)
def test_labels_are_shortened_to_what_differs_between_the_candidates(names, labels):
    rows = [row(name, 0.9 - place / 100, 0.85, 0.95) for place, name in enumerate(names)]
    rows.append(row("bm25,passages=100", 0.3, 0.2, 0.4))
    lines = lines_of(result_of(rows, baselines=("bm25,passages=100",)))
    assert [line.split()[0] for line in lines[-1 - len(names) :]] == [*labels, "bm25,passages=100"]


def test_a_label_is_never_cut():
    name = "a" * 30 + "," + "b" * 30
    lines = lines_of(result_of([row(name, 0.9, 0.8, 1.0)]), width=40)
    assert name in "".join(lines).replace(" ", "")
    assert max(map(len, lines)) <= 40
    assert not any("…" in line for line in lines)


# --- the whole screen ------------------------------------------------------------------------------------


def six_questions(encoders, findings=(), failures=()):
    """A result with six questions on six corpora."""
    names = [f"corpus_{n}" for n in range(6)]
    rows = [row(e, 0.3 + n / 100, 0.2, 0.4, corpus=corpus) for n, e in enumerate(encoders) for corpus in names]
    verdicts = tuple(
        Verdict(
            **vars(accuracy_of("d", corpus)),
            items=100,
            units=50,
            candidates=tuple(encoders),
            chance=0.25 + 0.1 * n,
        )
        for n, corpus in enumerate(names)
    )
    return result_of(rows, verdicts=verdicts, findings=tuple(findings), failed=tuple(failures))


def screen(result, width, run="RUN"):
    """What is printed, line by line."""
    console = Console(file=io.StringIO(), width=width, highlight=False)
    show_summary(result, {"d": layout()}, {}, console, run)
    return console.file.getvalue().splitlines()


def finding(number=0, encoder="", **more):
    usual = {"severity": "high", "title": f"Title {number}", "diagnostic": "d", "corpus": "corpus_0"}
    sentence = f"What was found of {encoder or 'all'}, number {number}, with a figure and its interval of 95%."
    return Finding(sentence=sentence, encoder=encoder, **{**usual, **more})


@given(
    width=st.integers(40, 200),
    encoders=st.lists(st.text("abcdefgh-_/", min_size=1, max_size=60), min_size=1, max_size=12, unique=True),
    number=st.integers(0, 30),
)
def test_no_line_is_wider_than_the_terminal(width, encoders, number):
    findings = [finding(n, encoders[0], action=f"Do {n}.") for n in range(number)]
    lines = screen(six_questions(encoders, findings), width)
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [80, 110])
def test_twenty_encoders_and_six_questions_fit_on_one_screen(width):
    encoders = [f"organisation/encoder-number-{n}" for n in range(20)]
    findings = [finding(n, e, action=f"Do {n}.") for n in range(10) for e in encoders]
    lines = screen(six_questions(encoders, findings), width)
    # Three more lines name the report, the result and the times.
    assert len(lines) + 3 <= 40
    assert LINES <= 37
    assert any(re.fullmatch(r"and 1\d more", line) for line in lines)
    assert any(re.fullmatch(r"  More  \d+ statements, tests and p-values: embassay show RUN", line) for line in lines)
    assert sum(line.startswith("  Next  Do ") for line in lines) == 3


def test_findings_of_several_encoders_with_one_title_stand_together():
    findings = [finding(1, "a", value=0.5), finding(1, "b", value=0.25, consequence="So what."), finding(2), finding(2)]
    groups = grouped(findings)
    assert [len(group) for group in groups] == [2, 1, 1]
    assert group_statement(groups[0]) == (
        "Title 1 (d on corpus_0). What was found of a, number 1, with a figure and its interval of 95%. "
        "The same is true of b (25.0%)."
    )


def test_control_characters_of_labels_are_made_visible():
    evil = "a\x1b[31mred\nline\u202e"
    lines = screen(six_questions([evil], [finding(1, evil)], [Failure(evil, "", "", "it failed")]), 110)
    assert not any("\x1b" in line or "\u202e" in line for line in lines)
    assert any("a\\x1b[31mred\\nline" in line for line in lines)
