"""Each sentence that states a finding is there where its test supports it, and nowhere else."""

from dataclasses import replace
from typing import get_args

import pytest

from embassay.corpora.queries.made import SOURCES
from embassay.findings.decision import Decision
from embassay.findings.limits import findings_of
from embassay.findings.speed import MeasuredTimes
from embassay.findings.support import verdict
from embassay.layout import Column
from embassay.result import Answer, CorpusRecord, EncoderRecord, Failure, Finding, Result, Role, Row, Verdict
from verdicts import opponents

ACCURACY = Column("accuracy", "accuracy", format="percent")
CLAIMS = ("best", "highest", "better", "worse", "higher", "lower", "detectable", "Fastest", "Price")
"""Words of which each stands in some finding."""


def verdict_with(**changes):
    """The verdict on three candidates of which a and b may be the best.

    Opponents are given by their roles: ``reference=("b", {"a": gap(…)})``.
    """
    roles = {role: changes.pop(role) for role in get_args(Role) if role in changes}
    usual = {
        "candidates": ("a", "b", "c"),
        "best": "a",
        "value": 0.8,
        "low": 0.75,
        "high": 0.85,
        "best_set": ("a", "b"),
        "rank_low": {"a": 1, "b": 1, "c": 3},
        "rank_high": {"a": 2, "b": 2, "c": 3},
        "opponents": opponents(**roles),
    }
    return Verdict("d", "c", "accuracy", 100, 50, **{**usual, **changes})


def gap(difference, low, high, p, detectable=None, **more):
    return {"difference": difference, "low": low, "high": high, "p": p, "smallest_difference": detectable, **more}


def result_of(ranking, rows=None, builtin=False, price=None):
    """The result that a verdict is of: 100 items in 50 units, rows by encoder as (value, undefined items)."""
    rows = rows or {"a": (0.8, 0), "b": (0.7, 0), "c": (0.5, 0), "bm25": (0.6, 0)}
    written = tuple(
        Row(
            "d",
            "c",
            name,
            "all",
            "cosine",
            "",
            "accuracy",
            v,
            v - 0.05,
            v + 0.05,
            100 - missing,
            50,
            missing,
            None,
            "s",
        )
        for name, (v, missing) in rows.items()
    )
    encoders = tuple(EncoderRecord(n, n, n, "", 3, None, {}, n == "bm25", price=price) for n in rows)
    corpus = CorpusRecord("c", "choice", "f", 100, 50, 50.0, 0, 90, "CC0", "", builtin)
    return Result(0, 1000, encoders=encoders, corpora=(corpus,), rows=written, verdicts=(ranking,))


def decided(ranking, headline=ACCURACY, **options):
    """The findings about the ranking of a verdict."""
    if not ranking.metric:
        return []
    return list(Decision(result_of(ranking, **options), ranking, headline).findings())


def lines(ranking, headline=ACCURACY, times=None, **options):
    """What the page says of a verdict, after the line that says what the figures rest on."""
    result = replace(result_of(ranking, **options), findings=tuple(decided(ranking, headline, **options)))
    return list(verdict(result, ranking, times or {}, {}))[1:]


# --- the same encoder twice ------------------------------------------------------------------------------


def with_one_fingerprint(names, ranking):
    result = result_of(ranking)
    encoders = tuple(replace(e, fingerprint="f") if e.name in names else e for e in result.encoders)
    return [f.sentence for f in Decision(replace(result, encoders=encoders), ranking, ACCURACY).findings()]


def test_labels_of_one_encoder_are_not_compared():
    gaps = {"b": gap(0.0, -0.1, 0.1, 1.0, 0.2), "c": gap(-0.3, -0.4, -0.2, 0.001, 0.1)}
    ranking = verdict_with(reference=("a", gaps), smallest_difference=0.2, smallest_units=50)
    same, best, compared, detectable = with_one_fingerprint("ab", ranking)
    assert same == "a and b are the same encoder (same fingerprint)."
    assert best.startswith("a (80.0% accuracy), b (70.0%), of 3 candidates")
    assert compared.startswith("c is worse than a by ")
    assert (
        detectable
        == "50 independent units would show a true difference of 10.0 points between a and c in four samples of five."
    )
    assert with_one_fingerprint("abc", ranking) == ["a, b and c are the same encoder (same fingerprint)."]


# --- the best set ----------------------------------------------------------------------------------------


def test_the_best_set_may_be_the_best():
    assert lines(verdict_with()) == [
        "Best set: a (80.0% accuracy), b (70.0%), of 3 candidates (95% confidence).",
    ]


def test_where_none_is_excluded_nothing_is_worse():
    everyone = {"best_set": ("a", "b", "c"), "rank_low": dict.fromkeys("abc", 1), "rank_high": dict.fromkeys("abc", 3)}
    assert lines(verdict_with(**everyone)) == [
        "Best set: a (80.0% accuracy), b (70.0%), c (50.0%), of 3 candidates (95% confidence)."
    ]


