"""Checks of whole runs: labels, names, margins, floors, failures, corpora that differ, bad input."""

import json
import math
import subprocess
import sys
from dataclasses import replace

import pytest

import embassay as ea
from comparison.choice_runs import Answers, choices
from embassay.comparison.baseline import bless
from embassay.comparison.gate import CheckOptions, check_runs
from embassay.comparison.runs import read_run
from embassay.errors import InputError, SpecError
from embassay.result import Failure
from embassay.run.command import carry_out
from embassay.run.request import RunRequest
from embassay.testing import assert_not_worse

GOOD, BAD = range(180), range(120)


def model(right=GOOD, name="model", **options):
    return Answers(right, name=name, **options)


# --- outcomes --------------------------------------------------------------------------------------------


def test_an_unchanged_model_passes(choice_run):
    outcome = ea.check(choice_run("new", [model()]), choice_run("old", [model()]))
    assert (outcome.outcome, outcome.exit_code, len(outcome.changes)) == ("pass", 0, 1)
    assert "nothing changed" in outcome.sentences[0]


def test_a_worse_model_under_the_same_label_is_a_regression(choice_run):
    outcome = ea.check(choice_run("new", [model(BAD)]), choice_run("old", [model()]))
    assert (outcome.outcome, outcome.exit_code) == ("regression", 1)
    (change,) = outcome.changes
    assert change.lost == tuple(f"e{number}" for number in range(120, 180))
    (sentence,) = outcome.sentences
    for figure in ("90.0% → 60.0%", "−30.0 points [", "2.0 points", "smallest loss that this corpus shows"):
        assert figure in sentence


def test_a_small_corpus_is_inconclusive(choice_run):
    run, old = choice_run("new", [model(range(2, 182))]), choice_run("old", [model()])
    outcome = ea.check(run, old)
    assert (outcome.outcome, outcome.exit_code) == ("inconclusive", 4)
    assert "ruling out 2.0 points takes about" in outcome.sentences[0]
    assert ea.check(run, old, inconclusive="pass").exit_code == 0
    assert ea.check(run, old, inconclusive="fail").exit_code == 1


def test_a_check_has_the_texts_of_what_was_lost_unless_the_run_has_none(choice_run):
    old = choice_run("old", [model()])
    outcome = ea.check(choice_run("new", [model(BAD)]), old)
    (change,) = outcome.changes
    assert set(outcome.texts[change.corpus]) == set(change.lost)
    without = ea.check(choice_run("no-texts", [model(BAD)], texts=False), old)
    assert without.texts == {}
    assert without.changes[0].lost == change.lost


def test_an_inconclusive_check_says_which_loss_it_rules_out(choice_run):
    run, old = choice_run("new", [model(range(2, 182))]), choice_run("old", [model()])
    (change,) = ea.check(run, old).changes
    wider, narrower = (ea.check(run, old, margins={"accuracy": change.ruled_out + step}) for step in (0.002, -0.002))
    assert (wider.outcome, narrower.outcome) == ("pass", "inconclusive")
    rounded_up = math.ceil(1000 * change.ruled_out) / 10
    assert f"is not ruled out, one of {rounded_up:.1f} points or more is" in narrower.sentences[0]


def test_it_says_where_the_test_allows_for_a_unit_more_than_the_interval(choice_run):
    run, old = choice_run("new", [model(range(2, 182))]), choice_run("old", [model()])
    (change,) = ea.check(run, old).changes
    margin = (change.ruled_out - change.low) / 2
    assert -change.low < margin < change.ruled_out
    assert (
        "(one more unit counts as lost than was seen)" in ea.check(run, old, margins={"accuracy": margin}).sentences[0]
    )


def test_a_failed_candidate_is_exit_code_3_and_the_others_are_checked(choice_run):
    old = choice_run("old", [model(), model(name="other")])
    run = choice_run("new", [model(fails=True), model(BAD, name="other")], code=3)
    outcome = ea.check(run, old)
    assert (outcome.outcome, outcome.exit_code) == ("failed", 3)
    assert "no memory left" in outcome.failures[0]
    assert [change.outcome for change in outcome.changes] == ["regression"]


def test_a_run_in_which_everything_failed_is_exit_code_3(choice_run):
    old = choice_run("old", [model()])
    run = choice_run("new", [model(fails=True)], code=3, baselines=False)
    assert ea.check(run, old).exit_code == 3


