"""Answers: what everyone asks of a run, as data, on the first screen, and with the texts that are missed."""

import numpy as np
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.result import between
from embassay.corpora.builtin.handbook import write_files

"""What is answered of search on one's own documents, in the order of the screen."""
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
    assert f"No encoder finds {len(by_none)}" in answer.sentence
    assert (len(right), answer.value) == (120, pytest.approx(len(missed) / 120))


# --- the first screen ------------------------------------------------------------------------------------


# --- what is missed --------------------------------------------------------------------------------------


def test_what_the_one_to_use_misses_is_shown_with_its_rank_and_who_finds_it(place, result, capsys):
    assert exit_code_of(["show", str(place / "run"), "--failures"]) == 0
    out = capsys.readouterr().out
    assert exit_code_of(["show", str(place / "run"), "retrieval", "--failures"]) == 0
    assert capsys.readouterr().out == out
    (misses,) = [answer for answer in result.answers if answer.kind == "misses"]
    wrong = result.failures("bm25", "retrieval").to_dicts()
    by_none = out.count("; no encoder finds it)\n")
    assert f"No encoder finds {by_none}" in misses.sentence
    assert (misses.encoder, round(misses.value * 120)) == ("bm25", len(wrong))
    title, *_ = out.splitlines()
    assert title.startswith(f"Retrieval on mine: bm25 is wrong about {len(wrong)} questions; right about these: ")
    assert title.endswith(f"; no encoder is right about {by_none}")
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