def test_who_is_excluded_by_the_one_sided_test_only_is_not_called_worse():
    # The p of two sides is between 5 and 10 %: rank 1 is still possible for c, and the families say the same.
    gaps = {"b": gap(-0.1, -0.2, 0.01, 0.09), "c": gap(-0.3, -0.4, -0.2, 0.001)}
    ranking = verdict_with(best_set=("a",), rank_low={"a": 1, "b": 1, "c": 2}, reference=("a", gaps))
    assert lines(ranking) == [
        "Best set: a alone of 3 candidates (95% confidence): 80.0% [75.0, 85.0] accuracy.",
        "b is not shown to be better or worse than a: −10.0 points [−20.0, +1.0] of accuracy. p (Holm) 0.090.",
        "c is worse than a by 30.0 points [−40.0, −20.0] of accuracy. p (Holm) 0.001.",
    ]


def test_a_lexical_baseline_above_the_first_is_named_with_the_best_set():
    """It is no candidate, so a reader could take the first for the best of all that is in the table."""
    rows = {"a": (0.8, 0), "b": (0.7, 0), "c": (0.5, 0), "bm25": (0.9, 0)}
    ranking = verdict_with(best_set=("a",), baseline=("bm25", {"a": gap(-0.1, -0.2, 0.01, 0.09)}))
    assert lines(ranking, rows=rows)[0].endswith(" accuracy. bm25, which needs no model, has 90.0%.")
    assert "bm25" not in lines(ranking, rows=rows | {"bm25": (0.8, 0)})[0]


def test_members_of_the_best_set_are_not_called_equal():
    # c is not a member: how well it could be told apart does not matter.
    gaps = {"b": gap(-0.1, -0.2, 0.01, 0.09, 0.12), "c": gap(-0.3, -0.4, -0.2, 0.001, 0.5)}
    sentence = lines(verdict_with(best_set=("a", "b"), reference=("a", gaps)))[0]
    assert sentence.endswith(" Not shown to be equal: two of them may differ by 12.0 points.")
    assert "equal" not in lines(verdict_with(best_set=("a",), reference=("a", gaps)))[0]


def test_where_hardly_an_item_differs_no_difference_is_called_detectable():
    """The minimum detectable difference depends on whether whole units differ, which so few items do not tell."""
    few = gap(-0.01, -0.031, 0.02, 0.5, 0.14, won=0, tied=91, lost=9, target=0.05, more_units=9, more_items=18)
    ranking = verdict_with(reference=("a", {"b": few}), smallest_difference=0.14, smallest_units=50)
    best, compared = lines(ranking)
    assert best == "Best set: a (80.0% accuracy), b (70.0%), of 3 candidates (95% confidence)."
    assert compared.startswith("b is not shown to be better or worse than a: −1.0 points [−3.1, +2.0] of accuracy")
    enough = replace(ranking, opponents=opponents(reference=("a", {"b": {**few, "lost": 10}})))
    # Where each item is a unit, nothing depends on how they differ together.
    for told in (enough, replace(ranking, units=100)):
        best, detectable, _ = lines(told)
        assert best.endswith(" two of them may differ by 14.0 points.")
        assert detectable.startswith("How sure: 50 independent units would show a true difference of 14.0 points")
        assert detectable.endswith("To show 5.0 points between a and b, add about 18 items in 9 units.")


def test_of_a_baseline_from_which_hardly_an_item_differs_no_number_of_items_to_add_is_said():
    few = gap(-0.01, -0.03, 0.02, 0.5, 0.14, won=0, tied=99, lost=1, target=0.05, more_units=9, more_items=18)
    ranking = verdict_with(baseline=("bm25", {"a": few}), smallest_difference=0.14, smallest_units=50)
    assert not any("add about" in line or "How sure" in line for line in lines(ranking))


@pytest.mark.parametrize(
    ("of_a", "said"),
    [
        (gap(0.1, 0.05, 0.15, 0.01), "a is better than the best of its parts (bm25) by 10.0 points [+5.0, +15.0]"),
        (gap(0.01, -0.05, 0.07, 0.8), "a is not shown to be better or worse than the best of its parts (bm25): +1.0"),
    ],
)
def test_the_answer_on_a_lexical_baseline_that_is_a_part_says_so(of_a, said):
    """It stands for what the fusion gains, too, which has no answer of its own."""
    ranking = verdict_with(baseline=("bm25", {"a": of_a, "b": of_a}), part=("bm25", {"a": of_a}))
    result = result_of(ranking)
    fusion = {"step": "fusion", "parts": ("b", "bm25")}
    encoders = tuple(replace(e, **fusion) if e.name == "a" else e for e in result.encoders)
    findings = Decision(replace(result, encoders=encoders), ranking, ACCURACY).findings()
    answers = [f for f in findings if isinstance(f, Answer) and f.question.startswith(("Than", "Fusion"))]
    assert [answer.question for answer in answers] == ["Than bm25?", "Than bm25?"]
    assert answers[0].sentence.startswith(said)
    assert "its parts" not in answers[1].sentence


def test_what_was_won_and_lost_stands_beside_the_difference():
    counted = gap(-0.1, -0.2, -0.01, 0.01, won=3, tied=201, lost=1012)
    sentence = lines(verdict_with(reference=("a", {"b": counted})))[1]
    assert sentence.endswith(" of accuracy: 3 items won, 201 tied, 1,012 lost. p (Holm) 0.010.")


