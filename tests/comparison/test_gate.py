"""Checks of whole runs: labels, names, margins, floors, failures, corpora that differ."""

import json
from dataclasses import replace

import pytest

import embassay as ea
from comparison.choice_runs import Answers, choices
from embassay.comparison.baseline import bless
from embassay.core.columns import read_columns, write_columns
from embassay.core.errors import InputError
from embassay.run.command import carry_out
from embassay.run.request import RunRequest
from embassay.testing import assert_not_worse

GOOD, BAD = range(180), range(120)


class Lower(Answers):
    """Reads its texts without case and white space."""

    def encode(self, texts, role="text"):
        return super().encode([text.strip().lower() for text in texts], role)


def model(right=GOOD, name="model", **options):
    return Answers(right, name=name, **options)


# --- outcomes --------------------------------------------------------------------------------------------


def test_a_worse_model_under_the_same_label_is_a_regression(choice_run):
    outcome = ea.check(choice_run("new", [model(BAD)]), choice_run("old", [model()]))
    assert (outcome.outcome, outcome.exit_code) == ("regression", 1)
    (change,) = outcome.changes
    assert change.lost == {f"e{number}": f"input {number}" for number in range(120, 180)}
    assert outcome.sentences == (
        "regression: model, accuracy on mine: 90.0% → 60.0%, 60 answers lost, 0 gained of 200 (p < 0.001).",
    )


def test_a_margin_out_of_reach_is_named(choice_run):
    run, old = choice_run("new", [model()]), choice_run("old", [model()])
    outcome = ea.check(run, old, margins={"accuracy": 0.02})
    assert outcome.notes == (
        "200 entries cannot rule out a loss as small as your margin of 2 points (accuracy on mine).",
    )
    assert outcome.outcome == "pass"
    assert ea.check(run, old, margins={"accuracy": 0.07}).notes == ()


def test_texts_are_those_of_this_run_also_where_ids_have_moved(choice_run):
    old = choice_run("old", [model()])
    samples = choices(range(200)).samples
    moved = [replace(sample, id=f"e{(number + 1) % 200}") for number, sample in enumerate(samples)]
    corpus = replace(choices(range(200)), samples=tuple(moved))
    (change,) = ea.check(choice_run("new", [model(BAD)], corpus), old).changes
    assert change.lost == {f"e{number}": f"input {number}" for number in range(120, 180)}
    (change,) = ea.check(choice_run("no-texts", [model(BAD)], texts=False), old).changes
    assert change.lost == {f"e{number}": "" for number in range(120, 180)}


def test_every_item_is_a_unit_but_near_duplicates_are_one(choice_run):
    # Entries that share a sentence depend on each other, but these entries are what is guarded.
    corpus = choices(range(40), unit_size=5)
    run = choice_run("of-5", [model(range(40))], corpus)
    (change,), (sampled,) = (ea.check(run, run, pages=pages).changes for pages in ("given", "sampled"))
    assert (change.limit, sampled.limit) == pytest.approx((1 - 0.05 ** (1 / 40), 1 - 0.05 ** (1 / 8)))

    texts = ("input", "antonym", "polarity", "paraphrase")
    again = []
    for sample in corpus.samples:
        louder = {name: f" {getattr(sample, name).capitalize()}" for name in texts}
        again.append(replace(sample, id=f"again-{sample.id}", **louder))
    doubled = replace(corpus, samples=(*corpus.samples, *again))
    run = choice_run("doubled", [Lower(range(40), name="model")], doubled)
    (change,) = ea.check(run, run).changes
    assert (change.items, change.limit) == (80, pytest.approx(1 - 0.05 ** (1 / 40)))


def test_built_in_corpora_are_a_sample(tmp_path):
    out = tmp_path / "run"
    assert carry_out(RunRequest(["m=hashing"], ["opposites"], [], out=out, quiet=True, resamples=20, cache=None)) == 0
    outcome = ea.check(out, out)
    assert outcome.changes[0].sampled
    # 70 units of 4 entries.
    assert outcome.changes[0].limit == pytest.approx(1 - 0.05 ** (1 / 70))


def test_a_failed_candidate_is_exit_code_3_and_the_others_are_checked(choice_run):
    old = choice_run("old", [model(), model(name="other")])
    run = choice_run("new", [model(fails=True), model(BAD, name="other")], code=3)
    outcome = ea.check(run, old)
    assert (outcome.outcome, outcome.exit_code) == ("failed", 3)
    assert "no memory left" in outcome.failures[0]
    assert [change.outcome for change in outcome.changes] == ["regression"]


