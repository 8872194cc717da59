"""Our diagnostics as tasks of mteb: the same scores both ways, on a local corpus, without a network."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import embassay as ea
import tiny_model
from embassay.cli.mteb import mteb_task

pytestmark = [
    pytest.mark.skipif(find_spec("mteb") is None, reason="the mteb extra is not installed"),
    pytest.mark.filterwarnings("ignore::FutureWarning:mteb"),
    pytest.mark.filterwarnings("ignore:The fill_missing parameter:DeprecationWarning"),
]


@pytest.fixture
def pairs(tmp_path):
    """A file of minimal pairs."""
    rows = [
        ("The shop is open.", "The store is open.", "The shop is not open."),
        ("It rains.", "It pours.", "It does not rain."),
    ]
    rows += [
        ("He sings well.", "He sings nicely.", "He does not sing well."),
        ("The road is long.", "The way is long.", "The road is not long."),
    ]
    path = tmp_path / "mine.jsonl"
    lines = [{"original": a, "edits": {"synonym": b, "negation_main": c}} for a, b, c in rows]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a model of random weights."""
    return str(tiny_model.make(tmp_path_factory.mktemp("tiny")))


@pytest.fixture(scope="module")
def model(folder):
    """That model."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(folder, device="cpu")


@pytest.fixture
def cache(tmp_path):
    """Where mteb keeps results."""
    import mteb

    return mteb.ResultCache(tmp_path / "cache")


def scores(model, task, cache=None):
    import mteb

    result = mteb.evaluate(model, task, cache=cache, show_progress_bar=False).task_results[0]
    return result.scores["test"][0]


def ours(spec, corpus, diagnostic):
    """Return the figures of a run, as a task names them."""
    result = ea.assay([spec], [corpus], [diagnostic], baselines=False, cache=None, resamples=10)
    return {row.key.slug: row.value for row in result.rows if row.encoder}


def numbers(found):
    return {name: value for name, value in found.items() if isinstance(value, float) and name != "main_score"}


def assert_equal(found, expected, within=1e-6):
    """Each figure of the first is that of the second."""
    assert found
    assert found == {name: pytest.approx(expected[name], abs=within) for name in found}


@pytest.mark.parametrize(
    ("diagnostic", "corpus", "main"),
    [
        ("minimal_pairs", "", "contrast_synonym-negation_main"),
        ("negated_antonyms", "opposites", "accuracy"),
        ("retrieval", "handbook", "Success@5"),
    ],
)
def test_a_model_has_the_same_scores_as_in_a_run(diagnostic, corpus, main, pairs, folder, model):
    task = mteb_task(corpus or pairs, diagnostic)
    assert task.metadata.main_score == main
    assert task.metadata.is_public is bool(corpus)
    assert_equal(numbers(scores(model, task)), ours(folder, corpus or pairs, diagnostic))


def test_data_are_known_by_their_fingerprint(pairs):
    task = mteb_task(pairs, "minimal_pairs", name="my task")
    assert re.fullmatch(r"my_task\.[0-9a-f]{8}", task.metadata.name)
    assert task.metadata.dataset["revision"] == ea.load(pairs).fingerprint


def test_every_task_has_scores_of_its_own_in_mtebs_cache(pairs, cache, model):
    tasks = [mteb_task(pairs, "minimal_pairs", name="mine", seed=seed) for seed in (0, 1)]
    assert tasks[0].metadata.name != tasks[1].metadata.name
    for task in tasks:
        found = scores(model, task, cache)
        assert found["main_score"] == found[task.metadata.main_score]


def test_options_make_another_task():
    names = {mteb_task("handbook", diagnostic).metadata.name for diagnostic in ("retrieval", "retrieval,k=1")}
    assert len(names) == 2


def test_other_data_of_the_same_name_have_scores_of_their_own(pairs, cache, model):
    before = scores(model, mteb_task(pairs, "minimal_pairs"), cache)
    path = Path(pairs)
    path.write_text(path.read_text(encoding="utf-8").replace("not rain", "never rain"), encoding="utf-8")
    task = mteb_task(pairs, "minimal_pairs")
    assert numbers(scores(model, task, cache)) == numbers(scores(model, task)) != numbers(before)