def test_without_an_item_that_was_won_or_lost_no_interval_is_said():
    same = gap(0.0, -0.05, 0.05, 1.0, won=0, tied=120, lost=0)
    sentence = lines(verdict_with(reference=("a", {"b": same})))[1]
    assert (
        sentence == "b is not shown to be better or worse than a: the same accuracy for all 120 items. p (Holm) 1.00."
    )


def test_where_higher_is_not_better_it_may_be_the_highest():
    assert lines(verdict_with(leader="Highest")) == [
        "Highest: a (80.0% accuracy), b (70.0%), of 3 candidates (95% confidence).",
    ]


def test_nothing_below_chance_may_be_the_best():
    sentences = lines(verdict_with(chance=0.9), price=1.0)
    assert sentences[0].startswith("Highest: a (80.0% accuracy, below chance (90.0%))")
    assert sentences[1:] == []


def test_a_value_whose_interval_holds_chance_is_not_below_it():
    assert "below" not in lines(verdict_with(chance=0.85, best_set=("a",)))[0]


def test_a_long_best_set_is_cut():
    many = tuple(f"e{n}" for n in range(9))
    sentences = lines(verdict_with(candidates=many, best_set=many), rows=dict.fromkeys(many, (0.8, 0)))
    assert "e5 (80.0%) and 3 more, of 9 candidates (95% confidence)." in sentences[0]
    assert "e6" not in sentences[0]


def test_from_five_candidates_on_chance_is_said_where_several_may_be_the_best():
    many = tuple(f"e{n}" for n in range(12))
    rows = dict.fromkeys(many, (0.8, 0))
    as_first = {"first_too_high": (0.031, 0.051), "interval_as_first": (0.65, 0.9), "lead": (-0.01, 0.03)}
    several = {"candidates": many, "best_set": many[:2], **as_first}
    (line,) = [line for line in lines(verdict_with(**several), rows=rows) if line.startswith("Luck")]
    assert line == (
        "Luck: e0 is the first of 12, so its value is probably too high, by 3.1 to 5.1 points. As the first of "
        "several it has about 75.9% [65.0, 90.0], and a lead over e1 of 0.0 points [−1.0, +3.0]. If all 12 were "
        "equally good, about 1 table in 10 would call one better or worse, and 1 in 3 would leave one out of the best "
        "set."
    )
    hardly = {"first_too_high": (0.0001, 0.0004)}
    for other in ({"best_set": many[:1]}, {"candidates": many[:4]}, {"first_too_high": None}, hardly):
        assert not any("Luck" in line for line in lines(verdict_with(**several | other), rows=rows))


# --- nobody is ranked ------------------------------------------------------------------------------------


def test_under_ten_units_nothing_is_called_better_or_worse():
    nobody = {"best": None, "value": None, "low": None, "high": None, "best_set": (), "rank_low": {}, "rank_high": {}}
    untested = {"a": gap(0.2, None, None, None), "c": gap(-0.2, None, None, None)}
    ranking = verdict_with(
        **nobody,
        reason="that takes 10 independent units; there are 9",
        reference=("b", untested),
        baseline=("bm25", untested),
    )
    assert lines(ranking) == ["Best set: No encoder is called best: that takes 10 independent units; there are 9."]


def test_the_reason_of_no_ranking_is_said():
    ranking = verdict_with(
        best=None, value=None, low=None, high=None, best_set=(), reason="no item is defined for all candidates"
    )
    assert lines(ranking) == ["Best set: No encoder is called best: no item is defined for all candidates."]


@pytest.mark.parametrize("builtin", [False, True])
def test_a_diagnostic_that_ranks_nobody(builtin):
    ranking = Verdict("d", "c", "", 100, 50, candidates=("a", "b"))
    assert lines(ranking, builtin=builtin) == ["This diagnostic does not rank encoders."]


def test_on_a_built_in_corpus_no_finding_names_an_encoder():
    better = {"a": gap(0.2, 0.1, 0.3, 0.001)}
    sentences = lines(verdict_with(baseline=("bm25", better), reference=("b", better)), builtin=True)
    assert sentences == ["Built-in corpora are for trying things out: no best model is named."]


def test_one_candidate_is_not_called_best():
    (finding,) = decided(verdict_with(candidates=("a",), best_set=("a",)))
    assert (finding.severity, finding.encoder) == ("medium", "a")
    assert finding.sentence == "a is the only one: 80.0% [75.0, 85.0] accuracy."
    assert finding.action == "Add a second encoder with -e to compare."


def test_no_candidate():
    nobody = {"candidates": (), "best": None, "value": None, "low": None, "high": None, "best_set": ()}
    assert lines(verdict_with(**nobody)) == ["The run has only baselines. Add an encoder with -e."]
    assert lines(verdict_with(**nobody, undefined=("z",))) == ["Undefined for every item: z."]
    result = result_of(verdict_with(**nobody, undefined=("z",)), rows={"z": (0.0, 0)})
    result = replace(result, rows=(replace(result.rows[0], value=None, reason="no random pairs"),))
    (finding,) = Decision(result, result.verdicts[0], ACCURACY).findings()
    assert finding.sentence == "Undefined for every item: z (no random pairs)."


# --- undefined items -------------------------------------------------------------------------------------


def test_a_candidate_without_a_value_is_not_compared():
    assert lines(verdict_with(undefined=("z",)))[1] == "Undefined for every item, so not compared: z."