def check_with(new, old, *failures, on=(), without=()):
    """Check a run with other failures, and without the scores of some encoders."""
    tasks = {}
    for name, task in new.tasks.items():
        tasks[name] = replace(task, scores={label: s for label, s in task.scores.items() if label not in without})
    changed = replace(new, tasks=tasks, result=replace(new.result, failed=failures))
    return check_runs(changed, old, CheckOptions(on=on))


def test_missing_scores_are_excused_by_a_failure_of_the_same_candidate_alone(choice_run):
    old = read_run(choice_run("old", [model(), model(name="other")]), "baseline")
    new = read_run(choice_run("new", [model(), model(name="other")]), "run")
    ((diagnostic, corpus),) = new.tasks
    for encoder in ("tfidf", "other"):
        with pytest.raises(InputError, match="the baseline has model in negated_antonyms on mine, the run does not"):
            check_with(new, old, Failure(encoder, diagnostic, corpus, "out of memory"), without=["model"])
    outcome = check_with(new, old, Failure("model", diagnostic, corpus, "out of memory"), without=["model"])
    assert (outcome.outcome, len(outcome.changes)) == ("failed", 1)


def test_failures_that_on_leaves_out_do_not_count(choice_run):
    old = read_run(choice_run("old", [model()]), "baseline")
    new = read_run(choice_run("new", [model()]), "run")
    elsewhere = Failure("model", "negated_antonyms", "elsewhere", "out of memory")
    for on in ((), ("negated_antonyms",)):
        assert check_with(new, old, elsewhere, on=on).outcome == "failed"
    for on in (("mine",), ("negated_antonyms", "mine")):
        assert check_with(new, old, elsewhere, on=on).outcome == "pass"


def test_a_vector_that_is_missing_is_a_loss(choice_run):
    run = choice_run("new", [model(broken=range(60))])
    (change,) = ea.check(run, choice_run("old", [model()])).changes
    assert (change.outcome, change.undefined) == ("regression", 60)


def test_no_interval_no_verdict_under_ten_units(choice_run):
    corpus = choices(range(40), unit_size=5)
    run = choice_run("new", [model(())], corpus)
    outcome = ea.check(run, choice_run("old", [model(range(40))], corpus))
    assert outcome.outcome == "inconclusive"
    assert "8 units are too few for a verdict" in outcome.sentences[0]


# --- margins and floors ----------------------------------------------------------------------------------


def test_margins_add_metrics_and_change_those_of_headlines(choice_run):
    run, old = choice_run("new", [model(range(4, 184))]), choice_run("old", [model()])
    margins = {"accuracy": 0.15, "chosen[antonym]": 0.2, "negated_antonyms.accuracy[part_of_speech:noun]": 0.25}
    outcome = ea.check(run, old, margins=margins)
    assert {change.metric: change.margin for change in outcome.changes} == {
        "accuracy": 0.15,
        "chosen[antonym]": 0.2,
        "accuracy[part_of_speech:noun]": 0.25,
    }
    assert outcome.outcome == "pass"
    (antonym,) = [change for change in outcome.changes if change.metric == "chosen[antonym]"]
    assert antonym.lower_is_better
    assert "a rise of 20.0 points or more is ruled out" in str(outcome)


def test_a_floor_is_missed_or_kept(choice_run):
    run, old = choice_run("new", [model()]), choice_run("old", [model()])
    outcome = ea.check(run, old, floors={"accuracy": 0.95, "chosen[antonym]": 0.2})
    assert [floor.outcome for floor in outcome.floors] == ["regression", "pass"]
    assert outcome.exit_code == 1
    assert "0.900 [" in outcome.sentences[1]
    assert "misses the floor of 0.95" in outcome.sentences[1]
    assert "keeps the ceiling of 0.2 (lower is better)" in outcome.sentences[2]
    # A value that is just the allowed one is kept.
    outcome = ea.check(run, old, floors={"accuracy": 0.9, "chosen[antonym]": 0.1})
    assert [(floor.value, floor.outcome) for floor in outcome.floors] == [(0.9, "pass"), (0.1, "pass")]


