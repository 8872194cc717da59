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
    Failure,
    Finding,
    Result,
    Row,
    Screening,
    Verdict,
)
from embassay.corpora.queries.made import SOURCES
from embassay.reports.findings.decision import Decision
from embassay.reports.findings.limits import findings_of
from embassay.reports.findings.support import verdict

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
    return Verdict(KEY, 100, 50, **{**usual, **changes})


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
            name,
            "all",
            "cosine",
            "",
            "accuracy",
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
    encoders = tuple(EncoderRecord(n, n, n, "", 3, PARAMETERS.get(n), {}, n == "bm25") for n in rows)
    corpus = replace(CorpusRecord("c", "choice", "f", 100, 50, 50.0, 0, 90, "CC0", "", builtin), **of_corpus)
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
    assert (other.counts, other.format) == ({"won": 2, "tied": 93, "lost": 5}, "points")
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
    assert lines(verdict_with(candidates=("a",)), rows=rows, pairs=pairs) == ["Use: bm25. 61.0% [56.0, 66.0] accuracy."]


def test_at_most_three_are_named_as_not_to_be_used():
    rows = {"a": (0.9, 0), **{f"e{n}": (0.5 - n / 100, 0) for n in range(5)}}
    rejected = lines(verdict_with(candidates=tuple(rows), baseline=""), rows=rows, pairs=())[-1]
    assert "e2: 42.0 points lower (not tested). And 2 more." in rejected
    assert "e3" not in rejected


def test_a_smaller_index_stands_beside_an_alternative():
    ranking = verdict_with()
    result = result_of(ranking)
    sizes = {"a": 1536, "b": 384}
    encoders = tuple(replace(e, vectors={"c": 100}, vector_bytes=sizes.get(e.name)) for e in result.encoders)
    findings = list(Decision(replace(result, encoders=encoders), ranking, ACCURACY).findings())
    assert findings[1].sentence.endswith("(2 won, 5 lost), a quarter of the bytes.")


@pytest.mark.parametrize("why", [{"undefined_as_wrong": {}}, {"source": SOURCES["headings"]}])
def test_where_a_higher_value_does_not_recommend_it_is_only_the_highest(why):
    of_corpus = {"source": why["source"]} if "source" in why else {}
    ranking = verdict_with(**{key: value for key, value in why.items() if key != "source"})
    (highest,) = decided(ranking, **of_corpus)
    assert (highest.question, highest.severity, highest.encoder) == ("Highest", "medium", "a")
    assert highest.sentence == "a. 87.0% [82.0, 92.0] accuracy. c: 7.0 points lower [−12.0, −2.0] (1 won, 8 lost)."


def test_nothing_below_chance_is_used():
    assert lines(verdict_with(chance=0.93))[0] == (
        "Use: None of them: the highest value is a. 87.0% [82.0, 92.0] accuracy, below chance (93.0%)."
    )
    assert lines(verdict_with(chance=0.92))[0] == USE


def test_without_enough_units_values_are_given_and_the_reason_why_there_is_no_verdict():
    untested = (gap("a", "bm25", 0.27, None, None, None, "main", won=30, lost=3),)
    reason = "that takes 10 units; there are 9"
    said = lines(verdict_with(candidates=("a",), reason=reason, chance=0.1), pairs=untested)
    assert said == [
        USE,
        "Not: bm25: 27.0 points lower (3 won, 30 lost) (not tested).",
        f"Data: No verdict on others like these: {reason}.",
    ]


@pytest.mark.parametrize(
    ("style", "said"), [("percent", "11.0 points"), ("points", "11.0 points"), ("number", "0.110")]
)
def test_what_could_be_detected_is_said_of_the_pair_that_the_choice_depends_on(style, said):
    ranking = verdict_with()
    of_b, of_c = PAIRS
    pairs = (replace(of_c, smallest_difference=0.2), replace(of_b, smallest_difference=0.11))
    data = decided(ranking, replace(ACCURACY, format=style), pairs=pairs)[-1]
    assert (data.question, data.severity, data.value) == ("Data", "low", 0.11)
    assert data.sentence == f"A true difference of {said} between a and b would be detected 80% of the time."
    assert not any(line.startswith("Data") for line in lines(ranking))


def test_more_items_are_asked_for_where_people_can_make_them():
    pairs = (replace(PAIRS[0], smallest_difference=0.11, target=0.05, items_needed=400),)
    ranking = verdict_with()
    assert lines(ranking, pairs=pairs)[-1].endswith(" 80% of the time; 5 points need about 400 items.")
    assert lines(ranking, pairs=pairs, documents=9, right_documents=9)[-1].endswith(" need about 400 questions.")
    assert lines(ranking, pairs=pairs, source=SOURCES["cloze"])[-1].endswith(" 80% of the time.")