def with_failure(folder, *failure, without=""):
    """Write another failure into a finished run, and leave out the rows of an encoder."""
    path = folder / "result.json"
    content = json.loads(path.read_text())
    names = ("encoder", "diagnostic", "corpus", "reason")
    content["failures"] = [dict(zip(names, (*failure, "out of memory"), strict=True))]
    content["rows"] = [row for row in content["rows"] if row["encoder"] != without]
    path.write_text(json.dumps(content))
    write_columns(folder, [column for column in read_columns(folder) if column.encoder != without])
    return folder


def test_missing_scores_are_excused_by_a_failure_of_the_same_candidate_alone(choice_run):
    old = choice_run("old", [model(), model(name="other")])
    place = ("negated_antonyms", "mine")
    for number, encoder in enumerate(("tfidf", "other")):
        run = choice_run(f"new-{number}", [model(), model(name="other")])
        with pytest.raises(InputError, match="the baseline has model in negated_antonyms on mine, the run does not"):
            ea.check(with_failure(run, encoder, *place, without="model"), old)
    run = choice_run("new", [model(), model(name="other")])
    outcome = ea.check(with_failure(run, "model", *place, without="model"), old)
    assert (outcome.outcome, len(outcome.changes)) == ("failed", 1)


def test_failures_that_on_leaves_out_do_not_count(choice_run):
    old, new = choice_run("old", [model()]), choice_run("new", [model()])
    with_failure(new, "model", "negated_antonyms", "elsewhere")
    for on in ((), ("negated_antonyms",)):
        assert ea.check(new, old, on=on).outcome == "failed"
    for on in (("mine",), ("negated_antonyms", "mine")):
        assert ea.check(new, old, on=on).outcome == "pass"


# --- margins and floors ----------------------------------------------------------------------------------


def test_margins_add_metrics_and_change_those_of_headlines(choice_run):
    run, old = choice_run("new", [model(range(4, 184))]), choice_run("old", [model()])
    margins = {"accuracy": 0.15, "chosen[antonym]": 0.2, "negated_antonyms/accuracy[part_of_speech:noun]": 0.25}
    outcome = ea.check(run, old, margins=margins)
    assert {change.metric: change.margin for change in outcome.changes} == {
        "accuracy": 0.15,
        "chosen[antonym]": 0.2,
        "accuracy[part_of_speech:noun]": 0.25,
    }
    assert outcome.outcome == "pass"
    (antonym,) = [change for change in outcome.changes if change.metric == "chosen[antonym]"]
    assert (len(antonym.lost), len(antonym.gained)) == (4, 4)


def test_a_floor_is_missed_or_kept(choice_run):
    run, old = choice_run("new", [model()]), choice_run("old", [model()])
    outcome = ea.check(run, old, floors={"accuracy": 0.95, "chosen[antonym]": 0.2})
    assert [floor.outcome for floor in outcome.floors] == ["regression", "pass"]
    assert outcome.exit_code == 1
    assert "0.900 misses the floor of 0.95." in outcome.reasons[0]
    assert "keeps the ceiling of 0.2 (lower is better)" in outcome.sentences[2]
    # A value that is just the allowed one is kept.
    outcome = ea.check(run, old, floors={"accuracy": 0.9, "chosen[antonym]": 0.1})
    assert [(floor.new, floor.outcome) for floor in outcome.floors] == [(0.9, "pass"), (0.1, "pass")]


# --- what does not match ---------------------------------------------------------------------------------


def test_a_label_of_the_baseline_must_be_in_the_run(choice_run):
    run, old = choice_run("new", [model(name="renamed")]), choice_run("old", [model()])
    with pytest.raises(InputError) as caught:
        ea.check(run, old)
    message = str(caught.value)
    for part in (
        str(run),
        str(old),
        "the baseline has model in negated_antonyms on mine, the run does not; it has renamed",
    ):
        assert part in message


def test_a_new_label_is_noted(choice_run):
    run = choice_run("new", [model(), model(BAD, name="added")])
    outcome = ea.check(run, choice_run("old", [model()]))
    assert outcome.outcome == "pass"
    assert outcome.notes == ("added is not checked: the baseline lacks it",)


# --- Python ----------------------------------------------------------------------------------------------


def test_assert_not_worse_takes_a_result(choice_run, tmp_path):
    folder = bless(choice_run("old", [model()]), tmp_path / "baseline")
    good = ea.assay([model()], [choices(range(200))], ["negated_antonyms"], resamples=50, cache=None)
    assert assert_not_worse(good, folder).outcome == "pass"
    bad = ea.assay([model(BAD)], [choices(range(200))], ["negated_antonyms"], resamples=50, cache=None)
    with pytest.raises(AssertionError, match="regression: model, accuracy on mine"):
        assert_not_worse(bad, folder)
