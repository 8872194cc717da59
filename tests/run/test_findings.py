"""Each sentence that states a finding is there where its test supports it, and nowhere else."""

from dataclasses import replace

import pytest

from embassay.core.layout import Column
from embassay.core.metric_key import MetricKey
from embassay.core.result import (
    Answer,
    Comparison,
    CorpusRecord,
    EncoderRecord,
    Result,
    Row,
    Screening,
    Verdict,
)
from embassay.reports.findings.decision import Decision
from embassay.reports.findings.limits import findings_of

ACCURACY = Column("accuracy", "accuracy", format="percent", margin=0.02)
KEY = MetricKey("accuracy", "all", "cosine", "", "d", "c")
VALUES = {"a": 0.87, "b": 0.84, "c": 0.8, "bm25": 0.6}
PARAMETERS = {"a": 100, "b": 10, "c": 200, "bm25": 0}


def verdict_with(**changes):
    """A verdict on a, b and c: c is shown to be worse than a, b is not, and nothing is tested against bm25."""
    usual = {
        "candidates": ("a", "b", "c"),
        "baseline": "bm25",
        "reference": "a",
        "undefined_as_wrong": {"a": 0.87, "b": 0.84, "c": 0.8},
    }
    return Verdict(**vars(KEY), items=100, units=50, **{**usual, **changes})


def gap(a, b, difference, low, high, p, family="models", **more):
    return Comparison(**vars(KEY), a=a, b=b, difference=difference, low=low, high=high, p_holm=p, family=family, **more)


PAIRS = (
    gap("b", "a", -0.03, -0.09, 0.024, 0.4, items=100, won=2, lost=5),
    gap("c", "a", -0.07, -0.12, -0.02, 0.004, items=100, won=1, lost=8),
)


def result_of(ranking, rows=None, builtin=False, pairs=PAIRS, **of_corpus):
    """The result that a verdict is of: 100 items in 50 units, rows by encoder as (value, undefined items)."""
    rows = rows or {name: (value, 0) for name, value in VALUES.items()}
    written = tuple(
        Row(
            "d",
            "c",
            "all",
            "cosine",
            "",
            "accuracy",
            name,
            value,
            value - 0.05,
            value + 0.05,
            100 - missing,
            50,
            missing,
            None,
            "s",
        )
        for name, (value, missing) in rows.items()
    )
    encoders = tuple(
        EncoderRecord(n, name=n, fingerprint=n, dim=3, parameters=PARAMETERS.get(n), baseline=n == "bm25") for n in rows
    )
    corpus = replace(
        CorpusRecord(
            name="c",
            shape="choice",
            fingerprint="f",
            items=100,
            units=50,
            effective_units=50.0,
            duplicates=0,
            distinct_texts=90,
            licence="CC0",
            source="",
            builtin=builtin,
        ),
        **of_corpus,
    )
    return Result(0, 1000, encoders=encoders, corpora=(corpus,), rows=written, comparisons=pairs, verdicts=(ranking,))


def decided(ranking, headline=ACCURACY, accept=None, screenings=(), **options):
    """The findings about the ranking of a verdict."""
    result = replace(result_of(ranking, **options), screenings=screenings)
    return list(Decision(result, ranking, headline, accept).findings())


def lines(ranking, headline=ACCURACY, **options):
    """The sentences about a verdict, each after its question."""
    found = decided(ranking, headline, **options)
    return [f"{one.question}: {one.sentence}" if isinstance(one, Answer) else one.sentence for one in found]


# --- the decision ----------------------------------------------------------------------------------------

USE = "Use: a. 87.0% [82.0, 92.0] accuracy."
OR = "Or: b: 3.0 points lower [−9.0, +2.4] (2 won, 5 lost)."
NOT = "Not: c: 7.0 points lower [−12.0, −2.0] (1 won, 8 lost). bm25: 27.0 points lower (not tested)."


def test_use_is_the_highest_unless_a_cheaper_one_loses_little_and_each_line_has_its_figures():
    assert lines(verdict_with()) == [USE, OR, NOT]
    use, other, rejected = decided(verdict_with())
    assert (use.severity, use.encoder, use.value, use.low, use.high) == ("high", "a", 0.87, 0.82, 0.92)
    assert (other.encoder, other.value, other.low, other.high, other.p) == ("b", -0.03, -0.09, 0.024, 0.4)
    assert other.format == "points"
    assert rejected.encoder == ""


def test_a_larger_accepted_loss_uses_the_cheaper_one_but_nothing_that_is_shown_to_be_worse():
    use, other, rejected = lines(verdict_with(), accept=0.1)
    assert use.startswith("Use: b. 84.0% ")
    assert other == "Or: a: 3.0 points higher [−2.4, +9.0] (5 won, 2 lost)."
    assert rejected.startswith("Not: c: 7.0 points lower than a [−12.0, −2.0] (1 won, 8 lost). bm25: 24.0 points lower")
    # A loss that the user accepts is not far.
    assert lines(verdict_with(), accept=0.3)[0].startswith("Use: bm25. 60.0% ")