def test_a_candidate_undefined_for_many_items_is_not_ranked_and_counted_as_wrong():
    ranks = {"a": 1, "b": 2}
    ranking = verdict_with(
        best_set=("a",), rank_low=ranks, left_out=("c",), undefined_as_wrong={"a": 0.8, "b": 0.7, "c": 0.4}
    )
    sentences = lines(ranking, rows={"a": (0.8, 0), "b": (0.7, 0), "c": (0.9, 20)})
    assert sentences == [
        "Best set: a alone of 2 candidates (95% confidence): 80.0% [75.0, 85.0] accuracy.",
        "Undefined for more than 5% of the items, so not ranked: c.",
        "c is undefined for 20 items; counted as wrong, the value is 40.0%.",
    ]


def test_a_candidate_that_does_not_vary_is_not_called_undefined():
    sentences = lines(verdict_with(left_out=("c",)), rows={"a": (0.8, 0), "b": (0.7, 0), "c": (0.9, 5)})
    assert sentences[1] == "The same value for all compared items, so not ranked: c."


def test_where_one_alone_can_be_ranked_it_is_not_called_best():
    ranking = verdict_with(candidates=("b", "a"), best="b", best_set=("b",), left_out=("a",))
    sentences = lines(ranking, rows={"a": (0.8, 30), "b": (0.7, 0)})
    assert sentences[-1] == "Best set: Only b can be ranked (70.0% accuracy)."
    assert not any("best" in line for line in sentences)


def test_items_undefined_for_all_alike_are_no_finding():
    ranking = verdict_with(undefined_as_wrong={"a": 0.7, "b": 0.6, "c": 0.4})
    assert not any("counted as wrong" in line for line in lines(ranking, rows=dict.fromkeys("abc", (0.8, 3))))


# --- against the baseline and the reference --------------------------------------------------------------


def test_better_worse_and_neither_are_told_by_holm_s_p():
    gaps = {"a": gap(0.2, 0.12, 0.28, 0.001), "b": gap(0.1, -0.01, 0.21, 0.0501), "c": gap(-0.1, -0.15, -0.02, 0.05)}
    assert lines(verdict_with(baseline=("bm25", gaps)))[1:] == [
        "Than bm25? a is better than bm25 by 20.0 points [+12.0, +28.0] of accuracy. p (Holm) 0.001.",
        "Than bm25? b is not shown to be better or worse than bm25: +10.0 points [−1.0, +21.0] of accuracy. "
        "p (Holm) 0.050.",
        "Than bm25? c is worse than bm25 by 10.0 points [−15.0, −2.0] of accuracy. p (Holm) 0.050.",
    ]


def test_the_best_set_against_the_baseline_matters_most():
    gaps = {"a": gap(0.2, 0.12, 0.28, 0.001), "c": gap(-0.1, -0.15, -0.02, 0.05)}
    findings = decided(verdict_with(baseline=("bm25", gaps), reference=("b", gaps)))
    by_title = {(finding.title, finding.encoder): finding for finding in findings}
    assert by_title["May be the best", ""].severity == "high"
    assert by_title["Better than bm25", "a"].severity == "high"
    assert by_title["Worse than bm25", "c"].severity == "low"
    assert by_title["Better than b", "a"].severity == "low"
    of_a = by_title["Better than bm25", "a"]
    assert (of_a.value, of_a.low, of_a.high, of_a.format, of_a.metric) == (0.2, 0.12, 0.28, "points", "accuracy")


def test_findings_are_in_order_of_severity_and_link_to_their_section():
    own = (
        Finding("low", "Fine.", "Fine", diagnostic="d", corpus="c"),
        Finding("high", "Bad.", "Bad", diagnostic="d", corpus="c", encoder="a"),
    )
    ranking = verdict_with(baseline=("bm25", {"a": gap(0.2, 0.1, 0.3, 0.001)}))
    findings = findings_of(replace(result_of(ranking), findings=own), {"d": ACCURACY})
    assert [finding.title for finding in findings] == ["May be the best", "Better than bm25", "Bad", "Fine"]
    assert {finding.link for finding in findings} == {"#d-c"}


@pytest.mark.parametrize("method", SOURCES)
def test_queries_that_nobody_asked_come_first(method):
    result = result_of(verdict_with())
    corpus = replace(result.corpora[0], source=SOURCES[method])
    findings = findings_of(replace(result, corpora=(corpus,)), {"d": ACCURACY})
    # They are no reason to choose an encoder.
    assert next(f for f in findings if f.title == "May be the best").severity == "medium"
    (first, *_) = [finding for finding in findings if not isinstance(finding, Answer)]
    assert (first.severity, first.title, first.corpus) == ("high", "Queries that nobody asked", "c")
    assert first.sentence.startswith(f"c has no questions: the results are of 100 {SOURCES[method]}. ")
    assert "questions=questions.csv" in first.action
    assert not any(f.title == first.title for f in findings_of(result, {"d": ACCURACY}))
    # Nobody wrote them independently of each other, and more of them would not help.
    dependent = replace(corpus, documents=40, effective_units=20.0, loader="documents")
    against_bm25 = {"a": gap(0.1, -0.1, 0.3, 0.4, 0.2, **MORE)}
    imprecise = verdict_with(baseline=("bm25", against_bm25), smallest_difference=0.2, smallest_units=50)
    result = replace(result_of(imprecise), corpora=(dependent,))
    actions = [finding.action for finding in findings_of(result, {"d": ACCURACY}) if finding.action]
    assert actions == [first.action]


