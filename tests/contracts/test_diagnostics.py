"""What every diagnostic must keep: rows that can be written, the order of encoders, seeds, hostile vectors."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from types import SimpleNamespace

import jsonschema
import pytest

import embassay as ea
from contracts.abilities import overridden
from embassay.core.layout import Layout
from embassay.core.plugins import DIAGNOSTICS
from embassay.core.samples.retrieval import length
from embassay.diagnostics.base import BaseDiagnostic, ForeignDiagnostic
from embassay.diagnostics.metrics.metric import declared
from embassay.reports.layouts import layouts
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.runs.results import read, to_bytes
from embassay.testing import check_diagnostic

CORPORA = {
    "answers": "handbook",
    "negated_antonyms": "opposites",
    "minimal_pairs": "edits",
    "composition": "vignettes",
    "localization": "paraphrases",
    "retrieval": "handbook",
    "similarity": "",
    "isotropy": "opposites",
    "shift": "handbook",
}
DIRECTIONS_OF = {
    "answers": {"higher"},
    "negated_antonyms": {"higher", "lower", "neither"},
    "minimal_pairs": {"higher", "lower", "neither"},
    "composition": {"higher", "lower", "neither"},
    "localization": {"higher"},
    "retrieval": {"higher", "lower", "neither"},
    "similarity": {"higher", "neither"},
    "isotropy": {"neither"},
    "shift": {"neither"},
}
OPTIONS = {"shift": ",domain=handbook,general=general"}
SCHEMA = jsonschema.Draft202012Validator(
    json.loads(files("embassay.core.data").joinpath("result.schema.json").read_text(encoding="utf-8"))
)
ENCODERS = ("bow", "tfidf", "hashing,dim=64")


def corpora_of(name):
    """Return the corpora that a diagnostic is tried on; similarity and shift have no built-in ones of their own."""
    if name == "similarity":
        sentences = [
            "The shop is open.",
            "The shop is closed.",
            "It rains.",
            "It snows.",
            "A cat sleeps.",
            "A dog runs.",
        ]
        pairs = [
            ea.Pair(
                f"p{place}", f"{sentences[place % 6]} {place}", f"{sentences[(place * 5 + 1) % 6]} {place}", place % 5
            )
            for place in range(40)
        ]
        return [ea.Corpus("scored", "pairs", tuple(pairs), "1", "CC0-1.0", "this test")]
    corpus = ea.load(CORPORA[name])
    if name == "answers":
        # The sentence that answers a question is its answer.
        samples = [
            answered(sample, {document.id: document.whole for document in corpus.documents})
            for sample in corpus.samples
        ]
        return [replace(corpus, samples=tuple(samples))]
    if name == "shift":
        half = len(corpus.documents) // 2
        known = {document.id for document in corpus.documents[half:]}
        later = tuple(s for s in corpus.samples if s.right and known >= set(s.right))
        general = replace(corpus, name="general", samples=later, documents=corpus.documents[half:])
        first = tuple(s for s in corpus.samples if s.right and not known & set(s.right))
        return [replace(corpus, samples=first, documents=corpus.documents[:half]), general]
    return [corpus]


def answered(sample, texts):
    """Return a question whose answers are its right documents as a whole; as it is where there is none."""
    if not sample.right:
        return sample
    places = tuple(ea.AnswerPlace(name, 0, length(texts[name])) for name in sample.right)
    answers = tuple(texts[name] for name in sample.right)
    return ea.AnsweredQuestion(
        sample.id, sample.question, sample.right, units=sample.units, answers=answers, places=places
    )


def spec_of(name):
    return name + OPTIONS.get(name, "")


@cache
def outcome(name, encoders=ENCODERS, seed=0):
    """Run one diagnostic."""
    plan = prepare(
        RunRequest(list(encoders), corpora_of(name), [spec_of(name)], seed=seed, resamples=50, baselines=False)
    )
    return execute(plan)


def test_every_diagnostic_is_tried():
    assert set(CORPORA) == DIAGNOSTICS.own_names(), "add the diagnostic to CORPORA and to what it can do, below"


ON_ITEMS = {"shows_items", "outcomes", "examples", "figures"}
ABILITIES = {
    "answers": {"check", "suits", "scores_rankings", "ranks_passages", "searched", "score_rankings", "k", *ON_ITEMS},
    "negated_antonyms": ON_ITEMS,
    "minimal_pairs": ON_ITEMS,
    "composition": ON_ITEMS,
    "localization": {"check", *ON_ITEMS},
    "retrieval": {"check", "scores_rankings", "score_rankings", "k", *ON_ITEMS},
    "similarity": ON_ITEMS,
    "isotropy": {"figures"},
    "shift": {"figures", "pair", "join"},
}
"""What each diagnostic can do beyond scoring; a method that is renamed by mistake takes an ability away."""


def test_every_diagnostic_has_its_abilities():
    found = {}
    for name in CORPORA:
        options = {"domain": "a", "general": "b"} if name == "shift" else {}
        found[name] = overridden(DIAGNOSTICS.module(name).create(**options), BaseDiagnostic)
    assert found == ABILITIES
    assert set().union(*ABILITIES.values()) == {name for name in vars(BaseDiagnostic) if not name.startswith("_")}


def test_a_diagnostic_without_a_base_has_its_own_members_and_defaults_for_what_it_lacks():
    own = SimpleNamespace(shape="pairs", options="", score=lambda corpus, vectors, origin: "scores", pair=("a", "b"))
    adopted = ForeignDiagnostic(own)
    assert (adopted.shape, adopted.pair, adopted.score(None, None, None)) == ("pairs", ("a", "b"), "scores")
    assert (adopted.shows_items, adopted.scores_rankings, adopted.figures([])) == (False, False, None)
    assert adopted.check(None) is None
    own.outcomes = own.examples = own.score_rankings = lambda *arguments: []
    adopted = ForeignDiagnostic(own)
    assert (adopted.shows_items, adopted.scores_rankings) == (True, True)


@pytest.mark.parametrize("name", CORPORA)
def test_it_declares_a_version_and_a_layout_that_can_be_drawn(name):
    assert isinstance(DIAGNOSTICS.module(name).VERSION, int)
    assert isinstance(layouts(outcome(name).result)[name], Layout)


@cache
def with_all_options(name):
    """Run one diagnostic with the options that give the most rows."""
    spec = spec_of(name) + OTHER_OPTIONS.get(name, "")
    plan = prepare(RunRequest(list(ENCODERS), corpora_of(name), [spec], resamples=20, baselines=False))
    return execute(plan).result


OTHER_OPTIONS = {"retrieval": ",transforms=all", "minimal_pairs": ",compare=all", "composition": ",compare=all"}


@pytest.mark.parametrize("name", CORPORA)
def test_each_row_and_comparison_has_a_declared_direction(name):
    result = with_all_options(name)
    directions = set()
    for record in [*result.rows, *result.comparisons]:
        # Raises where nothing is declared.
        directions.add(declared(record.key).better)
    for verdict in result.verdicts:
        if verdict.metric:
            assert declared(verdict.key).better == "higher"
    # A declaration of one direction for everything would not be one.
    assert directions == DIRECTIONS_OF[name]


@pytest.mark.parametrize("name", CORPORA)
def test_its_result_can_be_written_and_read_again(name, tmp_path):
    result = with_all_options(name)
    written = to_bytes(result)
    path = tmp_path / "result.json"
    path.write_bytes(written)
    assert "NaN" not in written.decode()
    assert read(path) == result
    assert [error.message for error in SCHEMA.iter_errors(json.loads(written))] == []
    assert json.loads(written)["rows"]


@pytest.mark.slow
def test_another_seed_gives_other_intervals():
    rows = {name: outcome(name).result.rows for name in CORPORA if name != "isotropy"}
    for name, before in rows.items():
        assert outcome(name, seed=1).result.rows != before, name


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CORPORA) - {"composition"}))
def test_the_order_of_the_encoders_moves_no_figure(name):
    # The grid of composition's thresholds spans the margins of all encoders; sums of floats differ in the last digits.
    first, second = (figures(outcome(name, encoders).result) for encoders in (ENCODERS, ENCODERS[::-1]))
    assert first.keys() == second.keys()
    for place, value in first.items():
        assert second[place] == (value if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)), place


def figures(result):
    """Return the values of a result's rows by what they are of."""
    return {(r.corpus, r.encoder, r.subset, r.similarity_function, r.condition, r.metric): r.value for r in result.rows}


@pytest.mark.parametrize("name", CORPORA)
def test_it_keeps_the_contract(name):
    check_diagnostic(spec_of(name), corpora_of(name))