def test_a_floor_of_the_headline_has_the_measure_of_the_headline(tmp_path):
    operators = ("overlap", "difference", "union")
    samples = [
        ea.Composition(f"s{n}", operators[n % 3], f"a {n} x{n % 5}", f"b {n} y{n % 3}", f"c {n}", f"u{n}")
        for n in range(60)
    ]
    corpus = ea.Corpus("mine", "composition", tuple(samples))
    out = tmp_path / "run"
    request = RunRequest(
        ["model=hashing"], [corpus], ["composition"], out=out, quiet=True, resamples=20, cache=None, baselines=False
    )
    assert carry_out(request) == 0
    rows = {}
    for row in ea.read(out).rows:
        if (row.metric, row.subset, row.condition) == ("share", "c1:TT", "excess:eps0"):
            rows[row.similarity_function] = row.value
    assert len(rows) > 1
    floors = {"share[c1:TT,excess:eps0]": 0.1, "share[c1:TT,l2,excess:eps0]": 0.1}
    headline, other = ea.check(out, out, floors=floors).floors
    assert (headline.value, headline.metric) == (rows["cosine"], "share[c1:TT]")
    assert (other.value, other.metric) == (rows["l2"], "share[c1:TT]{l2,excess:eps0}")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"margins": {"acuracy": 0.02}}, "did you mean 'accuracy'"),
        ({"floors": {"acuracy": 0.02}}, "did you mean 'accuracy'"),
        ({"floors": {"accuracy": 85}}, "at most 1, is 85; it is a share"),
        (
            {"floors": {"chosen": 0.1}},
            "chosen cannot have a floor: it has no value in this run; chosen[antonym], chosen[paraphrase]",
        ),
        ({"floors": {"similarity": 0.1}}, "similarity cannot have a floor: neither higher nor lower"),
        # A suggestion is never refused in its turn: that would be similarity[antonym].
        ({"floors": {"simlarity[antonym]": 0.1}}, "did you mean 'chosen[antonym]'? Known: accuracy, chosen[antonym]"),
        (
            {"margins": {"similarity[antonym]": 0.02}},
            "similarity[antonym] cannot have a margin: neither higher nor lower values of it are better",
        ),
        (
            {"floors": {"similarity[antonym]": 0.02}},
            "similarity[antonym] cannot have a floor: neither higher nor lower values of it are better",
        ),
        ({"margins": {"similarity": 0.02}}, "similarity cannot have a margin: neither higher nor lower"),
        ({"margins": {"accuracy": 2}}, "below 1, is 2"),
        ({"margins": {"accuracy": 0}}, "above 0, is 0"),
        ({"margins": {"accuracy": float("nan")}}, "above 0, is nan"),
        ({"floors": {"accuracy": float("inf")}}, "must be a number"),
        ({"on": ["retreival"]}, "unknown diagnostic or corpus 'retreival'"),
        ({"inconclusive": "maybe"}, "'pass' or 'fail'"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(choice_run, options, says):
    run = choice_run("new", [model()])
    with pytest.raises(InputError) as caught:
        ea.check(run, run, **options)
    assert says in str(caught.value)


def test_options_are_checked_when_they_are_made():
    with pytest.raises(SpecError):
        CheckOptions(margins={"accuracy": -1})


def test_on_selects_diagnostics_and_corpora(choice_run):
    run = choice_run("new", [model(BAD)])
    old = choice_run("old", [model()])
    assert len(ea.check(run, old, on=["mine"]).changes) == 1
    assert len(ea.check(run, old, on=["negated_antonyms", "mine"]).changes) == 1


def test_margins_and_floors_of_what_on_leaves_out_are_ignored(tmp_path):
    both = tmp_path / "both"
    corpora = [choices(range(200)), "handbook"]
    request = RunRequest(["model=hashing"], corpora, [], out=both, quiet=True, resamples=20, cache=None)
    assert carry_out(request) == 0
    options = {"margins": {"RR": 0.02, "chosen[antonym]": 0.1}, "floors": {"Success@5": 0.1}, "on": ["mine"]}
    outcome = ea.check(both, both, **options)
    assert [change.metric for change in outcome.changes] == ["accuracy", "chosen[antonym]"]
    assert outcome.floors == ()
    with pytest.raises(InputError, match="unknown metric 'MRR'"):
        ea.check(both, both, on=["mine"], margins={"MRR": 0.02})


# --- what does not match ---------------------------------------------------------------------------------


def test_a_label_of_the_baseline_must_be_in_the_run(choice_run):
    run, old = choice_run("new", [model(name="renamed")]), choice_run("old", [model()])
    with pytest.raises(InputError) as caught:
        ea.check(run, old)
    message = str(caught.value)
    for part in (str(run), str(old), "the baseline has model, the run does not; it has renamed"):
        assert part in message


def test_a_new_label_is_noted(choice_run):
    run = choice_run("new", [model(), model(BAD, name="added")])
    outcome = ea.check(run, choice_run("old", [model()]))
    assert outcome.outcome == "pass"
    assert outcome.notes == ("added is not checked: the baseline does not have it",)


def test_a_corpus_with_other_items_is_checked_on_the_common_ones(choice_run):
    run = choice_run("new", [model(BAD)], choices(range(50, 250)))
    outcome = ea.check(run, choice_run("old", [model()]))
    (change,) = outcome.changes
    assert (change.items, change.outcome) == (150, "regression")
    assert "compared on 150 common items" in outcome.notes[0]


def test_another_corpus_is_an_error(choice_run):
    run = choice_run("new", [model(BAD)], choices(range(500, 700)))
    with pytest.raises(InputError, match="no item in common"):
        ea.check(run, choice_run("old", [model()]))


def test_a_corpus_under_another_label_is_an_error(choice_run):
    run = choice_run("new", [model()], choices(range(200), name="theirs"))
    with pytest.raises(InputError, match="the baseline has negated_antonyms on mine, the run does not"):
        ea.check(run, choice_run("old", [model()]))


def test_a_run_without_item_scores_is_an_error(choice_run):
    run, old = choice_run("new", [model()]), choice_run("old", [model()])
    for path in (old / "scores").glob("*model*"):
        path.unlink()
    with pytest.raises(InputError) as caught:
        ea.check(run, old)
    assert "item scores of model" in str(caught.value)
    assert str(run) in str(caught.value)


@pytest.mark.parametrize("name", ["run.json", "result.json", "scores", "items"])
def test_a_damaged_file_is_one_message(choice_run, name):
    run, old = choice_run("new", [model(BAD)]), choice_run("old", [model()])
    for path in [old / name] if "." in name else (old / name).iterdir():
        path.write_bytes(b'{"half')
    with pytest.raises(InputError) as caught:
        ea.check(run, old)
    assert "\n" not in str(caught.value)
    assert str(old) in str(caught.value)


@pytest.mark.parametrize("schema", [2, 99])
def test_a_run_of_another_schema_is_refused(choice_run, schema):
    run, old = choice_run("new", [model(BAD)]), choice_run("old", [model()])
    path = old / "result.json"
    content = json.loads(path.read_text())
    content["schema"] = schema
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"schema {schema}; this version reads 5; repeat the run's command"):
        ea.check(run, old)