def test_documents_can_be_cut_shorter_and_questions_be_units():
    result = result_of(verdict_with())
    corpus = replace(result.corpora[0], effective_units=20.0, documents=40, passages=40, loader="documents")
    first = replace(result.encoders[0], max_tokens=256, truncated=9, truncated_in={"c": 9})
    findings = findings_of(replace(result, corpora=(corpus,), encoders=(first, *result.encoders[1:]), verdicts=()), {})
    assert [finding.action for finding in findings] == [
        "Only if each question came from another person, who had not read the document, add unit=question to -c.",
        "Cut documents into shorter passages: set passages=100 in -c.",
    ]


def advised(settings, setting="", limits=(256,), **counts):
    """What a run advises whose encoders truncate many texts and whose questions depend on each other."""
    result = result_of(verdict_with())
    corpus = replace(result.corpora[0], effective_units=20.0, documents=40, passages=40, loader="documents")
    corpus = replace(corpus, settings=settings, **counts)
    encoders = [
        replace(encoder, max_tokens=limit, truncated=9, truncated_in={"c": 9}, setting=setting)
        for encoder, limit in zip(result.encoders, limits, strict=False)
    ]
    findings = findings_of(replace(result, corpora=(corpus,), encoders=tuple(encoders), verdicts=()), {})
    return [finding.action for finding in findings if finding.action]


UNIT = "Only if each question came from another person, who had not read the document, add unit=question to -c."


@pytest.mark.parametrize(
    ("settings", "setting", "actions"),
    [
        ({}, "", [UNIT, "Cut documents into shorter passages: set passages=100 in -c."]),
        ({"passages": "100"}, "", [UNIT]),
        ({"passages": "60"}, "", [UNIT]),
        ({"passages": "document"}, "", [UNIT, "Cut documents into shorter passages: set passages=100 in -c."]),
        (
            {"passages": "200", "unit": "document"},
            "",
            ["Cut documents into shorter passages: set passages=100 in -c."],
        ),
        ({"passages": "200"}, "passages=200", [UNIT]),
        ({}, "max_length=256", [UNIT]),
    ],
)
def test_what_is_set_already_is_not_advised(settings, setting, actions):
    assert advised(settings, setting) == actions


@pytest.mark.parametrize("settings", [{}, {"passages": "paragraph"}, {"passages": "sentence"}])
def test_paragraphs_are_not_made_longer(settings):
    assert advised(settings, passages=400) == [UNIT]
    assert len(advised({"passages": "200"}, passages=400)) == 2
    made = advised(settings, source=SOURCES["cloze"])
    assert not any("shorter" in action for action in made)


def test_encoders_that_read_more_give_no_second_length_of_passages():
    assert advised({"unit": "question"}, limits=(384, 256, 512)) == [
        "Cut documents into shorter passages: set passages=100 in -c."
    ]


# --- a smaller index ----------------------------------------------------------------------------------


def smaller(not_worse, sizes=None, **changes):
    """What is said of the sizes: a is the best, b and c have smaller indexes, bytes by encoder."""
    ranking = verdict_with(**{"best_set": ("a", "b", "c"), "margin": 0.02, "not_worse": not_worse, **changes})
    result = result_of(ranking)
    sizes = sizes or {"a": (100, 1536), "b": (50, 1536), "c": (200, 96), "bm25": (1, 1)}
    encoders = tuple(
        replace(e, vectors={"c": sizes[e.name][0]}, vector_bytes=sizes[e.name][1]) for e in result.encoders
    )
    corpora = (replace(result.corpora[0], documents=40),)
    findings = Decision(replace(result, encoders=encoders, corpora=corpora), ranking, ACCURACY).findings()
    return [(f.severity, f.sentence) for f in findings if "index" in f.sentence]


def test_the_smallest_index_that_is_not_worse_is_recommended():
    # All vectors of a take 153.6 kB, those of b half of it; c has the smallest vectors, and most of them: 19.2 kB.
    assert smaller(("b", "c")) == [
        (
            "high",
            "c is shown not to be worse than a by 2.0 points or more, and its index needs 12% of the bytes "
            "(19.2 kB, not 153.6 kB).",
        )
    ]
    assert smaller(("b",))[0][1].startswith("b is shown not to be worse than a by 2.0 points or more, and its index")


def test_bytes_are_those_of_the_whole_index():
    # The vectors of b are a third as long, but it has four times as many.
    assert smaller(("b", "c"), {"a": (100, 1536), "b": (400, 512), "c": (100, 1536), "bm25": (1, 1)}) == []


@pytest.mark.parametrize("not_worse", [(), ("c",)])
def test_nothing_is_recommended_that_was_not_shown_in_the_order_of_sizes(not_worse):
    # b is larger than c, so it is tested first; what follows it is not tested.
    assert smaller(not_worse) == [
        (
            "medium",
            "No smaller index than that of a (153.6 kB) is shown to be good enough: a loss of 2.0 points is not ruled "
            "out.",
        )
    ]