def test_what_the_verdict_is_about_is_said_of_questions_on_documents():
    documents = {"loader": "documents", "documents": 9, "most_right": {"page 1": 3}}
    other = lines(verdict_with(), **documents)[-1]
    assert other == "About: other documents like these. If these are all the documents: about=these-documents."
    these = lines(verdict_with(), **documents, settings={"about": "these-documents"})[-1]
    assert these == "About: these documents only, if each question was asked on its own."
    for without in ({"loader": "choice"}, {"source": SOURCES["cloze"]}):
        assert not any(line.startswith("About") for line in lines(verdict_with(), **documents | without))


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
        screenings = (Screening("c", "s", "a", step, 0.92, 0.9, 0.94, 60, 9, 20.0, outcome),)
    result = replace(result, encoders=encoders, screenings=screenings)
    return [f"{one.question}: {one.sentence}" for one in Decision(result, ranking, ACCURACY).findings()]


def test_what_a_step_adds_stands_once():
    said = with_step("reranker", "")
    assert said[:3] == [USE, OR, NOT]
    assert said[3:] == ["Reranker: s: 1.0 points lower than a [−7.0, +5.0] (2 won, 3 lost)."]
    # Of the one to use it stands there as well; of a rejected one with the rejection.
    better = with_step("reranker", "", own=0.95)
    assert better[0].startswith("Use: s. 95.0% ")
    assert not any(line.startswith("Reranker") for line in with_step("reranker", "", own=0.5))


@pytest.mark.parametrize(
    ("step", "outcome", "said"),
    [
        ("index", "same", "Index: s lists 92.0% of what the exact search finds: as good as exact."),
        ("int8", "same", "Copies: s lists 92.0% of what a finds: as good as a."),
        (
            "index",
            "differs",
            "Index: s lists 92.0% of what the exact search finds: do not use it as it is. By the labels: "
            "1.0 points lower [−7.0, +5.0] (2 won, 3 lost).",
        ),
        (
            "int8",
            "differs",
            "Copies: s lists 92.0% of what a finds: it cannot stand for a, and its own figures decide. By the labels: "
            "1.0 points lower [−7.0, +5.0] (2 won, 3 lost).",
        ),
    ],
)
def test_an_index_and_a_copy_are_judged_by_what_they_list_and_no_label_stands_in_front(step, outcome, said):
    assert with_step(step, outcome)[3:] == [said]


def test_only_a_copy_that_lists_something_else_is_a_candidate_of_its_own():
    assert with_step("int8", "differs", own=0.95)[0].startswith("Use: s. 95.0% ")
    for step, outcome in (("int8", "same"), ("int8", "near"), ("index", "differs")):
        assert with_step(step, outcome, own=0.95)[0] == USE


# --- who is not ranked -----------------------------------------------------------------------------------


def test_labels_of_one_encoder_are_said_to_be():
    ranking = verdict_with()
    result = result_of(ranking)
    encoders = tuple(replace(e, fingerprint="f") if e.name in "ab" else e for e in result.encoders)
    first, *others = Decision(replace(result, encoders=encoders), ranking, ACCURACY).findings()
    assert (first.severity, first.sentence) == ("high", "a and b are the same encoder (same fingerprint).")
    assert [finding.question for finding in others] == ["Use", "Or", "Not"]


@pytest.mark.parametrize("builtin", [False, True])
def test_a_diagnostic_that_ranks_nobody(builtin):
    ranking = Verdict(MetricKey("", diagnostic="d", corpus="c"), 100, 50, candidates=("a", "b"))
    result = result_of(ranking, builtin=builtin)
    assert list(verdict(result, ranking))[1:] == ["This diagnostic does not rank encoders."]
    decisions = [one for one in findings_of(result, {"d": ACCURACY}) if one.diagnostic]
    assert decisions == []


def test_on_a_built_in_corpus_no_finding_names_an_encoder():
    ranking = verdict_with()
    assert decided(ranking, builtin=True) == []
    said = list(verdict(result_of(ranking, builtin=True), ranking))[1:]
    assert said == ["Built-in corpora are for trying things out: no best model is named."]