def test_an_interval_without_0_rejects_nobody_where_the_corrected_p_is_above_5_percent():
    near = gap("b", "a", -0.03, -0.06, -0.001, 0.0501)
    assert [line[:5] for line in lines(verdict_with(), pairs=(near,))] == ["Use: ", "Or: b", "Not: "]
    shown = replace(near, p_holm=0.05)
    assert lines(verdict_with(), pairs=(shown,))[1].startswith("Not: b: 3.0 points lower")


def test_the_lexical_baseline_is_used_where_no_model_is_shown_to_be_better_and_none_is_higher():
    rows = {"a": (0.6, 0), "bm25": (0.61, 0)}
    pairs = (gap("a", "bm25", -0.01, -0.1, 0.08, 0.8, "main"),)
    assert lines(verdict_with(candidates=("a",)), rows=rows, pairs=pairs) == [
        "Use: bm25. 61.0% [56.0, 66.0] accuracy.",
        "Undecided: a: 1.0 points lower [−10.0, +8.0] (0 won, 0 lost).",
    ]


def test_nothing_below_chance_is_used():
    assert lines(verdict_with(chance=0.93))[0] == (
        "Use: None of them: the highest value is a. 87.0% [82.0, 92.0] accuracy, below chance (93.0%)."
    )
    assert lines(verdict_with(chance=0.92))[0] == USE


# --- what set-ups add ------------------------------------------------------------------------------------


def with_step(step, outcome, own=0.86):
    """What is said of a set-up ``s`` that is derived from a, and judged without labels where an outcome is given."""
    of_step = gap("s", "a", own - 0.87, own - 0.93, own - 0.81, 0.6, "step", step=step, won=2, lost=3)
    ranking = verdict_with(candidates=("a", "s", "b", "c"))
    rows = {"a": (0.87, 0), "s": (own, 0), "b": (0.84, 0), "c": (0.8, 0), "bm25": (0.6, 0)}
    result = result_of(ranking, rows=rows, pairs=(*PAIRS, of_step))
    record = {"parts": ("a",), "step": step, "parameters": 100}
    encoders = tuple(replace(e, **record) if e.name == "s" else e for e in result.encoders)
    screenings = ()
    if outcome:
        screenings = (Screening("c", "s", "a", step, 0.92, 0.9, 0.94, 60, outcome),)
    result = replace(result, encoders=encoders, screenings=screenings)
    return [f"{one.question}: {one.sentence}" for one in Decision(result, ranking, ACCURACY).findings()]


def test_only_a_copy_that_lists_something_else_is_a_candidate_of_its_own():
    assert with_step("int8", "differs", own=0.95)[0].startswith("Use: s. 95.0% ")
    for step, outcome in (("int8", "same"), ("int8", "near"), ("index", "differs")):
        assert with_step(step, outcome, own=0.95)[0] == USE


# --- who is not ranked -----------------------------------------------------------------------------------


def test_a_candidate_undefined_for_many_items_is_not_ranked_and_counted_as_wrong():
    as_wrong = {"a": 0.87, "b": 0.84, "c": 0.4}
    ranking = verdict_with(left_out=("c",), undefined_as_wrong=as_wrong, baseline="")
    rows = {"a": (0.87, 0), "b": (0.84, 0), "c": (0.9, 20)}
    assert lines(ranking, rows=rows, pairs=()) == [
        "Undefined for more than 5% of the items, so not ranked: c.",
        "c is undefined for 20 items; counted as wrong, the value is 40.0%.",
        USE,
        "Or: b: 3.0 points lower.",
    ]
    # Items that are undefined for all alike favour none.
    rows = dict.fromkeys("abc", (0.8, 3))
    assert not any("counted as wrong" in line for line in lines(ranking, rows=rows, pairs=()))


# --- the whole run ---------------------------------------------------------------------------------------


def advised(settings, setting="", limits=(256,), unread=0.2, **counts):
    """What a run advises whose encoders truncate many texts, and do not read this share of the tokens."""
    result = result_of(verdict_with(), documents=40, passages=40, loader="documents", settings=settings)
    corpus = replace(result.corpora[0], **counts)
    encoders = [
        replace(
            encoder,
            max_tokens=limit,
            truncated_in={"c": 9},
            texts_in={"c": 90},
            unread_in={"c": unread},
            setting=setting,
        )
        for encoder, limit in zip(result.encoders, limits, strict=False)
    ]
    findings = findings_of(replace(result, corpora=(corpus,), encoders=tuple(encoders), verdicts=()), {})
    return [finding.action for finding in findings if finding.action]


CUT = ["Cut documents into shorter passages: set passages=100 in -c."]


def test_shorter_passages_are_advised_only_where_much_is_not_read_and_the_languages_are_the_same():
    assert advised({}, unread=0.1) == CUT
    assert advised({}, unread=0.09) == []
    mismatch = "The questions look German, the documents English; 9 of 90 distinct words occur in a document"
    (action,) = advised({}, mismatch=mismatch)
    assert action.startswith("Check that the questions of c belong to its documents")


@pytest.mark.parametrize(("effective_units", "is_few"), [(49.9, True), (50.0, False)])
def test_units_are_few_below_half_of_the_items(effective_units, is_few):
    result = replace(result_of(verdict_with()), verdicts=())
    corpus = replace(result.corpora[0], items=100, effective_units=effective_units)
    titles = [finding.title for finding in findings_of(replace(result, corpora=(corpus,)), {})]
    assert titles == (["Few independent items"] if is_few else [])