def test_a_candidate_outside_the_best_set_ends_the_search_for_a_smaller_index():
    # b, the larger one, is not in the best set: what may be tested must not depend on the data.
    assert [severity for severity, _ in smaller(("c",), best_set=("a", "c"))] == ["medium"]
    # Where it is the smaller one, c is found before it.
    sizes = {"a": (100, 1536), "b": (50, 96), "c": (200, 96), "bm25": (1, 1)}
    assert [severity for severity, _ in smaller(("c",), sizes, best_set=("a", "c"))] == ["high"]


def test_no_index_is_recommended_where_no_best_candidate_is():
    assert smaller(("b", "c"), leader="Highest") == []
    assert smaller(("b", "c"), chance=0.99) == []


def test_findings_of_one_title_begin_with_the_best_encoder():
    own = tuple(Finding("low", f"{name}.", "Threshold", diagnostic="d", corpus="c", encoder=name) for name in "cba")
    result = replace(
        result_of(verdict_with()), findings=(*own, Finding("low", "All.", "All", diagnostic="d", corpus="c"))
    )
    findings = [finding.sentence for finding in findings_of(result, {"d": ACCURACY}) if finding.metric == ""]
    assert findings == ["a.", "b.", "c.", "All."]
    # An encoder with learnt parameters comes before word counts.
    models = tuple(replace(encoder, parameters=9 if encoder.name == "c" else None) for encoder in result.encoders)
    findings = findings_of(replace(result, encoders=models), {"d": ACCURACY})
    assert [finding.sentence for finding in findings if finding.metric == ""] == ["c.", "a.", "b.", "All."]


def test_what_limits_the_whole_run_is_a_finding():
    result = result_of(verdict_with())
    corpus = replace(result.corpora[0], effective_units=20.0)
    first = replace(result.encoders[0], max_tokens=256, truncated=9, truncated_in={"c": 9}, unknown_words=0.125)
    findings = findings_of(replace(result, corpora=(corpus,), encoders=(first, *result.encoders[1:]), verdicts=()), {})
    assert [(finding.severity, finding.title, finding.corpus, finding.encoder) for finding in findings] == [
        ("medium", "Few independent items", "c", ""),
        ("medium", "Texts were truncated", "c", "a"),
        ("low", "Unknown words", "", "a"),
    ]
    assert findings[1].sentence == ("a reads 256 tokens of a text: it truncates 9 of the 90 texts of c (10.0%).")
    assert findings[1].value == 0.1
    assert [finding.action for finding in findings] == ["", "", ""]
    assert findings[2].sentence == "a does not know 12.5% of the words."
    assert findings_of(replace(result, verdicts=()), {}) == ()


def test_prompts_that_are_not_set_are_said_before_all_else():
    result = result_of(verdict_with())
    missing = "the model's files name prompts that are not used: s2p_query ('Find: ')"
    first = replace(result.encoders[0], spec="st:org/m", missing_prompts=missing)
    statements = findings_of(replace(result, encoders=(first, *result.encoders[1:])), {"d": ACCURACY})
    (found,) = [statement for statement in statements if statement.title == "Prompts are not set"]
    assert (found.severity, found.sentence) == ("high", f"a: {missing}.")
    assert "prompted=st:org/m,query_prompt=" in found.action


@pytest.mark.parametrize(("effective_units", "is_few"), [(49.9, True), (50.0, False)])
def test_units_are_few_below_half_of_the_items(effective_units, is_few):
    result = replace(result_of(verdict_with()), verdicts=())
    corpus = replace(result.corpora[0], items=100, effective_units=effective_units)
    titles = [finding.title for finding in findings_of(replace(result, corpora=(corpus,)), {})]
    assert titles == (["Few independent items"] if is_few else [])


@pytest.mark.parametrize(("truncated", "severity"), [(9, "low"), (10, "medium")])
def test_one_text_in_a_hundred_is_many_that_are_truncated(truncated, severity):
    result = replace(result_of(verdict_with()), verdicts=())
    first = replace(result.encoders[0], max_tokens=256, truncated_in={"c": truncated}, texts_in={"c": 1000})
    (finding,) = findings_of(replace(result, encoders=(first,)), {})
    assert (finding.title, finding.severity) == ("Texts were truncated", severity)


def test_an_interval_without_0_is_no_finding_where_holm_s_p_is_above_5_percent():
    (sentence,) = lines(verdict_with(baseline=("bm25", {"a": gap(0.1, 0.01, 0.19, 0.08)})))[1:]
    assert sentence.startswith("Than bm25? a is not shown to be better or worse than bm25")


def test_the_reference_is_told_as_the_baseline_is_and_once_where_it_is_the_same():
    gaps = {"a": gap(0.1, 0.02, 0.18, 0.02), "c": gap(-0.2, -0.3, -0.1, 0.001)}
    sentences = lines(verdict_with(reference=("b", gaps)))[1:]
    assert [line.split(" by ")[0] for line in sentences] == ["a is better than b", "c is worse than b"]
    both = verdict_with(reference=("b", gaps), baseline=("b", gaps))
    assert [line.removeprefix("Than b? ") for line in lines(both)[1:]] == sentences