def test_another_version_of_the_diagnostic_is_an_error(choice_run):
    run, old = choice_run("new", [model()]), choice_run("old", [model()])
    path = old / "run.json"
    record = json.loads(path.read_text())
    record["settings"]["diagnostics"][0][1] = "0"
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match="another version"):
        ea.check(run, old)


# --- Python ----------------------------------------------------------------------------------------------


def test_assert_not_worse_takes_a_result(choice_run, tmp_path):
    folder, _ = bless(choice_run("old", [model()]), tmp_path / "baseline")
    good = ea.assay([model()], [choices(range(200))], ["negated_antonyms"], resamples=50, cache=None)
    assert assert_not_worse(good, folder).outcome == "pass"
    bad = ea.assay([model(BAD)], [choices(range(200))], ["negated_antonyms"], resamples=50, cache=None)
    with pytest.raises(AssertionError, match="regression: model, accuracy on mine"):
        assert_not_worse(bad, folder)


def test_assert_not_worse_decides_about_what_is_inconclusive(choice_run):
    run, old = choice_run("new", [model(range(2, 182))]), choice_run("old", [model()])
    with pytest.raises(AssertionError, match="inconclusive: model"):
        assert_not_worse(run, old)
    assert_not_worse(run, old, inconclusive="pass")


def test_the_import_is_cheap():
    program = "import sys, embassay.testing; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_result_without_scores_is_refused(choice_run):
    run = choice_run("new", [model()])
    with pytest.raises(InputError, match="pass the run's folder"):
        assert_not_worse(ea.Result(0, 1), run)