def test_no_candidate():
    assert lines(verdict_with(candidates=())) == ["The run has only baselines."]
    result = result_of(verdict_with(candidates=()), rows={"z": (0.0, 0)})
    result = replace(result, rows=(replace(result.rows[0], value=None, low=None, high=None, reason="no pairs"),))
    (finding,) = Decision(result, result.verdicts[0], ACCURACY).findings()
    assert finding.sentence == "Undefined for every item: z (no pairs)."


def test_a_candidate_without_a_value_is_not_compared():
    result = result_of(verdict_with(), rows={**{name: (value, 0) for name, value in VALUES.items()}, "z": (0.0, 0)})
    row = replace(result.rows[-1], value=None, low=None, high=None, reason="no pairs")
    first, *_ = Decision(replace(result, rows=(*result.rows[:-1], row)), result.verdicts[0], ACCURACY).findings()
    assert first.sentence == "Undefined for every item, so not compared: z (no pairs)."


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


def test_answers_come_first_then_the_others_by_severity_and_all_link_to_their_section():
    own = (
        Finding("low", "Fine.", "Fine", diagnostic="d", corpus="c"),
        Finding("high", "Bad.", "Bad", diagnostic="d", corpus="c", encoder="a"),
    )
    findings = findings_of(replace(result_of(verdict_with()), findings=own), {"d": ACCURACY})
    assert [finding.title for finding in findings] == ["The one to use", "Instead", "Not these", "Bad", "Fine"]
    assert {finding.link for finding in findings} == {"#d-c"}


def test_missed_questions_are_said_of_the_encoder_to_use():
    own = tuple(
        Answer("low", f"{name} misses.", "Missed", diagnostic="d", corpus="c", encoder=name, kind="misses")
        for name in "cba"
    )
    result = replace(result_of(verdict_with()), findings=own)
    for accept, use in ((None, "a"), (0.1, "b")):
        findings = findings_of(result, {"d": ACCURACY}, accept)
        assert [one.encoder for one in findings if one.title == "Missed"] == [use]


@pytest.mark.parametrize("method", SOURCES)
def test_queries_that_nobody_asked_come_first(method):
    result = result_of(verdict_with(), source=SOURCES[method])
    findings = findings_of(result, {"d": ACCURACY})
    (first, *_) = [finding for finding in findings if not isinstance(finding, Answer)]
    assert (first.severity, first.title, first.corpus) == ("high", "Made queries", "c")
    assert first.sentence.startswith(f"c has no questions: the results are of 100 {SOURCES[method]}. ")
    assert "questions=questions.csv" in first.action
    assert [one.action for one in findings if one.action] == [first.action]
    own = findings_of(result_of(verdict_with()), {"d": ACCURACY})
    assert not any(one.title == first.title for one in own)


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


@pytest.mark.parametrize(
    ("settings", "setting", "actions"),
    [
        ({}, "", CUT),
        ({"passages": "100"}, "", []),
        ({"passages": "60"}, "", []),
        ({"passages": "document"}, "", CUT),
        ({"passages": "200"}, "", CUT),
        ({"passages": "200"}, "passages=200", []),
        ({}, "max_length=256", []),
    ],
)
def test_what_is_set_already_is_not_advised(settings, setting, actions):
    assert advised(settings, setting) == actions


@pytest.mark.parametrize("settings", [{}, {"passages": "paragraph"}, {"passages": "sentence"}])
def test_paragraphs_are_not_made_longer(settings):
    assert advised(settings, passages=400) == []
    assert advised({"passages": "200"}, passages=400) == CUT
    made = advised(settings, source=SOURCES["cloze"])
    assert not any("shorter" in action for action in made)


def test_shorter_passages_are_advised_only_where_much_is_not_read_and_the_languages_are_the_same():
    assert advised({}, unread=0.1) == CUT
    assert advised({}, unread=0.09) == []
    mismatch = "The questions look German, the documents English; 9 of 90 distinct words occur in a document"
    (action,) = advised({}, mismatch=mismatch)
    assert action.startswith("Check that the questions of c belong to its documents")


def test_encoders_that_read_more_give_no_second_length_of_passages():
    assert advised({}, limits=(384, 256, 512)) == CUT


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
    first = replace(result.encoders[0], max_tokens=256, truncated_in={"c": 9}, texts_in={"c": 90}, unknown_words=0.125)
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


def test_a_run_whose_candidates_all_failed_says_so_and_nothing_of_baselines():
    result = result_of(verdict_with(candidates=()), rows={"bm25": (0.6, 0)})
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
        verdicts = tuple(replace(ranking, key=MetricKey("", diagnostic=name, corpus="c")) for name in diagnostics)
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