def test_where_higher_is_not_better_it_is_higher_or_lower():
    gaps = {"a": gap(0.1, 0.02, 0.18, 0.02), "c": gap(-0.2, -0.3, -0.1, 0.001)}
    sentences = lines(verdict_with(leader="Highest", reference=("b", gaps)))[1:]
    assert [line.split(" by ")[0] for line in sentences] == ["a is higher than b", "c is lower than b"]
    neither = verdict_with(leader="Highest", reference=("b", {"a": gap(0.1, -0.1, 0.3, 0.4)}))
    assert lines(neither)[1].startswith("a is not shown to be higher or lower than b: ")


def test_those_of_the_best_set_come_first():
    gaps = {f"e{n}": gap(0.1, 0.02, 0.18, 0.02) for n in range(9)}
    ranking = verdict_with(baseline=("bm25", gaps), best_set=("e8", "e7"))
    rows = dict.fromkeys(("a", "b", "c", *gaps), (0.8, 0))
    sentences = [line.split(" ")[2] for line in lines(ranking, rows=rows) if "than bm25" in line]
    assert sentences == ["e8", "e7", *(f"e{n}" for n in range(7))]


def test_a_difference_without_common_items_is_not_told():
    ranking = verdict_with(reference=("b", {"a": gap(None, None, None, None)}))
    assert lines(ranking) == lines(verdict_with())


# --- what could be seen, and at which cost ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("style", "written"), [("percent", "7.0 points"), ("points", "7.0 points"), ("number", "0.070")]
)
def test_the_minimum_detectable_difference(style, written):
    ranking = verdict_with(smallest_difference=0.07, smallest_units=1048)
    findings = decided(ranking, headline=replace(ACCURACY, format=style))[-1]
    assert (
        findings.sentence
        == f"1,048 independent units would show a true difference of {written} in four samples of five."
    )
    assert findings.severity == "medium"
    assert not any("detectable" in line for line in lines(verdict_with()))


MORE = {"target": 0.1, "more_units": 300, "more_items": 300}


def test_a_pair_that_is_precise_needs_no_more_items():
    finding = precision_of(baseline=("bm25", {"a": gap(0.1, -0.1, 0.3, 0.4, 0.028)}))
    assert (finding.severity, finding.action) == ("medium", "")


def advised_number(margin=None, **changes):
    """What a run advises that takes 54 units of 97 questions; 23 units and 42 questions are there."""
    more = {"target": 0.15, "more_units": 31, "more_items": 55}
    ranking = verdict_with(
        baseline=("bm25", {"a": gap(0.1, -0.1, 0.3, 0.4, 0.3, **more)}),
        smallest_difference=0.3,
        smallest_units=23,
    )
    result = result_of(ranking)
    corpus = replace(result.corpora[0], loader="documents", **changes)
    findings = list(Decision(replace(result, corpora=(corpus,)), replace(ranking, margin=margin), ACCURACY).findings())
    # It stands where the difference is not shown, once.
    assert findings[-1].action == ""
    (compared,) = [finding for finding in findings if finding.value == 0.1]
    return compared.consequence


def test_more_units_than_documents_take_more_documents():
    enough = "To show 15.0 points, add about 55 questions in 31 units"
    assert advised_number(documents=54) == f"{enough}."
    assert advised_number(documents=54, margin=0.02) == enough.replace(",", " (margin: 2.0),") + "."
    assert advised_number(documents=24) == f"{enough}, so documents, too."
    assert advised_number(documents=24, settings={"unit": "question"}) == f"{enough}."


def precision_of(**changes):
    (finding,) = [
        f for f in decided(verdict_with(smallest_difference=0.5, smallest_units=100, **changes)) if "detect" in f.title
    ]
    return finding


def test_the_minimum_detectable_differences_are_of_the_pairs_that_decide():
    against_bm25 = {"a": gap(0.1, -0.1, 0.3, 0.4, 0.2, **MORE), "b": gap(0.1, -0.1, 0.3, 0.4, 0.5)}
    against_b = {"a": gap(0.1, -0.1, 0.3, 0.4, 0.3), "c": gap(-0.3, -0.5, -0.1, 0.001, 0.4)}
    findings = precision_of(baseline=("bm25", against_bm25), reference=("b", against_b))
    assert findings.sentence == (
        "100 independent units would show a true difference of 20.0 points between a and bm25, 30.0 points between a "
        "and b in four samples of five."
    )
    assert findings.action == ""
    of_bm25 = decided(verdict_with(baseline=("bm25", against_bm25)))
    (consequence,) = [finding.consequence for finding in of_bm25 if finding.consequence]
    assert consequence == "To show 10.0 points, add about 300 items."
    # That of the two candidates, which the report shows beside them.
    assert findings.value == 0.3


def test_a_difference_that_is_significant_needs_no_more_items():
    better = {"a": gap(0.4, 0.3, 0.5, 0.001, 0.2, **MORE)}
    against_b = {"a": gap(0.1, -0.1, 0.3, 0.4, 0.3, **MORE)}
    findings = precision_of(baseline=("bm25", better), reference=("b", against_b))
    assert findings.action == "To show 10.0 points between a and b, add about 300 items."
    findings = precision_of(baseline=("bm25", better))
    assert (findings.severity, findings.action) == ("low", "")


def test_where_the_first_is_the_reference_the_runner_up_decides():
    against_a = {"b": gap(-0.1, -0.3, 0.1, 0.4, 0.3), "c": gap(-0.3, -0.5, -0.1, 0.001, 0.4)}
    findings = precision_of(reference=("a", against_a))
    assert (
        findings.sentence
        == "100 independent units would show a true difference of 30.0 points between a and b in four samples of five."
    )


def test_bm25_is_told_of_where_tfidf_is_the_best_baseline():
    findings = decided(
        verdict_with(
            baseline=("tfidf", {"a": gap(0.1, -0.1, 0.3, 0.4)}),
            second_baseline=("bm25", {"a": gap(0.2, 0.12, 0.28, 0.001)}),
        )
    )
    against = {finding.question: finding.sentence for finding in findings if finding.title.endswith(("tfidf", "bm25"))}
    assert against == {
        "Than tfidf?": "a is not shown to be better or worse than tfidf: +10.0 points [−10.0, +30.0] of accuracy.",
        "Than bm25?": "a is better than bm25 by 20.0 points [+12.0, +28.0] of accuracy.",
    }


def test_a_run_whose_candidates_all_failed_says_so_and_nothing_of_baselines():
    nobody = {"candidates": (), "best": None, "value": None, "low": None, "high": None, "best_set": ()}
    result = result_of(verdict_with(**nobody), rows={"bm25": (0.6, 0)})
    of_bm25 = Finding(
        "medium", "bm25: drop results below 0.4.", "Threshold", diagnostic="d", corpus="c", encoder="bm25"
    )
    failed = replace(result, findings=(of_bm25,), failed=(Failure("a", "", "", "no such file"),))
    findings = findings_of(failed, {"d": ACCURACY})
    assert [(finding.severity, finding.title) for finding in findings] == [("high", "No candidate finished")]
    titles = [finding.title for finding in findings_of(replace(failed, failed=()), {"d": ACCURACY})]
    assert titles == ["Only baselines", "Threshold"]


def test_a_search_test_alone_says_that_negation_was_not_tested():
    def titles(*diagnostics):
        ranking = verdict_with()
        verdicts = tuple(replace(ranking, diagnostic=name, metric="") for name in diagnostics)
        return [finding.title for finding in findings_of(replace(result_of(ranking), verdicts=verdicts), {})]

    assert titles("retrieval") == ["Negation was not tested"]
    assert titles("retrieval", "negated_antonyms") == []
    assert titles("similarity") == []


def test_only_a_run_without_own_data_is_told_to_use_some():
    result = result_of(verdict_with(), builtin=True)
    (alone,) = [finding for finding in findings_of(result, {"d": ACCURACY}) if finding.title == "Built-in corpora"]
    assert "run it on your own data" in alone.action
    own = replace(result.corpora[0], name="own", builtin=False)
    both = findings_of(replace(result, corpora=(*result.corpora, own)), {"d": ACCURACY})
    assert [finding.action for finding in both if finding.title == "Built-in corpora"] == [""]


@pytest.mark.parametrize(
    "times",
    [
        {"a": ((6.0, 6.0, 6.0), "cpu", "m"), "c": ((1.0, 1.0, 1.0), "cpu", "n")},
        {"a": ((6.0, 6.0, 6.0), "cpu", "m"), "b": ((1.0, 1.0, 1.0), "cuda", "n")},
        {"a": ((6.0, 6.0, 6.0), "cpu", "m"), "b": ((1.0, 1.0, 1.0), "cpu", "m")},
        {"a": ((6.0, 6.0, 6.0), "cpu", "m"), "b": ((1.0, 1.0, 7.0), "cpu", "n")},
        {},
    ],
    ids=["one was not measured", "other devices", "one model", "slower in one round", "nothing was measured"],
)
def test_nothing_is_said_of_speed_where_no_one_is_shown_to_be_faster(times):
    measured = {
        name: MeasuredTimes(name, 64, wall, wall, device, model) for name, (wall, device, model) in times.items()
    }
    assert not any("Fastest" in line for line in lines(verdict_with(), times=measured))


def test_the_fastest_of_the_best_set_is_told_with_the_range_of_its_ratio():
    times = {
        "a": MeasuredTimes("a", 64, (6.0, 5.0, 8.0), (9.0, 8.0, 9.0), "cpu", "m"),
        "b": MeasuredTimes("b", 64, (2.0, 2.5, 3.0), (3.0, 3.0, 3.1), "cpu", "n"),
        # No candidate for the best, so it is not told of.
        "c": MeasuredTimes("c", 64, (0.1, 0.1, 0.1), (0.1, 0.1, 0.1), "cpu", "o"),
    }
    assert (
        # 2.4 = 6 / 2.5, the ratio of the medians; the median of the ratios 3, 2 and 2.67 is another one.
        "Fastest of them: b, 2.4 times as fast as a (2.0 to 3.0 in 3 rounds): the same 64 texts take 2.5 s against "
        "6 s, and 3 s against 9 s of processor time."
    ) in lines(verdict_with(), times=times)


def test_prices_are_told_of_the_best_set():
    assert "Price per million tokens: a 0.02, b 0.02." in lines(verdict_with(), price=0.02)


def test_a_verdict_without_findings_has_none_of_their_words():
    bare = verdict_with(candidates=("a",), best_set=("a",))
    assert not any(word in line for line in lines(bare) for word in CLAIMS)
